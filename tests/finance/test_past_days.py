"""The figures of a past day stand, whatever becomes of its money later."""

from decimal import Decimal

import asyncpg
import pytest

from tests.checkout.till import Till
from tests.finance.books import Books
from tests.make import Make

_THEN, _DAY = "2026-01-05T10:00:00Z", "2026-01-05"
_MOVED = "UPDATE sandbox_payments SET paid_at = $2::text::timestamptz WHERE book_id = $1"


@pytest.mark.parametrize("is_of_wallet", [False, True])
async def test_a_past_day_stands_when_its_payment_is_taken_back(
    make: Make, sql: asyncpg.Connection, is_of_wallet: bool
) -> None:
    """Its fees and its transactions; those of the day on which the money goes back undo them."""
    till = await Till.open(make, sql)
    books = Books(till.shop, await till.shop.business.client("finance:read"))
    link = await (till.ask_for_wallet(1000) if is_of_wallet else till.ask(await till.sale(1000)))
    await till.payer.get(f"/pay/{link['reference']}")
    await till.simulate(link, "exact")
    await sql.execute(_MOVED, till.shop.book, _THEN)
    await till.work()
    before = await _moved(books, is_then=True)
    assert before == ({("fee", -15), ("wallet_deposit" if is_of_wallet else "sale", 1000)}, 15)
    await till.simulate(link, "reversed")
    await till.work()
    assert await _moved(books, is_then=True) == before
    back = ("reversal" if is_of_wallet else "refund", -1000)
    assert await _moved(books, is_then=False) == ({("fee", 15), back}, -15)


async def _moved(books: Books, *, is_then: bool) -> tuple[set[tuple[str, Decimal]], float]:
    """The successful transactions of that day or today, signed, and the fees that it is told."""
    days = {"from": _DAY, "to": _DAY} if is_then else {}
    signed = {
        (one["type"], one["amount"] * (1 if one["direction"] == "in" else -1))
        for one in await books.all()
        if one["status"] == "successful" and (one["date"] == _DAY) == is_then
    }
    return signed, (await books.summary(**days))["feesTotal"]
