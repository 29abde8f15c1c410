"""Payment links: one per target, as much as its target owes, closed with it."""

import asyncio

import asyncpg
import pytest

from tests.checkout.conftest import Open
from tests.checkout.till import LINKS, WALLET_LINKS
from tests.orders.shop import fee
from tests.sweeping import sweep
from tillhouse.access.process import Services


async def test_a_link_asks_for_what_its_order_owes(open_till: Open) -> None:
    """Not for what it owed when the link was made."""
    till = await open_till()
    order = await till.sale(1000, amount_paid=400)
    link = await till.ask(order, redirect_url="https://shop.example.com/thanks?cart=7#end")
    assert (link["amount"], link["amountOutstanding"], link["currency"]) == (600, 600, "NGN")
    assert (link["status"], link["targetType"], link["targetId"]) == ("active", "sale", order["id"])
    assert link["description"] == f"Order {order['shortCode']}"
    assert link["url"].endswith("/pay/" + link["reference"])
    assert (link["qr"], link["expiresAt"]) == (link["url"] + "/qr.svg", None)
    assert len(link["reference"]) >= len("pl_") + 22
    await till.shop.api.patch(f"/v1/orders/{order['id']}", {"amount_paid": 900}, status=200)
    assert (await till.link(link))["amount"] == 100


async def test_fifty_get_the_same_link(open_till: Open) -> None:
    """One row, one reference; the last words on redirect and customer hold."""
    till = await open_till()
    order = await till.sale()
    links = await asyncio.gather(*(till.ask(order) for _ in range(50)))
    assert len({link["id"] for link in links}) == 1
    assert await till.ids() == [links[0]["id"]]
    again = await till.ask(order, customer={"email": "Ada@Example.com", "name": "Ada"})
    assert (again["id"], again["customerEmail"]) == (links[0]["id"], "ada@example.com")
    assert (await till.ask(order))["customerId"] == again["customerId"]


async def test_the_last_redirect_holds(open_till: Open) -> None:
    """A request that names none leaves the one that there is."""
    till = await open_till()
    order = await till.sale()
    for wanted, kept in (
        (None, None),
        ("https://shop.example.com/a", "https://shop.example.com/a"),
        ("https://shop.example.com/b", "https://shop.example.com/b"),
        (None, "https://shop.example.com/b"),
    ):
        fields = {"redirect_url": wanted} if wanted else {}
        assert (await till.ask(order, **fields))["redirectUrl"] == kept


async def test_a_link_closes_with_its_order(open_till: Open) -> None:
    """Paid in cash it is PAID; with a cancelled or deleted order it is CANCELLED."""
    till = await open_till()
    paid, cancelled, deleted = [await till.sale() for _ in range(3)]
    links = [await till.ask(order) for order in (paid, cancelled, deleted)]
    await till.shop.api.patch(f"/v1/orders/{paid['id']}", {"amount_paid": 1000}, status=200)
    path = f"/v1/orders/{cancelled['id']}"
    await till.shop.api.patch(path, {"status": "cancelled"}, status=200)
    await till.shop.api.delete(f"/v1/orders/{deleted['id']}", status=200)
    shown = [await till.link(link) for link in links]
    assert [one["status"] for one in shown] == ["PAID", "CANCELLED", "CANCELLED"]
    assert [(one["amount"], one["amountOutstanding"]) for one in shown] == [(1000, 0)] * 3
    for order in (paid, cancelled):
        body = {"target_type": "sale", "target_id": order["id"]}
        refused = await till.api.post(LINKS, body, status=400)
        assert "nothing outstanding" in refused.json["message"]


