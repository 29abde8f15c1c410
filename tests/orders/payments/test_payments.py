"""Payments of orders: several tenders, change, tips, corrections."""

import asyncio
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from tests.orders.payments.till import Till
from tests.orders.shop import ORDERS, Body
from tillhouse.access.process import Services
from tillhouse.jobs.chores import fold
from tillhouse.kit.clock import iso, now
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES
from tillhouse.orders.payments.rules import PAYMENTS_MAX


def told(order: Body) -> list[tuple[str, str, float, float]]:
    """The payments of an order: kind, method, amount, change."""
    return [(p["kind"], p["method"], p["amount"], p["changeAmount"]) for p in order["payments"]]


async def test_an_order_is_paid_by_several_tenders(till: Till) -> None:
    """50 by card, then 70 in cash for what costs 100: 20 are change, each tender has its part."""
    order = await till.ring(100)
    half = await till.pay(order, 50, "pos", reference="POS-1")
    assert (half["status"], half["paymentStatus"], half["remainingAmount"]) == (
        "pending", "partial", 50,
    )  # fmt: skip
    whole = await till.pay(order, 70, "cash")
    assert (whole["status"], whole["paymentStatus"], whole["amountPaid"]) == (
        "completed", "paid", 120,
    )  # fmt: skip
    assert (whole["changeAmount"], whole["paymentMethod"]) == (20, "cash")
    assert told(whole) == [("payment", "pos", 50, 0), ("payment", "cash", 70, 20)]
    assert [p["reference"] for p in whole["payments"]] == ["POS-1", None]
    assert await till.accounts() == {"pos": 50, "cash": 50, "sales": -100}


async def test_what_was_seen_is_what_is_paid(till: Till) -> None:
    """Of two tills that saw the same order, one takes its money, gives it back or cancels it."""
    order = await till.ring(100)
    body = {"amount": 100, "method": "pos", "if_amount_paid": 0}
    answers = await asyncio.gather(*(till.post_payment(order, body, f"till {n}") for n in "ab"))
    assert sorted(answer.status for answer in answers) == [201, 409]
    again = await asyncio.gather(*(till.post_payment(order, body, f"till {n}") for n in "ab"))
    assert [answer.status for answer in again] == [answer.status for answer in answers]
    assert "paid by now" in next(one for one in again if one.status == 409).json["message"]
    path = f"{ORDERS}/{order['id']}"
    cancel = {"status": "cancelled", "if_amount_paid": 0}
    assert (await till.api.patch(path, cancel)).status == 409
    await till.give_back(order, amount=40, if_amount_paid="100.00")
    refused = await till.give_back(order, amount=40, if_amount_paid=100, status=409)
    assert refused.json["error"] == "request_failed"
    shown = await till.api.patch(path, cancel | {"if_amount_paid": 60}, status=200)
    assert (shown.data["status"], shown.data["amountPaid"]) == ("cancelled", 60)


async def _by_methods(till: Till, **filters: str) -> tuple[set[str], dict[str, float]]:
    """The methods by which the list finds something, and what it says came in by each."""
    found: set[str] = set()
    for method in ("cash", "transfer", "pos", "credit", "other"):
        query = urlencode({**filters, "payment_method": method})
        if (await till.api.get(f"{ORDERS}?{query}", status=200)).data:
            found.add(method)
    listed = await till.api.get(f"{ORDERS}?{urlencode(filters)}", status=200)
    received = listed.json["summary"]["receivedByMethod"]
    return found, {one["method"]: one["amount"] for one in received if one["amount"]}


async def test_an_order_is_found_by_each_of_its_tenders(till: Till, services: Services) -> None:
    """20 in cash and 30 by card are both, less refunds and change; a correction leaves nothing."""
    order = await till.ring(50, customer_name="Ada Obi")
    await till.pay(order, 20, "cash")
    shown = await till.pay(order, 30, "pos")
    ways: tuple[dict[str, str], ...] = (
        {}, {"search": shown["shortCode"]}, {"customer_id": shown["customer"]["id"]},
        {"recorded_by_id": shown["recordedBy"]["id"]}, {"start_date": "2001-01-01"},
    )  # fmt: skip

    async def holds(*methods: str, **received: float) -> None:
        for _ in range(2):
            for filters in ways:
                assert await _by_methods(till, **filters) == (set(methods), received), filters
            await fold(services.pool, ORDER_TALLIES)

    await holds("cash", "pos", cash=20, pos=30)
    await till.give_back(order, amount=30, method="pos")
    await holds("cash", "pos", cash=20)
    await till.pay(order, 15, "cash")
    await holds("cash", "pos", cash=20)
    await till.pay(order, 5, "other")
    await till.patch(order, amount_paid=35)
    await till.patch(order, payment_method="transfer")
    await holds("cash", "pos", "transfer", cash=20)
    assert await till.faults(services) == []


