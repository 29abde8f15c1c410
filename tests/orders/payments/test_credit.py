"""Credit of customers: where it comes from, and how orders are paid with it."""

import asyncio
from datetime import timedelta
from decimal import Decimal

from tests.orders.payments.till import Till
from tests.orders.shop import Body, fee
from tillhouse.access.process import Services
from tillhouse.kit.clock import iso, now

LATER = iso(now() + timedelta(days=3))


async def _rich(till: Till, credit: int) -> Body:
    """A customer who has so much to come."""
    order = await till.ring(100, 100 + credit, payment_method="transfer", customer_name="Ada Obi")
    return order["customer"]


async def _credit(till: Till, customer: Body) -> float:
    path = f"/v1/customers/{customer['id']}"
    shown = (await till.api.get(path, status=200)).data
    [listed] = (await till.api.get("/v1/customers?search=Ada", status=200)).data
    assert listed == shown
    return shown["creditBalance"]


async def test_credit_is_shown_and_spent(till: Till) -> None:
    """At the till, with the sale, and in part."""
    ada = await _rich(till, 80)
    assert await _credit(till, ada) == 80
    order = await till.ring(100, customer_id=ada["id"])
    half = await till.pay(order, 30, "credit")
    assert (half["remainingAmount"], half["payments"][0]["method"]) == (70, "credit")
    assert await _credit(till, ada) == 50
    await till.ring(100, 40, payment_method="credit", customer_id=ada["id"])
    assert await _credit(till, ada) == 10
    accounts = await till.accounts()
    assert (accounts["bank"], accounts["customer_credit"]) == (180, -10)
    assert "other_tender" not in accounts


async def test_without_enough_or_without_a_customer_it_is_refused(till: Till) -> None:
    """In the words of the shop, and nothing is booked."""
    ada = await _rich(till, 20)
    order = await till.ring(100, customer_id=ada["id"])
    refused = await till.pay(order, 21, "credit", status=400)
    assert "credit doesn't cover this: it is 20.00, and 21 are" in refused.json["message"]
    refused = await till.pay(await till.ring(100), 10, "credit", status=400)
    assert "customer" in refused.json["message"]
    body = {"payment_method": "credit", "amount_paid": 10}
    assert (await till.ask(fee(100), **body)).wrong_fields == {"customer_id"}
    assert (await till.ask(fee(100), **body, customer_name="Somebody New")).status == 400
    answer = await till.ask(fee(100), **{**body, "amount_paid": 21}, customer_id=ada["id"])
    assert answer.status == 400
    assert await _credit(till, ada) == 20


async def test_a_sale_on_account_spends_nothing(till: Till) -> None:
    """Credit as the method, and nothing paid: a debt."""
    ada = await _rich(till, 50)
    order = await till.ring(100, payment_method="credit", customer_id=ada["id"])
    assert await till.debts(order) == [("active", 100)]
    assert await _credit(till, ada) == 50


async def test_an_order_paid_with_credit_keeps_its_customer(till: Till) -> None:
    """Cancelled, it gives the credit back; corrected too."""
    ada = await _rich(till, 50)
    other = await till.customer("Ben Eze")
    order = await till.ring(100, 50, payment_method="credit", customer_id=ada["id"])
    await till.patch(order, customer_id=other["id"], status=400)
    await till.patch(order, amount_paid=30)
    assert await _credit(till, ada) == 20
    await till.to(order, "cancelled")
    assert await _credit(till, ada) == 50


async def test_a_refund_can_be_credit(till: Till) -> None:
    """Nothing leaves the drawer, and the customer has it to come."""
    order = await till.ring(100, 100, customer_name="Ada Obi")
    await till.give_back(order, amount=40, method="credit")
    assert await _credit(till, order["customer"]) == 40
    assert (await till.accounts())["cash"] == 100
    await till.give_back(await till.ring(100, 100), amount=40, method="credit", status=400)
    await till.to(order, "cancelled")
    assert await _credit(till, order["customer"]) == 100


