"""Money by a payment provider is what the provider tells of: no request says that it came."""

from typing import Any

import pytest

from tests.orders.shop import ORDERS, Body, Shop, fee

_ONLINE = {"payment_method": "cloove_pay"}
_LATER = "2100-01-01T10:00:00Z"


async def _refused(answer: Any, field: str = "payment_method") -> None:
    assert answer.status == 422, answer
    [fault] = answer.json["details"]
    assert fault["field"] == field
    assert "payment link" in fault["message"]


async def _paid(shop: Shop, order: Body) -> float:
    return (await shop.api.get(f"{ORDERS}/{order['id']}", status=200)).data["amountPaid"]


async def test_no_sale_is_recorded_as_paid_by_a_provider(shop: Shop) -> None:
    """It is the method by which the order is to be paid, which then has an account for it."""
    await _refused(await shop.ask(fee(100), amount_paid=40, **_ONLINE))
    order = await shop.sell(fee(100), amount_paid=0, **_ONLINE)
    assert (order["paymentMethod"], order["amountPaid"], order["isAutomated"]) == (
        "cloove_pay", 0, True,
    )  # fmt: skip
    await _refused(await shop.ask(fee(100), amount_paid=40, scheduled_for=_LATER, **_ONLINE))


@pytest.mark.parametrize("is_named", [True, False])
async def test_no_change_says_so(shop: Shop, is_named: bool) -> None:
    """Neither one that names the method nor one of an order that has it; cash beside it is."""
    order = await shop.sell(fee(100), **({} if is_named else _ONLINE))
    path = f"{ORDERS}/{order['id']}"
    method = _ONLINE if is_named else {}
    await _refused(await shop.api.patch(path, {"amount_paid": 40, **method}))
    body = {"amount": 40, "method": "cloove_pay"}
    await _refused(await shop.api.post(f"{path}/payments", body), "method")
    assert await _paid(shop, order) == 0
    cash = {"amount_paid": 40, "payment_method": "cash"}
    await shop.api.patch(path, cash, status=200)
    await shop.api.patch(path, _ONLINE, status=200)
    await shop.api.patch(path, {"amount_paid": 40, **_ONLINE}, status=200)
    await _refused(await shop.api.patch(path, {"amount_paid": 41}))
    assert await _paid(shop, order) == 40


async def test_no_confirmation_says_so(shop: Shop) -> None:
    """In full unless told otherwise: an order by that method is confirmed unpaid, or paid else."""
    orders = [await shop.sell(fee(100), scheduled_for=_LATER, **_ONLINE) for _ in range(2)]
    unpaid, cash = (f"{ORDERS}/{order['id']}/confirm" for order in orders)
    for body in ({}, {"amount_paid": 30}, _ONLINE):
        await _refused(await shop.api.post(unpaid, body))
    confirmed = (await shop.api.post(unpaid, {"amount_paid": 0}, status=200)).data
    assert (confirmed["status"], confirmed["amountPaid"]) == ("pending", 0)
    paid = (await shop.api.post(cash, {"payment_method": "cash"}, status=200)).data
    assert (paid["status"], paid["amountPaid"]) == ("completed", 100)
    assert (await shop.api.post(unpaid, {})).status == 400, "only a scheduled order is confirmed"


async def test_a_sale_of_the_past_says_how_it_was_paid(shop: Shop) -> None:
    """The system from which it is imported knows; today's sale with a moment of now doesn't."""
    then = "2026-01-05T10:00:00Z"
    order = await shop.sell(fee(100), amount_paid=100, occurred_at=then, **_ONLINE)
    assert (order["amountPaid"], order["entrySource"]) == (100, "import")
