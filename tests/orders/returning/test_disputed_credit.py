"""Money that a dispute has taken is handed out by no other way: as cash, or as credit."""

import pytest

from tests.orders.returning.giving import Giving
from tests.orders.shop import ORDERS, Body, fee


async def _credit(till: Giving, customer: Body) -> tuple[float, float]:
    """The credit of a customer, and how much of it can be spent."""
    path = f"/v1/customers/{customer['id']}/credit"
    told = (await till.api.get(path, status=200)).data
    return told["creditBalance"], told["available"]


async def _spend(till: Giving, customer: Body, amount: int) -> int:
    """The status of a new order that is paid by credit."""
    body = {
        "items": [fee(amount)], "customer_id": customer["id"], "amount_paid": amount,
        "payment_method": "credit",
    }  # fmt: skip
    return (await till.api.post(ORDERS, body)).status


@pytest.mark.parametrize("is_won", [True, False])
async def test_credit_of_a_disputed_payment_is_not_spent(till: Giving, is_won: bool) -> None:
    """500 too much are the customer's credit, until the bank of the payer takes them, too."""
    ada = await till.customer("Ada")
    order = await till.deposit(1000, customer_id=ada["id"])
    await till.paid(order, "over", 1500)
    assert await _credit(till, ada) == (500, 500)
    await till.paid(order, "disputed")
    assert await _credit(till, ada) == (500, 0)
    assert await _spend(till, ada, 500) == 400
    await till.paid(order, "dispute_won" if is_won else "dispute_lost")
    left = 500 if is_won else 0
    assert await _credit(till, ada) == (500, left)
    assert await _spend(till, ada, 500) == (201 if is_won else 400)
    assert await till.faults(till.services) == []


async def test_a_disputed_order_that_becomes_cheaper_gives_no_credit(till: Giving) -> None:
    """The money would be there twice; what the order needs again is no credit."""
    ada = await till.customer("Ada")
    order = await till.deposit(1000, customer_id=ada["id"])
    await till.paid(order)
    await till.paid(order, "dispute_lost")
    path = f"{ORDERS}/{order['id']}"
    await till.api.patch(path, {"total_amount": 700}, status=200)
    assert await _credit(till, ada) == (300, 0)
    await till.api.patch(path, {"total_amount": 800}, status=200)
    assert await _credit(till, ada) == (200, 0)
    await till.api.patch(path, {"total_amount": 1000}, status=200)
    assert await _credit(till, ada) == (0, 0)
    assert await till.faults(till.services) == []


async def test_cash_is_given_back_as_far_as_no_dispute_took_it(till: Giving) -> None:
    """400 came in cash, 600 by the provider, which took them for a dispute."""
    order = await till.deposit(1000)
    await till.pay(order, 400)
    await till.paid(order, "under", 600)
    await till.paid(order, "disputed")
    refused = await till.post_refund(order, {"amount": 401, "method": "cash"})
    assert refused.status == 400
    assert "A dispute has taken 600" in refused.json["message"]
    assert (await till.post_refund(order, {"amount": 400, "method": "cash"})).status == 201
    assert (await till.post_refund(order, {"amount": 1, "method": "cash"})).status == 400
    await till.paid(order, "dispute_won")
    assert (await till.post_refund(order, {"amount": 1, "method": "cash"})).status == 201
    assert await till.faults(till.services) == []


async def test_a_refund_on_its_way_counts_beside_a_dispute(till: Giving) -> None:
    """100 go back by the provider, which takes the other 500: of 1,000 are 400 in cash left."""
    order = await till.deposit(1000)
    await till.pay(order, 400)
    await till.paid(order, "under", 600)
    back = await till.post_refund(order, {"amount": 100, "method": "cloove_pay"})
    assert (back.status, back.data["refunds"][-1]["status"]) == (201, "pending")
    await till.paid(order, "disputed")
    assert (await till.post_refund(order, {"amount": 401, "method": "cash"})).status == 400
    assert (await till.post_refund(order, {"amount": 400, "method": "cash"})).status == 201
    await till.paid(order, "dispute_won")
