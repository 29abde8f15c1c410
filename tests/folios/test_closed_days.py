"""Money that moves for a stay of closed days: booked today, and the answer says so."""

from datetime import UTC, datetime

import asyncpg

from tests.folios.giving import GivingLodge
from tests.folios.lodge import Body, Lodge
from tests.make import Business

_THEN = datetime(2026, 1, 5, 10, tzinfo=UTC)
_CLOSED = " The books are closed until 2026-01-31, so it is booked "
_TODAY = _CLOSED + "today."


async def _close(lodge: Lodge) -> None:
    """Close the books after what the stays have so far."""
    for table, column in (("orders", "occurred_at"), ("folio_payments", "happened_at")):
        moved = f"UPDATE {table} SET {column} = $1 WHERE book_id = $2"  # noqa: S608
        await lodge.sql.execute(moved, _THEN, lodge.book_id)
    api = await lodge.business.client("finance:closings:write")
    await api.put("/v1/ledger/closing", {"closed_until": "2026-01-31"}, status=200)


async def _said(lodge: Lodge, stay: Body, verb: str, **body: object) -> str:
    answer = await lodge.act(stay, verb, **body)
    assert answer.status < 300, answer
    return answer.json["message"]


async def test_a_payment_of_closed_charges_says_so(lodge: Lodge) -> None:
    """Of two of them once; a later payment pays nothing of them, and says nothing."""
    stay = await lodge.arrive()
    for price in (10, 20):
        await lodge.charge(stay, price)
    await _close(lodge)
    paying = {"amount": 50, "method": "cash"}
    assert await _said(lodge, stay, "payments", **paying) == "Payment recorded." + _TODAY
    assert await _said(lodge, stay, "payments", **paying) == "Payment recorded"
    assert await _said(lodge, stay, "refunds", amount=5, method="cash") == "Refund recorded"


async def test_a_refund_of_a_closed_deposit_says_so(lodge: Lodge) -> None:
    """It came in on a closed day, and leaves today."""
    stay = await lodge.book(deposit_amount=40)
    await lodge.pay(stay, 40)
    await _close(lodge)
    said = await _said(lodge, stay, "refunds", amount=5, method="cash")
    assert said == "Refund recorded." + _TODAY


async def test_a_refund_through_a_provider_says_so(
    business: Business, sql: asyncpg.Connection
) -> None:
    """It is booked when the provider has given it back; also that of a cancelled stay."""
    lodge = await GivingLodge.giving(business, sql)
    stay = await lodge.deposited(60)
    await _close(lodge)
    later = _CLOSED + "on the day on which it goes back."
    said = await _said(lodge, stay, "refunds", amount=20, method="cloove_pay")
    assert said == "Refund recorded." + later
    said = await _said(lodge, stay, "cancel", reason="Flight", refund_deposit=True)
    assert said == "Reservation cancelled." + later
