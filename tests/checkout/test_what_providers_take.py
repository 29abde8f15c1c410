"""Amounts that no provider takes, and payers' addresses that nobody makes up: live books."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import asyncpg
import msgspec
import pytest

from tests.checkout.till import LINKS, WALLET_LINKS, Body, Till
from tests.conftest import SETTINGS, running
from tests.make import Make
from tests.orders.shop import fee
from tests.payins.vendor_books import connected
from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.payments.vendors import VENDORS, Vendor

PAYER = "bola@example.com"
ASKING = [one for one in VENDORS if one.name != "stripe"]


class Shop(NamedTuple):
    """A live till that collects by vendors, as they are simulated."""

    till: Till
    simulators: dict[str, Simulator]

    def told(self, name: str) -> str:
        """Everything that a vendor was asked, as text."""
        return "\n".join(one.body.decode() for one in self.simulators[name].asked)

    async def page(self, link: Body) -> str:
        """The page of a link."""
        path = f"/pay/{link['reference']}"
        return (await self.till.payer.get(path, status=200)).body.decode()

    async def accounts(self) -> list[tuple[str, str]]:
        """The provider and the status of every account that was opened."""
        query = "SELECT provider, status FROM virtual_accounts WHERE book_id = $1 ORDER BY id"
        async with self.till.payer.app.services.pool.reading() as db:
            rows = await db.fetch(query, self.till.shop.book)
        return [(row["provider"], row["status"]) for row in rows]


Opens = Callable[..., Awaitable[Shop]]


@pytest.fixture
async def open_shop(
    sql: asyncpg.Connection, database_url: str, master_key: str
) -> AsyncIterator[Opens]:
    """Opens a live shop of an application that knows where the vendors are."""
    async with AsyncExitStack() as stack:

        async def open_one(*vendors: Vendor, **fields: Any) -> Shop:
            simulators: dict[str, Simulator] = {}
            for vendor in vendors:
                simulators[vendor.name] = simulator = await vendor.simulator().start()
                stack.push_async_callback(simulator.stop)
            urls = tuple((name, one.base_url) for name, one in simulators.items())
            settings = msgspec.structs.replace(SETTINGS, provider_urls=urls)
            app = await stack.enter_async_context(running(settings, database_url, master_key))
            fields = {"currency": vendors[0].currency, **fields}
            till = await Till.open(Make(app, app.services), sql, "live", **fields)
            for vendor in vendors:
                who = (vendor, simulators[vendor.name])
                await connected(app.services, sql, till.shop.business, who)
            return Shop(till, simulators)

        yield open_one


def vendor(name: str) -> Vendor:
    """A vendor by its name."""
    return next(one for one in VENDORS if one.name == name)


@pytest.mark.parametrize(
    ("name", "currency", "amount", "least"),
    [
        ("stripe", "KWD", 5.124, "steps of 0.010"),
        ("stripe", "BHD", 0.001, "steps of 0.010"),
        ("stripe", "USD", 0.49, "no less than 0.50 USD"),
        ("stripe", "GBP", 0.29, "no less than 0.30 GBP"),
        ("stripe", "JPY", 49, "no less than 50 JPY"),
        ("paystack", "NGN", 49.99, "no less than 50.00 NGN"),
    ],
)
async def test_an_amount_that_no_provider_takes_is_refused_at_the_link(
    open_shop: Opens, name: str, currency: str, amount: float, least: str
) -> None:
    """Of a sale, a debt and the wallet: the sentence names the provider and what it takes."""
    shop = await open_shop(vendor(name), currency=currency)
    order = await shop.till.sale(amount)
    ada = await shop.till.shop.customer("Ada")
    debt = await shop.till.debt_of(await shop.till.sale(amount, customer_id=ada["id"]))
    for path, body in (
        (LINKS, {"target_type": "sale", "target_id": order["id"]}),
        (LINKS, {"target_type": "debt", "target_id": debt["id"]}),
        (WALLET_LINKS, {"title": "Hall", "amount": amount}),
    ):
        refused = await shop.till.api.post(path, body, status=400)
        assert refused.error == "request_failed"
        assert name in refused.json["message"]
        assert least in refused.json["message"]
    assert await shop.till.ids() == []


@pytest.mark.parametrize(
    ("name", "currency", "amount"),
    [
        ("stripe", "KWD", 5.12), ("stripe", "OMR", 0.01), ("stripe", "USD", 0.5),
        ("stripe", "JPY", 50), ("stripe", "KES", 0.01), ("paystack", "NGN", 50),
        ("flutterwave", "NGN", 0.01), ("monnify", "NGN", 0.01),
    ],
)  # fmt: skip
async def test_the_smallest_amount_has_its_link(
    open_shop: Opens, name: str, currency: str, amount: float
) -> None:
    """Where a vendor publishes no smallest amount, none is assumed."""
    shop = await open_shop(vendor(name), currency=currency)
    assert (await shop.till.ask_for_wallet(amount))["amount"] == amount


async def test_another_provider_takes_what_one_does_not(open_shop: Opens) -> None:
    """Of two, the one that takes the amount opens the account."""
    shop = await open_shop(vendor("paystack"), vendor("monnify"))
    link = await shop.till.ask_for_wallet(20, customer={"email": PAYER})
    await shop.page(link)
    assert await shop.accounts() == [("monnify", "open")]


async def test_the_rest_of_a_link_is_judged_at_each_attempt(open_shop: Opens) -> None:
    """The rest after a part is too little: the page says so, and nobody is asked."""
    shop = await open_shop(vendor("stripe"))
    order = await shop.till.sale(10)
    link = await shop.till.ask(order)
    till = await shop.till.shop.business.client("orders:write", environment="live")
    path = f"/v1/orders/{order['id']}/payments"
    await till.post(path, {"method": "cash", "amount": 9.7}, status=201)
    text = await shop.page(link)
    assert "stripe takes no less than 0.50 USD, and this is 0.30" in text
    assert "Try again" not in text
    assert shop.simulators["stripe"].asked == []


async def test_stripe_is_told_no_address(open_shop: Opens) -> None:
    """It demands none: whether the link has a customer or not."""
    shop = await open_shop(vendor("stripe"))
    for fields in ({}, {"customer": {"email": PAYER}}):
        link = await shop.till.ask_for_wallet(25, **fields)
        assert "Pay $25.00" in await shop.page(link)
    forms = [parse_qs(one.body.decode()) for one in shop.simulators["stripe"].asked]
    assert len(forms) == len(await shop.accounts())
    assert not any("customer_email" in form for form in forms)
    assert "invalid" not in shop.told("stripe")


@pytest.mark.parametrize("asking", ASKING, ids=str)
async def test_the_page_asks_the_payer_for_an_address(open_shop: Opens, asking: Vendor) -> None:
    """Nothing is opened without one; a wrong one is said so; then the account is there."""
    shop = await open_shop(asking)
    link = await shop.till.ask_for_wallet(250)
    path = f"/pay/{link['reference']}"
    text = await shop.page(link)
    assert 'name="email" type="email"' in text
    assert "http-equiv" not in text
    assert await shop.accounts() == []
    assert shop.simulators[asking.name].asked == []
    for wrong in (b"", b"email=bola", b"email=%00%40", b"mail=bola%40example.com"):
        again = await shop.till.payer.post(path + "/email", None, raw=wrong, status=303)
        assert again.headers["location"] == path + "?email=wrong"
    told = (await shop.till.payer.get(path + "?email=wrong", status=200)).body.decode()
    assert "That is no e-mail address" in told
    form = b"email=Bola%40Example.com"
    done = await shop.till.payer.post(path + "/email", None, raw=form, status=303)
    assert done.headers["location"] == path
    text = await shop.page(link)
    assert "Send a bank transfer to" in text
    assert PAYER not in text
    assert PAYER in shop.told(asking.name)
    assert "invalid" not in shop.told(asking.name)
    assert await shop.accounts() == [(asking.name, "open")]


@pytest.mark.parametrize("asking", ASKING, ids=str)
async def test_the_address_of_the_customer_is_used(open_shop: Opens, asking: Vendor) -> None:
    """A link that is made with one asks its payer for nothing, and doesn't show it."""
    shop = await open_shop(asking)
    link = await shop.till.ask_for_wallet(250, customer={"email": PAYER})
    text = await shop.page(link)
    assert "Send a bank transfer to" in text
    assert PAYER not in text
    assert PAYER in shop.told(asking.name)


