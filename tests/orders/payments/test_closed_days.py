"""Money that moves for an order of a closed day: booked today, and the answer says so."""

from datetime import timedelta

from tests.orders.payments.till import Till
from tests.orders.shop import ORDERS
from tillhouse.kit.clock import iso, now

_THEN = "2026-01-05T10:00:00Z"
_SAID = " The books are closed until 2026-01-31, so it is booked today."


async def _close(till: Till) -> None:
    api = await till.business.client("finance:closings:write")
    await api.put("/v1/ledger/closing", {"closed_until": "2026-01-31"}, status=200)


async def test_an_answer_says_that_it_is_booked_today(till: Till) -> None:
    """A payment, a correction and a refund of a closed sale, in one sentence more, once."""
    order = await till.ring(100, occurred_at=_THEN)
    path = f"{ORDERS}/{order['id']}"
    await _close(till)
    body = {"amount": 40, "method": "cash"}
    paid = await till.post_payment(order, body, key="told-once")
    assert paid.json["message"] == "Payment recorded." + _SAID
    again = await till.post_payment(order, body, key="told-once")
    assert (again.headers["idempotent-replayed"], again.body) == ("true", paid.body)
    corrected = await till.api.patch(path, {"amount_paid": 90}, status=200)
    assert corrected.json["message"] == "Order updated." + _SAID
    back = await till.post_refund(order, {"amount": 10, "method": "cash"})
    assert back.json["message"] == "Refund recorded." + _SAID
    spoken = await till.api.patch(path, {"status": "pending"}, status=200)
    assert spoken.json["message"] == "Order updated"


async def test_an_answer_of_open_days_says_nothing_more(till: Till) -> None:
    """Nor one of a sale after a closed period, nor a payment that names its own open day."""
    order, old = await till.ring(100), await till.ring(100, occurred_at=_THEN)
    body = {"amount": 40, "method": "cash"}
    assert (await till.post_payment(old, body)).json["message"] == "Payment recorded"
    await _close(till)
    paid = await till.post_payment(order, body)
    back = await till.post_refund(order, {"amount": 10, "method": "cash"})
    earlier = await till.post_payment(old, {**body, "at": iso(now() - timedelta(minutes=9))})
    messages = [one.json["message"] for one in (paid, back, earlier)]
    assert messages == ["Payment recorded", "Refund recorded", "Payment recorded"]


async def test_a_scheduled_order_is_sold_today(till: Till) -> None:
    """Its day was closed before it was confirmed."""
    order = await till.ring(100, scheduled_for="2100-01-01T00:00:00Z")
    await till.sql.execute(
        "UPDATE orders SET occurred_at = $1::text::timestamptz WHERE book_id = $2", _THEN, till.book
    )
    await _close(till)
    body = {"amount_paid": 100, "payment_method": "cash"}
    sold = await till.api.post(f"{ORDERS}/{order['id']}/confirm", body, status=200)
    assert sold.json["message"] == "Order confirmed." + _SAID