async def test_each_overpayment_goes_the_way_of_its_tender(till: Till) -> None:
    """Cash gives change, a card credit; corrections take from their own first."""
    order = await till.ring(100, 120, customer_name="Ada Obi")
    more = await till.pay(order, 30, "pos")
    assert (more["amountPaid"], more["changeAmount"]) == (150, 20)
    assert (await till.accounts())["customer_credit"] == -30
    path = f"{ORDERS}/{order['id']}"
    await till.api.patch(path, {"payment_method": "cash"}, status=400)
    less = await till.patch(order, amount_paid=120)
    # By card as the last payment: 30 of credit come back. All that is left is change, of cash.
    assert (less["amountPaid"], less["changeAmount"]) == (120, 20)
    assert told(less)[-1] == ("correction", "pos", -30, 0)
    assert "customer_credit" not in await till.accounts()
    await till.patch(order, payment_method="cash")
    cash = await till.patch(order, amount_paid=115)
    assert (cash["amountPaid"], cash["changeAmount"]) == (115, 15)


async def test_what_was_recorded_is_shown_and_listed(till: Till) -> None:
    """A sale, a change of its amount paid and a payment: three rows, the same everywhere."""
    order = await till.ring(100, 40, payment_method="transfer")
    [first] = order["payments"]
    assert first["at"] == order["occurredAt"]
    assert first["by"] == order["recordedBy"]
    assert (first["status"], first["tip"], first["kind"]) == ("successful", 0, "payment")
    await till.patch(order, amount_paid=60)
    at = iso(now() - timedelta(days=2))
    shown = await till.pay(order, 10, "cash", at=at, reference="Envelope")
    assert told(shown) == [
        ("payment", "transfer", 40, 0), ("payment", "transfer", 20, 0), ("payment", "cash", 10, 0),
    ]  # fmt: skip
    assert shown["payments"][-1]["at"] == at
    assert await till.show(order) == shown
    [listed] = (await till.api.get(ORDERS, status=200)).data
    assert listed == shown
    path = f"{ORDERS}/{order['id']}/payments"
    assert (await till.api.get(path, status=200)).data == shown["payments"]


async def test_a_tip_is_no_part_of_the_sale(till: Till) -> None:
    """It lies in the tender, and on an account of its own."""
    order = await till.ring(100)
    paid = await till.pay(order, 100, "pos", tip=15.5)
    assert (paid["amountPaid"], paid["tipAmount"], paid["payments"][0]["tip"]) == (100, 15.5, 15.5)
    accounts = await till.accounts()
    assert (accounts["pos"], accounts["tips"]) == (115.5, -15.5)
    assert await till.transactions() == [("sale", "pos", 100), ("tip", "pos", 15.5)]


async def test_a_payment_is_told(till: Till) -> None:
    """order.updated and payment.received, with the ids of both rows."""
    order = await till.ring(100)
    await till.news()
    paid = await till.pay(order, 100, "pos")
    events = {event["type"]: event["data"] for event in await till.news()}
    assert set(events) == {"order.updated", "payment.received"}
    [payment] = paid["payments"]
    assert events["payment.received"]["metadata"] == {
        "amount": 100,
        "amountKept": 100,
        "amountTendered": 100,
        "changeAmount": 0,
        "paymentMethod": "pos",
        "orderId": order["id"],
        "customerId": None,
        "paymentId": payment["id"],
        "transactionId": payment["transactionId"],
    }


async def test_an_event_tells_what_was_kept(till: Till) -> None:
    """100 in cash for 49.84, at the till and with the sale: kept, tendered, change."""
    await till.news()
    await till.pay(await till.ring(49.84), 100)
    await till.ring(49.84, 100)
    told = [
        event["data"]["metadata"]
        for event in await till.news()
        if event["type"] == "payment.received"
    ]
    names = ("amount", "amountKept", "amountTendered", "changeAmount")
    assert [[one[name] for name in names] for one in told] == [[100, 49.84, 100, 50.16]] * 2


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"amount": 0}, {"amount"}),
        ({"amount": -5}, {"amount"}),
        ({"amount": "1.005"}, {"amount"}),
        ({"amount": None}, {"amount"}),
        ({"method": "cheque"}, {"method"}),
        ({"tip": -1}, {"tip"}),
        ({"tip": "0.001", "method": "credit"}, {"tip"}),
        ({"reference": "x" * 121}, {"reference"}),
        ({"at": "2100-01-01T00:00:00Z"}, {"at"}),
        ({"kind": "payment"}, {"kind"}),
    ],
)
async def test_wrong_payments_are_refused(till: Till, fields: Body, named: set[str]) -> None:
    """Each wrong field is named, and nothing is booked."""
    order = await till.ring(100)
    answer = await till.post_payment(order, {"amount": 5, "method": "cash", **fields})
    assert (answer.status, answer.wrong_fields) == (422, named)
    assert (await till.show(order))["payments"] == []


async def test_a_payment_of_a_clock_that_is_ahead_is_one_of_now(till: Till) -> None:
    """A till may be minutes early, but nothing was paid in the future."""
    order = await till.ring(100)
    shown = await till.pay(order, 5, at=iso(now() + timedelta(minutes=4)))
    assert shown["payments"][-1]["at"] <= iso(now())


