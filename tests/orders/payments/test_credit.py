"""Credit of customers: where it comes from, and how orders are paid with it."""

import asyncio
from decimal import Decimal

from tests.orders.payments.till import Till
from tests.orders.shop import Body, fee


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
    assert "credit doesn't cover" in refused.json["message"]
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
