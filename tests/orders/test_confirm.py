"""POST /v1/orders/:id/confirm: a scheduled order becomes a sale, with its payment."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.orders.shop import ORDERS, Body, Shop, fee, line, variant_of
from tillhouse.kit.clock import iso, now, parse_timestamp


async def _planned(shop: Shop, *lines: Body, **fields: Any) -> Body:
    later = iso(now() + timedelta(days=1))
    return await shop.sell(*(lines or [fee(1000)]), scheduled_for=later, **fields)


async def test_it_is_paid_in_full_unless_told_otherwise(shop: Shop) -> None:
    """The whole order comes back, completed, with when it was confirmed."""
    order = await _planned(shop)
    before = now()
    confirmed = await shop.confirm(order)
    assert before <= parse_timestamp(confirmed["scheduledConfirmedAt"]) <= now()
    changed = {name for name in order if order[name] != confirmed[name]}
    assert changed == {
        "status", "paymentStatus", "amountPaid", "remainingAmount", "scheduledConfirmedAt",
        "payments", "updatedAt",
    }  # fmt: skip
    assert (confirmed["status"], confirmed["paymentStatus"]) == ("completed", "paid")
    assert (confirmed["amountPaid"], confirmed["remainingAmount"]) == (1000, 0)
    assert await shop.show(order) == confirmed


@pytest.mark.parametrize(
    ("paid", "status", "state", "left"),
    [
        (0, "pending", "pending", 1000),
        (400, "pending", "partial", 600),
        (1000, "completed", "paid", 0),
        (1300, "completed", "paid", 0),
    ],
)
async def test_the_payment_decides(
    shop: Shop, paid: float, status: str, state: str, left: float
) -> None:
    """Completed when it is paid in full, else pending; by the method that was given."""
    order = await _planned(shop)
    confirmed = await shop.confirm(order, amount_paid=paid, payment_method="pos")
    assert (confirmed["status"], confirmed["paymentStatus"]) == (status, state)
    assert (confirmed["amountPaid"], confirmed["remainingAmount"]) == (paid, left)
    assert confirmed["paymentMethod"] == "pos"


async def test_no_body_is_needed(shop: Shop) -> None:
    """As everything in it has a default."""
    order = await _planned(shop)
    path = f"{ORDERS}/{order['id']}/confirm"
    answer = await shop.api.post(path)
    assert answer.status in (200, 422)
    if answer.status == 200:
        assert answer.data["status"] == "completed"


async def test_a_deposit_counts(shop: Shop) -> None:
    """An earlier payment is part of the total; only the rest is received now."""
    order = await _planned(shop, amount_paid=300)
    await shop.news()
    confirmed = await shop.confirm(order)
    assert confirmed["amountPaid"] == 1000
    paid = [e for e in await shop.news() if e["type"] == "payment.received"]
    assert [event["data"]["metadata"]["amount"] for event in paid] == [700]


async def test_the_promise_becomes_a_sale(shop: Shop) -> None:
    """The reserved quantity is deducted, and nothing is reserved any more."""
    product = await shop.product(stock=5)
    order = await _planned(shop, line(product, 2))
    assert await shop.stock(variant_of(product)) == (5, 2)
    await shop.confirm(order, amount_paid=0)
    assert await shop.stock(variant_of(product)) == (3, 0)


async def test_a_debt_begins_with_the_sale(shop: Shop) -> None:
    """A scheduled order is none yet, a confirmed one with something outstanding is."""
    order = await _planned(shop, customer_name="Ada Obi", amount_paid=100)
    assert await shop.debts(order) == []
    await shop.confirm(order, amount_paid=400)
    assert await shop.debts(order) == [("active", 600)]


@pytest.mark.parametrize("status", ["pending", "completed", "cancelled"])
async def test_only_scheduled_orders_are_confirmed(shop: Shop, status: str) -> None:
    """Anything else is refused and stays as it is."""
    order = await shop.sell(fee(1000))
    order = order if status == "pending" else await shop.to(order, status)
    answer = await shop.confirm(order, status=400)
    assert answer.error == "request_failed"
    assert await shop.show(order) == order


async def test_once_is_enough(shop: Shop) -> None:
    """A second confirmation is refused; the same key replays the first one's answer."""
    order = await _planned(shop)
    path = f"{ORDERS}/{order['id']}/confirm"
    headers = {"idempotency-key": str(uuid4())}
    first = await shop.api.post(path, {"amount_paid": 400}, headers=headers, status=200)
    await shop.news()
    again = await shop.api.post(path, {"amount_paid": 400}, headers=headers, status=200)
    assert again.body == first.body
    assert again.headers["idempotent-replayed"] == "true"
    assert await shop.told() == []
    assert (await shop.confirm(order, status=400)).error == "request_failed"
    other = await shop.api.post(path, {"amount_paid": 500}, headers=headers, status=422)
    assert other.error == "idempotency_key_reused"


async def test_two_at_once_confirm_once(shop: Shop) -> None:
    """One succeeds; the money is booked once."""
    order = await _planned(shop)
    await shop.news()
    path = f"{ORDERS}/{order['id']}/confirm"
    answers = await asyncio.gather(*[shop.api.post(path, {}) for _ in range(8)])
    assert sorted(answer.status for answer in answers) == [200] + [400] * 7
    assert sorted(await shop.told()) == ["order.updated", "payment.received"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("amount_paid", -1), ("amount_paid", "five"), ("amount_paid", 0.001), ("amount_paid", 1e15),
     ("payment_method", "cheque"), ("payment_method", 5), ("status", "completed"), ("paid", 5)],
)  # fmt: skip
async def test_a_wrong_field_is_named(shop: Shop, field: str, value: Any) -> None:
    """And the order waits on."""
    order = await _planned(shop)
    answer = await shop.api.post(f"{ORDERS}/{order['id']}/confirm", {field: value}, status=422)
    assert answer.wrong_fields == {field}
    assert await shop.show(order) == order


async def test_what_is_not_there_is_not_confirmed(shop: Shop) -> None:
    """404 for no order and for a deleted one."""
    order = await _planned(shop)
    await shop.delete(order)
    assert (await shop.confirm(order, status=404)).error == "not_found"
    assert (await shop.confirm({"id": str(uuid4())}, status=404)).error == "not_found"