async def test_a_debt_has_a_link_of_its_own(open_till: Open) -> None:
    """By the debt's id; it closes when the debt does."""
    till = await open_till()
    customer = await till.shop.customer("Chidi Eze")
    order = await till.sale(800, customer_id=customer["id"])
    debt = await till.debt_of(order)
    body = {"target_type": "debt", "target_id": debt["id"]}
    link = (await till.api.post(LINKS, body, status=201)).data
    assert (link["amount"], link["customerId"]) == (800, customer["id"])
    assert link["customerName"] == "Chidi Eze"
    wrong = {"target_type": "debt", "target_id": order["id"]}
    refused = await till.api.post(LINKS, wrong, status=422)
    assert refused.wrong_fields == {"target_id"}
    await till.shop.api.patch(f"/v1/orders/{order['id']}", {"amount_paid": 800}, status=200)
    assert (await till.link(link))["status"] == "PAID"


async def test_a_link_of_the_wallet_lasts_a_day(open_till: Open, sql: asyncpg.Connection) -> None:
    """It reads as expired from that moment, whether or not a sweep has been there."""
    till = await open_till()
    link = await till.ask_for_wallet(250.5, customer={"phone_number": "08030000001"})
    assert (link["amount"], link["targetId"], link["title"]) == (250.5, None, "Hall deposit")
    assert link["customerPhone"] == "+2348030000001"
    assert await till.ids(status="active") == [link["id"]]
    await sql.execute(
        "UPDATE payment_links SET expires_at = now() - interval '1 second' WHERE id = $1",
        link["id"],
    )
    late = await till.link(link)
    assert (late["status"], late["amountOutstanding"], late["amount"]) == ("EXPIRED", 0, 250.5)
    assert await till.ids(status="active") == []
    assert await till.ids(status="EXPIRED", target_type="wallet") == [link["id"]]
    assert await till.ids(status="PAID,EXPIRED") == [link["id"]]


async def test_an_expired_link_is_cancelled_all_the_same(
    open_till: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """Before the sweep that writes down that it has expired, and after it."""
    till = await open_till()
    links = [await till.ask_for_wallet() for _ in range(2)]
    await sql.execute(
        "UPDATE payment_links SET expires_at = now() - interval '1 second' WHERE book_id = $1",
        till.shop.book,
    )
    for link in links:
        path = f"{LINKS}/{link['id']}"
        assert (await till.link(link))["status"] == "EXPIRED"
        assert (await till.api.delete(path, status=200)).data["status"] == "CANCELLED"
        await sweep(services, "payment_links_expire")
    assert len(await till.ids(status="CANCELLED")) == 2
    assert await till.ids(status="EXPIRED") == []


async def test_a_cancelled_link_stays_so(open_till: Open) -> None:
    """Cancelling again answers the same; what is paid isn't cancelled."""
    till = await open_till()
    order = await till.sale()
    link = await till.ask(order)
    path = f"{LINKS}/{link['id']}"
    for _ in range(2):
        assert (await till.api.delete(path, status=200)).data["status"] == "CANCELLED"
    other = await till.ask(order)
    assert other["id"] != link["id"]
    await till.shop.api.patch(f"/v1/orders/{order['id']}", {"amount_paid": 1000}, status=200)
    refused = await till.api.delete(f"{LINKS}/{other['id']}", status=409)
    assert refused.error == "request_failed"
    assert [(await till.link(one))["status"] for one in (link, other)] == ["CANCELLED", "PAID"]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "https://user:secret@shop.example.com/", "//shop.example.com/",
        "ftp://shop.example.com", "https://", "https://shop.example.com:0/", "data:text/html,x",
        "https://shop.example.com/a b", "https://sh\\op.example.com/", "https://" + "a" * 2048,
        "https://[::1/", "https:shop.example.com", "https://shop.example.com\n/",
    ],
)  # fmt: skip
async def test_a_redirect_leads_to_a_plain_web_address(open_till: Open, url: str) -> None:
    """Anything else is refused, and no link is made."""
    till = await open_till()
    body = {"title": "Hall", "amount": 10, "redirect_url": url}
    refused = await till.api.post(WALLET_LINKS, body, status=422)
    assert refused.wrong_fields == {"redirect_url"}
    assert await till.ids() == []


