"""A business with one of everything that pages show, each named by the same text."""

import secrets
from datetime import timedelta
from typing import Any

from tests.make import Business
from tillhouse.checkout.applying import kind
from tillhouse.folios.jobs import dispute_kind
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.payins.jobs import kinds as payin_jobs

TEST = {"service-environment": "test"}


class World:
    """The ids of the things that were made."""

    def __init__(self, **ids: str) -> None:
        self.ids = ids

    def address(self, path: str) -> str:
        """The address of a page, about these things."""
        for name, value in self.ids.items():
            path = path.replace(f"{{{name}}}", value)
        return path


async def pay(business: Business, link: dict[str, Any], case: str = "exact") -> None:
    """The payer opens the page and lets the sandbox be paid, and a worker does all that follows."""
    path, payer = f"/pay/{link['reference']}", business.anybody
    await payer.get(path)
    await payer.post(f"{path}/simulate", None, raw=f"case={case}".encode(), status=303)
    services = payer.app.services
    jobs = [*payin_jobs(services), kind(services), dispute_kind(services)]
    runner = JobRunner(services.pool, jobs, services.job_results)
    await runner.run_due(now() + timedelta(seconds=2))


async def account_of(business: Business) -> dict[str, Any]:
    """The payout account of a business; it is added, after a step-up, where there is none."""
    path = "/v1/payout-accounts"
    if found := (await business.owner.get(path, headers=TEST, status=200)).data:
        return found[0]
    await business.step_up()
    return await business.made(path, {"bank_code": "001", "account_number": "0123456789"})


async def withdraw(business: Business, account_id: str, **fields: Any) -> dict[str, Any]:
    """A withdrawal by the owner, which no worker sends."""
    headers = {**TEST, "idempotency-key": str(new_id())}
    body = {"amount": 50, "payout_account_id": account_id, **fields}
    path = "/v1/wallet/withdrawals"
    return (await business.owner.post(path, body, headers=headers, status=201)).data


async def fill(business: Business, text: str = "Jollof rice") -> World:
    """Goods, a customer, and an order of theirs that is partly paid, in the test book."""

    async def made(path: str, **body: Any) -> dict[str, Any]:
        return await business.made(path, body)

    group = await made(
        "/v1/modifier-groups",
        name=text,
        max_choices=1,
        options=[{"name": text, "price_delta": 500}],
    )
    category = await made("/v1/categories", name=f"{text} {secrets.token_hex(4)}")
    store = await business.store(name=f"{text} {secrets.token_hex(4)}")
    product = await made(
        "/v1/products", name=text, base_price=4500, modifier_group_ids=[group["id"]],
        category_id=category["id"], unit="plate", description=text,
        variants=[{"name": text, "tracks_stock": True, "stock_policy": "allow",
                   "prices": [{"store_id": store["id"], "price": 4600}]},
                  {"name": f"{text} 2", "price": 9000}],
    )  # fmt: skip
    variant_id = product["variants"][0]["id"]
    await made(
        "/v1/inventory/adjustments", variant_id=variant_id, store_id=store["id"],
        kind="purchase", quantity=12, reason=text,
    )  # fmt: skip
    promotion = await made(
        "/v1/promotions", name=text, type="fixed", value=500, scope="products",
        product_ids=[product["id"]], days=[5, 6], limit_total=9, ends_at=f"{now().year + 1}-12-24",
    )  # fmt: skip
    customer = await made("/v1/customers", name=text, notes=text)
    choice = {"modifier_group_id": group["id"], "modifier_option_id": group["options"][0]["id"]}
    order = await made(
        "/v1/orders",
        items=[{"product_id": product["id"], "variant_id": variant_id, "quantity": 2,
                "modifiers": [choice]}],
        customer_id=customer["id"], amount_paid=3000, payment_method="cash", notes=text,
        table_label=text, tags=[text],
    )  # fmt: skip
    table = await business.table(area=text, seats=4, store_id=store["id"])
    tag = await made("/v1/tags", name=f"{text} {secrets.token_hex(4)} a")
    term = await made(
        "/v1/academic-terms", name=f"{text} {secrets.token_hex(4)}", starts_on="2026-09-01"
    )
    return World(
        product_id=product["id"], variant_id=variant_id, category_id=category["id"],
        group_id=group["id"], promotion_id=promotion["id"], customer_id=customer["id"],
        order_id=order["id"], store_id=store["id"], table_id=table["id"], tag_id=tag["id"],
        term_id=term["id"],
    )  # fmt: skip


async def fill_all(business: Business, text: str = "Jollof rice") -> World:
    """The same, and money of each kind: links, an expense, a dispute, a withdrawal."""
    world = await fill(business, text)

    async def made(path: str, **body: Any) -> dict[str, Any]:
        return await business.made(path, body)

    link = await made(
        "/v1/payment-links/wallet/dynamic",
        title=text, amount=250, customer={"name": text, "email": "payer@mail.example"},
    )  # fmt: skip
    expense = await made("/v1/finance/expenses", amount=20, category=text, description=text)
    paid = await made("/v1/payment-links/wallet/dynamic", title=text, amount=100)
    await pay(business, paid, "disputed")

    stock = await made("/v1/payment-links/wallet/dynamic", title=text, amount=1000)
    await pay(business, stock)
    account = await account_of(business)
    key = await business.key("orders:read", name=text)
    endpoint = await business.endpoint(name=text)
    path = f"/api/developer/webhook-endpoints/{endpoint['id']}/test"
    delivery = (await business.owner.post(path, status=202)).data
    withdrawal = await withdraw(business, account["id"], narration="Takings")

    async def latest(path: str) -> dict[str, Any]:
        return (await business.owner.get(path, headers=TEST, status=200)).data[0]

    body = {"email": f"{secrets.token_hex(8)}@example.com", "role": "cashier"}
    invited = (await business.owner.post("/v1/members", body, status=201)).data
    telephone = await made("/v1/voice/numbers", phone_number="+15550110001", label=text)
    debt, dispute = await latest("/v1/debts"), await latest("/v1/disputes")
    return World(
        **world.ids,
        link_id=link["id"], expense_id=expense["id"], transaction_id=expense["transactionId"],
        debt_id=debt["id"], dispute_id=dispute["id"], payout_account_id=account["id"],
        withdrawal_id=withdrawal["id"], provider="sandbox", key_id=key["id"],
        member_id=invited["id"], voice_number_id=telephone["id"],
        endpoint_id=endpoint["id"], delivery_id=delivery["id"],
        event_id=delivery["eventId"],
    )  # fmt: skip
