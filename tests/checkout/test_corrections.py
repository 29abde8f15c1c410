"""Money that a provider proved is given back by a refund, and never corrected by hand."""

import pytest

from tests.checkout.conftest import Open
from tests.checkout.till import Body, Till
from tests.orders.shop import ORDERS


@pytest.fixture
async def till(open_till: Open) -> Till:
    """A shop."""
    return await open_till()


async def _correct(till: Till, order: Body, amount: float, status: int = 200) -> Body:
    path = f"{ORDERS}/{order['id']}"
    answer = await till.shop.api.patch(path, {"amount_paid": amount}, status=status)
    if status == 200:
        return answer.data
    assert answer.json["error"] == "request_failed"
    assert "by a refund" in answer.json["message"]
    return await till.order(order)


async def _paid(till: Till, price: float) -> Body:
    order = await till.sale(price)
    await till.pay(await till.ask(order))
    return order


async def test_a_paid_link_is_not_corrected(till: Till) -> None:
    """Else a second link would ask for the same money, and a completed order be cancelled."""
    order = await _paid(till, 100)
    for amount in (0, 40, 99.99):
        same = await _correct(till, order, amount, 400)
        assert (same["amountPaid"], same["status"]) == (100, "completed")
    path = f"{ORDERS}/{order['id']}"
    detour = {"status": "pending", "amount_paid": 0}
    assert (await till.shop.api.patch(path, detour)).status == 400
    await till.shop.api.patch(path, {"status": "pending"}, status=200)
    assert (await till.shop.api.patch(path, {"status": "cancelled"})).status == 400


async def test_cash_beside_it_is_corrected(till: Till) -> None:
    """By its own method, and down to what came through the provider."""
    order = await _paid(till, 100)
    path = f"{ORDERS}/{order['id']}"
    await till.shop.api.patch(path, {"total_amount": 200}, status=200)
    await till.shop.api.post(f"{path}/payments", {"amount": 60, "method": "cash"}, status=201)
    assert (await _correct(till, order, 99, 400))["amountPaid"] == 160
    assert (await _correct(till, order, 150))["amountPaid"] == 150
    await till.shop.api.patch(path, {"payment_method": "cloove_pay"}, status=200)
    assert (await _correct(till, order, 120, 400))["amountPaid"] == 150
    await till.shop.api.patch(path, {"payment_method": "cash"}, status=200)
    assert (await _correct(till, order, 100))["amountPaid"] == 100


async def test_what_an_import_said_is_corrected(till: Till) -> None:
    """Money of the same method that no provider told of here."""
    paid = {"payment_method": "cloove_pay", "amount_paid": 30}
    order = await till.sale(100, occurred_at="2026-01-05T10:00:00Z", **paid)
    await till.pay(await till.ask(order))
    assert (await _correct(till, order, 69, 400))["amountPaid"] == 100
    assert (await _correct(till, order, 70))["amountPaid"] == 70
    assert (await _correct(till, order, 0, 400))["amountPaid"] == 70
