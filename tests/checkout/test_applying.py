"""Payments through links: each booked once, whatever fits or doesn't."""

import asyncio
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.checkout.conftest import Open
from tests.checkout.till import LINKS, Body, Till
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.checkout.applying import TARGET
from tillhouse.kit.ids import BookId
from tillhouse.ledger.proof import prove
from tillhouse.orders.posting.proof import ORDER_SOURCE
from tillhouse.payins.asking import ask
from tillhouse.payins.proof import PAYIN_SOURCE

RECEIVED = ("payment.received", "wallet.deposit")


async def _faults(services: Services, book: Any) -> list[str]:
    async with services.pool.reading() as db:
        found = prove(db, book, (ORDER_SOURCE, PAYIN_SOURCE))
        return [str(fault) async for fault in found]


async def _wallet(till: Till) -> Decimal:
    summary = (await till.api.get("/v1/finance/summary", status=200)).data
    return summary["walletBalance"]


def _counts(link: Body) -> tuple[Any, ...]:
    return (
        link["status"], link["amountReceived"], link["amountOutstanding"],
        link["paymentsCount"], link["paymentCondition"],
    )  # fmt: skip


@pytest.fixture
async def till(open_till: Open) -> Till:
    """A shop."""
    return await open_till()


async def test_an_exact_payment_settles_order_and_link(till: Till, services: Services) -> None:
    """One event with both blocks, one payment of the order, and the wallet has it less the fee."""
    customer = {"name": "Ada Obi", "email": "ada@example.com"}
    order = await till.sale(1000)
    link = await till.ask(order, customer=customer)
    await till.pay(link)
    assert _counts(await till.link(link)) == ("PAID", 1000, 0, 1, [])
    paid = await till.order(order)
    assert (paid["paymentStatus"], paid["amountPaid"], paid["status"]) == (
        "paid",
        1000,
        "completed",
    )
    assert [one["method"] for one in paid["payments"]] == ["cloove_pay"]
    assert (paid["isAutomated"], paid["deposit"]["status"]) == (True, "paid")
    (event,) = await till.events("payment.received")
    (deposit,) = await till.events("wallet.deposit")
    assert deposit["data"]["entityId"] == paid["payments"][0]["transactionId"]
    assert deposit["data"]["metadata"] == {
        "amount": 1000, "paymentMethod": "cloove_pay", "paymentLinkId": link["id"],
        "customerId": link["customerId"], "orderId": order["id"], "currency": "NGN", "fee": 15,
        "transactionId": paid["payments"][0]["transactionId"],
    }  # fmt: skip
    assert event["data"]["paymentLink"] == {
        "id": link["id"], "reference": link["reference"], "targetType": "sale",
        "targetId": order["id"], "amount": 1000, "currency": "NGN",
    }  # fmt: skip
    assert event["data"]["customer"] == {
        "id": link["customerId"], "name": "Ada Obi", "email": "ada@example.com",
        "phoneNumber": None,
    }  # fmt: skip
    metadata = event["data"]["metadata"]
    assert (metadata["amount"], metadata["paymentMethod"]) == (1000, "cloove_pay")
    assert (metadata["amountKept"], metadata["changeAmount"]) == (1000, 0)
    assert (metadata["paymentLinkId"], metadata["customerId"]) == (link["id"], link["customerId"])
    assert await _wallet(till) == 985
    (seen,) = [
        one
        for one in (await till.api.get("/v1/finance/transactions", status=200)).data
        if one["type"] == "sale"
    ]
    assert (seen["paymentLinkId"], seen["paymentLinkReference"]) == (link["id"], link["reference"])
    assert await _faults(services, till.shop.book) == []


async def test_a_debt_that_is_paid_raises_the_wallet(till: Till, services: Services) -> None:
    """Its payment is told as a deposit too, once, beside `payment.received`."""
    customer = await till.shop.customer("Ada")
    debt = await till.debt_of(await till.sale(70, customer_id=customer["id"]))
    body = {"target_type": "debt", "target_id": debt["id"]}
    link = (await till.api.post(LINKS, body, status=201)).data
    await till.pay(link)
    (deposit,) = await till.events("wallet.deposit")
    (received,) = await till.events("payment.received")
    assert deposit["data"]["metadata"]["amount"] == 70
    assert received["data"]["paymentLink"]["targetId"] == debt["id"]
    assert await _faults(services, till.shop.book) == []


async def test_payments_that_do_not_fit(till: Till, services: Services) -> None:
    """Less leaves the link active; more, and a second one, is kept for the customer."""
    customer = await till.shop.customer("Ada")
    under, over, twice = [await till.sale(1000, customer_id=customer["id"]) for _ in range(3)]
    links = [await till.ask(order) for order in (under, over, twice)]
    for link, case in zip(links, ("under", "over", "twice"), strict=True):
        await till.pay(link, case)
    shown = [_counts(await till.link(link)) for link in links]
    assert shown == [
        ("active", 500, 500, 1, ["partial"]),
        ("PAID", 1500, 0, 1, ["over"]),
        ("PAID", 2000, 0, 2, ["over"]),
    ]
    credit = await till.api.get(f"/v1/customers/{customer['id']}/credit", status=200)
    assert credit.data["creditBalance"] == 1500
    await till.pay(links[0])
    assert _counts(await till.link(links[0])) == ("PAID", 1000, 0, 2, ["partial"])
    assert len(await till.events("payment.received")) == 5
    assert await _faults(services, till.shop.book) == []