async def test_an_order_that_is_over_takes_no_payment(till: Till) -> None:
    """Cancelled: 400; deleted, or nobody's: 404."""
    order = await till.ring(100)
    await till.to(order, "cancelled")
    await till.pay(order, 5, status=400)
    await till.delete(order)
    await till.pay(order, 5, status=404)


async def test_the_same_payment_fifty_times_is_one(till: Till) -> None:
    """By one key, at the same moment."""
    order = await till.ring(100)
    body = {"amount": 30, "method": "cash"}
    answers = await asyncio.gather(
        *(till.post_payment(order, body, "till-1-payment-7") for _ in range(50))
    )
    assert {answer.status for answer in answers} <= {201, 409, 429, 503}
    assert told(await till.show(order)) == [("payment", "cash", 30, 0)]


async def test_payments_at_the_same_moment_all_count(till: Till) -> None:
    """Twenty of 5 each, none lost."""
    order = await till.ring(100)
    await asyncio.gather(*(till.pay(order, 5, "transfer") for _ in range(20)))
    paid = await till.show(order)
    assert (paid["status"], paid["amountPaid"], len(paid["payments"])) == ("completed", 100, 20)


async def test_payments_at_the_same_moment_never_exceed_the_most(till: Till) -> None:
    """Twenty by hand where three have room: a payment that waited for another counts it."""
    order = await till.ring(1000)
    for _ in range(0, PAYMENTS_MAX - 20, 20):
        body = {"amount": 1, "method": "cash"}
        await asyncio.gather(*(till.post_payment(order, body) for _ in range(20)))
    held = len((await till.show(order))["payments"])
    for _ in range(held, PAYMENTS_MAX - 3):
        await till.pay(order, 1)
    answers = await asyncio.gather(
        *(till.post_payment(order, {"amount": 1, "method": "cash"}) for _ in range(20))
    )
    assert sorted(answer.status for answer in answers) == [201] * 3 + [400] * 17
    assert len((await till.show(order))["payments"]) == PAYMENTS_MAX


async def test_a_deposit_of_a_scheduled_order_stays_one(till: Till) -> None:
    """Nothing is too much for it yet; confirmed, what is too much is change."""
    later = iso(now() + timedelta(days=1))
    order = await till.ring(100, scheduled_for=later)
    paid = await till.pay(order, 120)
    assert (paid["status"], paid["changeAmount"]) == ("scheduled", 0)
    confirmed = await till.confirm(order)
    assert (confirmed["status"], confirmed["changeAmount"]) == ("completed", 20)


@pytest.mark.parametrize("method", ["pos", "transfer", "other", "credit", "cloove_pay"])
async def test_a_correction_is_by_a_method_that_paid(till: Till, method: str) -> None:
    """Cash that came in is not taken back by card: by each method at most what it holds."""
    order = await till.ring(50, paid=50, customer_name="Ada Obi")
    await till.patch(order, payment_method=method)
    refused = await till.api.patch(f"{ORDERS}/{order['id']}", {"amount_paid": 10}, status=400)
    assert (refused.error, refused.json["message"].split(",")[0]) == (
        "request_failed", f"0 of what was paid came by {method}",
    )  # fmt: skip
    await till.patch(order, payment_method="cash")
    corrected = await till.patch(order, amount_paid=10)
    told = [(one["method"], one["amount"]) for one in corrected["payments"]]
    assert told == [("cash", 50), ("cash", -40)]


async def test_of_two_methods_each_is_corrected_by_itself(till: Till, services: Services) -> None:
    """Change was paid in cash first; a confirmation corrects like a PATCH; handing back is free."""
    order = await till.ring(100, paid=50, payment_method="pos")
    await till.pay(order, 70)
    path = f"{ORDERS}/{order['id']}"
    await till.api.patch(path, {"amount_paid": 49.99}, status=400)
    assert (await till.patch(order, amount_paid=50))["changeAmount"] == 0
    await till.api.patch(path, {"amount_paid": 49}, status=400)
    await till.patch(order, payment_method="pos")
    assert (await till.patch(order, amount_paid=0))["amountPaid"] == 0
    later = await till.ring(100, paid=50, scheduled_for="2099-01-01T10:00:00Z")
    await till.patch(later, payment_method="pos")
    body = {"amount_paid": 10, "payment_method": "cash"}
    await till.api.post(f"{ORDERS}/{later['id']}/confirm", body, status=400)
    await till.patch(later, payment_method="cash")
    await till.api.post(f"{ORDERS}/{later['id']}/confirm", body, status=200)
    ended = await till.ring(50, paid=50)
    await till.patch(ended, payment_method="pos")
    over = {"status": "cancelled", "amount_paid": 0}
    await till.api.patch(f"{ORDERS}/{ended['id']}", over, status=200)
    assert await till.faults(services) == []