async def test_every_wrong_field_is_named(open_till: Open) -> None:
    """Form and rules at once."""
    till = await open_till()
    body = {
        "title": " ", "amount": 1.001, "customer": {"name": "Ada"}, "amount_paid": 3,
        "redirect_url": "javascript:x",
    }  # fmt: skip
    refused = await till.api.post(WALLET_LINKS, body, status=422)
    assert refused.wrong_fields == {"title", "amount", "customer", "amount_paid", "redirect_url"}
    body = {"target_type": "gift", "target_id": "x", "amount": 3}
    refused = await till.api.post(LINKS, body, status=422)
    assert refused.wrong_fields == {"target_type", "target_id", "amount"}


async def test_two_people_are_not_one_customer(open_till: Open) -> None:
    """An address of one and a number of another: refused, no link, nobody made."""
    till = await open_till()
    await till.shop.customer("Ada", email="ada@example.com")
    await till.shop.customer("Bola", phone_number="+2348030000002")
    order = await till.sale()
    customer = {"email": "ada@example.com", "phone_number": "+2348030000002"}
    body = {"target_type": "sale", "target_id": order["id"], "customer": customer}
    refused = await till.api.post(LINKS, body, status=400)
    assert "two different customers" in refused.json["message"]
    assert await till.ids() == []


async def test_lists_find_links_by_everything(open_till: Open) -> None:
    """Status, type, target, customer, days, words and reference."""
    till = await open_till()
    sale = await till.shop.sell(fee(700))
    ada = {"email": "ada@example.com", "name": "Ada Obi"}
    of_sale = await till.ask(sale, customer=ada)
    of_wallet = await till.ask_for_wallet()
    both = [of_wallet["id"], of_sale["id"]]
    assert await till.ids() == both
    assert await till.ids(since="2020-01-01", until="2100-01-01") == both
    assert await till.ids(until="2020-01-01") == []
    assert await till.ids(target_type="sale") == [of_sale["id"]]
    assert await till.ids(target_id=sale["id"]) == [of_sale["id"]]
    assert await till.ids(customer_id=of_sale["customerId"]) == [of_sale["id"]]
    assert await till.ids(customer_email="ADA@example.com") == [of_sale["id"]]
    assert await till.ids(customer_email="nobody@example.com") == []
    assert await till.ids(search="hal") == [of_wallet["id"]]
    assert await till.ids(search=sale["shortCode"]) == [of_sale["id"]]
    assert await till.ids(search="obi") == [of_sale["id"]]
    assert await till.ids(search=of_wallet["reference"]) == [of_wallet["id"]]
    clash = await till.look(422, customer_id=of_sale["customerId"], customer_phone="+1")
    assert clash.wrong_fields == {"customer_id"}
    pages = [(await till.look(page=page, limit=1)).data[0]["id"] for page in (1, 2)]
    assert pages == both


async def test_a_key_makes_one_link_for_ever(open_till: Open, sql: asyncpg.Connection) -> None:
    """Also when the answer that was kept with the key is long forgotten."""
    till = await open_till()
    key = {"idempotency-key": "hall-1"}
    body = {"title": "Hall", "amount": 10}
    link = (await till.api.post(WALLET_LINKS, body, headers=key, status=201)).data
    assert (await till.api.post(WALLET_LINKS, body, headers=key, status=201)).data == link
    await sql.execute("DELETE FROM idempotency_keys WHERE book_id = $1", till.shop.book)
    again = await till.api.post(WALLET_LINKS, body, headers=key, status=201)
    assert (again.data["id"], again.headers["idempotent-replayed"]) == (link["id"], "true")
    await sql.execute("DELETE FROM idempotency_keys WHERE book_id = $1", till.shop.book)
    other = await till.api.post(WALLET_LINKS, {**body, "amount": 11}, headers=key, status=422)
    assert other.error == "idempotency_key_reused"
    assert await till.ids() == [link["id"]]