async def test_an_address_for_a_page_that_fails_is_told_of(open_shop: Opens) -> None:
    """The provider gives no account: the payer is told, and may try again."""
    asking = vendor("paystack")
    shop = await open_shop(asking)
    link = await shop.till.ask_for_wallet(250)
    path = f"/pay/{link['reference']}/email"
    for _ in range(2):
        shop.simulators["paystack"].fail_next("500 first", asking.calls["open"])
    failed = await shop.till.payer.post(path, None, raw=b"email=bola%40example.com", status=200)
    assert "The bank gave us no account number" in failed.body.decode()
    stranger = {"sec-fetch-site": "cross-site"}
    form = b"email=bola%40example.com"
    await shop.till.payer.post(path, None, raw=form, headers=stranger, status=403)


async def test_an_account_of_an_order_is_for_its_customer_else_the_owner(
    open_shop: Opens,
) -> None:
    """Somebody who walks in leaves no address: the provider is told the business's own."""
    shop = await open_shop(vendor("paystack"))
    orders = shop.till.shop.api
    sale = {"items": [fee(1000)], "payment_method": "cloove_pay"}
    little = {"items": [fee(10)]}
    refused = await orders.post("/v1/orders", {**sale, **little}, status=400)
    assert refused.error == "order_not_recorded"
    assert "no less than 50.00 NGN" in refused.json["message"]
    made = (await orders.post("/v1/orders", sale, status=201)).data
    assert made["deposit"]["status"] == "active"
    assert shop.till.shop.business.email in shop.told("paystack")
    ada = await shop.till.shop.customer("Ada", email=PAYER)
    await orders.post("/v1/orders", {**sale, "customer_id": ada["id"]}, status=201)
    assert PAYER in shop.told("paystack")