async def test_fifty_who_spend_at_once_spend_what_there_is(till: Till) -> None:
    """95 of credit, 10 each: nine of fifty."""
    ada = await _rich(till, 95)
    orders = [await till.ring(10, customer_id=ada["id"]) for _ in range(50)]
    answers = await asyncio.gather(
        *(till.post_payment(order, {"amount": 10, "method": "credit"}) for order in orders)
    )
    assert sorted(answer.status for answer in answers) == [201] * 9 + [400] * 41
    assert Decimal(str(await _credit(till, ada))) == 5


async def test_credit_pays_for_what_is_owed_and_no_more(till: Till, services: Services) -> None:
    """Ten of cash for ten, and then credit that nobody has: 510 of 10 would be told as paid."""
    order = await till.ring(10, 10, customer_name="Ada Obi")
    refused = await till.pay(order, 500, "credit", status=400)
    assert refused.json["message"] == (
        "The order owes 0.00, and credit pays for that and no more: lower the amount."
    )
    rich = await _rich(till, 500)
    half = await till.ring(10, 4, customer_id=rich["id"])
    await till.pay(half, 6.01, "credit", status=400)
    assert (await till.pay(half, 6, "credit"))["paymentStatus"] == "paid"
    back = await till.give_back(order, amount=10, method="cash")
    assert (back["status"], back["amountPaid"]) == ("refunded", 0)
    assert await _credit(till, rich) == 494
    assert await till.faults(services) == []


async def test_no_way_to_pay_spends_more_credit_than_is_owed(till: Till) -> None:
    """Recorded, changed, confirmed or put off: the credit stays the customer's."""
    ada = await _rich(till, 500)
    sale: Body = {"payment_method": "credit", "customer_id": ada["id"]}
    refused = await till.ask(fee(10), **sale, amount_paid=10.01)
    assert (refused.status, refused.json["error"]) == (400, "order_not_recorded")
    later = {**sale, "scheduled_for": LATER}
    assert (await till.ask(fee(10), **later, amount_paid=10.01)).status == 400
    order = await till.sell(fee(10), **sale)
    await till.patch(order, amount_paid=11, status=400)
    await till.patch(order, total_amount=11, amount_paid=11)
    put_off = await till.sell(fee(10), **later)
    await till.patch(put_off, amount_paid=11, status=400)
    await till.confirm(put_off, status=400, amount_paid=11)
    await till.confirm(put_off, amount_paid=10)
    assert await _credit(till, ada) == 479


async def test_fifty_payments_at_once_pay_an_order_once(till: Till, services: Services) -> None:
    """With credit enough for all of them, an order of 45 takes four of ten, and then five."""
    ada = await _rich(till, 500)
    order = await till.ring(45, customer_id=ada["id"])
    answers = await asyncio.gather(
        *(till.post_payment(order, {"amount": 10, "method": "credit"}) for _ in range(50))
    )
    assert sorted(answer.status for answer in answers) == [201] * 4 + [400] * 46
    assert await _credit(till, ada) == 460
    paid = await till.pay(order, 5, "credit")
    assert (paid["amountPaid"], paid["paymentStatus"]) == (45, "paid")
    assert await till.faults(services) == []


async def test_a_sale_above_the_credit_is_not_recorded(till: Till) -> None:
    """By itself, and fifty at once of which nine can be had."""
    ada = await _rich(till, 95)
    sale: Body = {"payment_method": "credit", "customer_id": ada["id"]}
    refused = await till.ask(fee(100), **sale, amount_paid=96)
    assert (refused.status, refused.json["error"]) == (400, "order_not_recorded")
    assert "credit doesn't cover this: it is 95.00, and 96 are" in refused.json["message"]
    answers = await asyncio.gather(*(till.ask(fee(10), **sale, amount_paid=10) for _ in range(50)))
    assert sorted(answer.status for answer in answers) == [201] * 9 + [400] * 41
    assert {a.json["error"] for a in answers if a.status == 400} == {"order_not_recorded"}
    assert await _credit(till, ada) == 5