async def test_a_late_payment_settles_what_is_still_owed(till: Till, services: Services) -> None:
    """The link stays cancelled and says so; the order has its money."""
    order = await till.sale(1000)
    link = await till.ask(order)
    await till.payer.get(f"/pay/{link['reference']}")
    await till.api.delete(f"{LINKS}/{link['id']}", status=200)
    await till.simulate(link, "late")
    await till.work()
    assert _counts(await till.link(link)) == ("CANCELLED", 1000, 0, 1, ["late"])
    assert (await till.order(order))["paymentStatus"] == "paid"
    assert await _faults(services, till.shop.book) == []


async def test_a_payment_after_its_order_was_paid_otherwise(till: Till, services: Services) -> None:
    """Late, as after every end of a link, and over; the customer keeps it as credit."""
    customer = await till.shop.customer("Ada")
    order = await till.sale(1000, customer_id=customer["id"])
    link = await till.ask(order)
    await till.payer.get(f"/pay/{link['reference']}")
    await till.shop.api.patch(f"/v1/orders/{order['id']}", {"amount_paid": 1000}, status=200)
    await till.simulate(link, "exact")
    await till.work()
    assert _counts(await till.link(link)) == ("PAID", 1000, 0, 1, ["late", "over"])
    credit = await till.api.get(f"/v1/customers/{customer['id']}/credit", status=200)
    assert credit.data["creditBalance"] == 1000
    assert await _faults(services, till.shop.book) == []


async def test_the_wallet_is_topped_up(till: Till, services: Services) -> None:
    """wallet.deposit and payment.received, once each; a part leaves the rest to be paid."""
    link = await till.ask_for_wallet(250, customer={"phone_number": "+2348030000001"})
    await till.pay(link, "under")
    assert _counts(await till.link(link)) == ("active", 125, 125, 1, ["partial"])
    await till.pay(link)
    assert _counts(await till.link(link)) == ("PAID", 250, 0, 2, ["partial"])
    deposits = await till.events("wallet.deposit")
    received = await till.events("payment.received")
    assert [one["data"]["metadata"]["amount"] for one in deposits] == [125, 125]
    assert [one["data"]["paymentLink"]["amount"] for one in received] == [250, 250]
    assert received[0]["data"]["paymentLink"]["targetId"] is None
    assert received[0]["data"]["customer"]["phoneNumber"] == "+2348030000001"
    (first, _) = (
        await till.api.get("/v1/finance/transactions?type=wallet_deposit", status=200)
    ).data
    assert first["paymentLinkId"] == link["id"]
    # As it was paid: the provider's fee is a transaction of its own.
    assert first["amount"] == 125
    assert first["providerMoney"]["fee"] > 0
    assert await _faults(services, till.shop.book) == []


async def test_a_payment_that_went_back_is_taken_out(till: Till, services: Services) -> None:
    """Of the order, the wallet and the link."""
    order = await till.sale(1000)
    of_order, of_wallet = await till.ask(order), await till.ask_for_wallet(200)
    for link in (of_order, of_wallet):
        await till.pay(link)
        await till.pay(link, "reversed")
    assert _counts(await till.link(of_order)) == ("CANCELLED", 0, 0, 0, ["reversed"])
    assert _counts(await till.link(of_wallet)) == ("active", 0, 200, 0, ["reversed"])
    assert (await till.order(order))["status"] == "refunded"
    assert await _wallet(till) == 0
    assert await _faults(services, till.shop.book) == []


async def test_a_failed_attempt_leaves_the_link_payable(till: Till) -> None:
    """Nothing is booked, the page says so, and the next attempt pays."""
    link = await till.ask_for_wallet(300)
    await till.pay(link, "failed")
    assert _counts(await till.link(link)) == ("active", 0, 300, 0, [])
    text = (await till.payer.get(f"/pay/{link['reference']}")).body.decode()
    assert "The last attempt failed" in text
    await till.pay(link)
    page = (await till.payer.get(f"/pay/{link['reference']}")).body.decode()
    assert "has your payment" in page
    assert "Receipt" in page


async def test_fifty_ways_of_hearing_of_one_payment(
    till: Till, services: Services, sql: asyncpg.Connection
) -> None:
    """Hooks, questions, the page's button and its return at once: one payment, one event."""
    order = await till.sale(1000)
    link = await till.ask(order, redirect_url="https://shop.example.com/")
    await till.payer.get(f"/pay/{link['reference']}")
    await till.simulate(link, "exact")
    book = Book(BookId(till.shop.book), "test")
    target = (TARGET, UUID(link["id"]))
    path = f"/pay/{link['reference']}"
    await asyncio.gather(
        *(till.work() for _ in range(16)),
        *(ask(services, book, target) for _ in range(16)),
        *(till.payer.post(path + "/check", status=303) for _ in range(9)),
        *(till.payer.get(path + "/return", status=303) for _ in range(9)),
    )
    await till.work()
    assert _counts(await till.link(link)) == ("PAID", 1000, 0, 1, [])
    assert len(await till.events(*RECEIVED)) == 2
    rows = "SELECT count(*) FROM payments WHERE book_id = $1"
    assert await sql.fetchval(rows, till.shop.book) == 1
    back = await till.payer.get(path + "/return", status=303)
    assert "payment_status=successful" in back.headers["location"]
    assert await _faults(services, till.shop.book) == []


async def test_the_button_needs_no_worker(till: Till) -> None:
    """A payer who presses it sees the payment in the next page."""
    link = await till.ask_for_wallet(300)
    await till.payer.get(f"/pay/{link['reference']}")
    await till.simulate(link, "exact")
    await till.payer.post(f"/pay/{link['reference']}/check", status=303)
    assert _counts(await till.link(link)) == ("PAID", 300, 0, 1, [])
    await till.work()
    assert len(await till.events(*RECEIVED)) == 2
