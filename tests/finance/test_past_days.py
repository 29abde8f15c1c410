"""The figures of a past day stand, whatever becomes of its money later."""

from decimal import Decimal
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.checkout.till import Till
from tests.finance.books import Books
from tests.make import Make
from tests.orders.returning.bank import ReturningProvider
from tests.orders.returning.giving import Giving
from tests.orders.shop import Body
from tillhouse.access.call import system_call
from tillhouse.access.process import Services
from tillhouse.kit.clock import parse_timestamp
from tillhouse.orders.changing.store import lock_order
from tillhouse.orders.returning.outcome import complete, outcome_of
from tillhouse.orders.returning.store import lock_return

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


async def test_a_past_day_stands_when_its_refund_comes_home(
    make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """Its transactions and its refunds; those of the day on which it comes home undo them."""
    till = await Giving.open(make, sql)
    till.services, till.bank = services, ReturningProvider(till.book)
    books = Books(till, await till.business.client("finance:read", "finance:transactions:read"))
    await till.fill()
    order = await till.sold()
    till.bank.manners.append("slow")
    asked = await till.asked(order, amount=300)
    await till.send()
    await _given_back_then(till, asked, order)
    before = await _told(books, _DAY)
    assert before == ({("refund", -300)}, 300, -300)
    till.bank.refunds[till.reference(asked)] = "failed"
    for _ in range(2):
        await till.hear(asked)
        await till.send()
    assert (await till.refund_of(order))["status"] == "reversed"
    assert await _told(books, _DAY) == before
    today = (await books.summary())["date"]
    signed, refunds, received = await _told(books, today)
    assert (("refund", 300) in signed, refunds) == (True, -300)
    assert received == sum(amount for kind, amount in signed if kind != "fee")
    assert await till.faults(services) == []


async def _given_back_then(till: Giving, asked: Body, order: Body) -> None:
    """Let a refund have gone back on a day before."""
    async with till.services.pool.transaction() as db:
        sent = await lock_return(db, till.book, UUID(asked["id"]))
        state = await lock_order(db, till.book, UUID(order["id"]))
        assert sent is not None
        assert state is not None
        call = system_call(till.services, db, sent.business_id, sent.book)
        call.now = parse_timestamp(_THEN)
        outcome = outcome_of(call, state, sent)
        await complete(msgspec.structs.replace(outcome, provider_reference="R-1"))


async def _told(books: Books, day: str) -> tuple[set[tuple[str, Decimal]], Decimal, Decimal]:
    """The successful transactions of a day, signed; its refunds; and what came by providers."""
    signed = {
        (one["type"], one["amount"] * (1 if one["direction"] == "in" else -1))
        for one in await books.all()
        if one["status"] == "successful" and one["date"] == day
    }
    summary = await books.summary(**{"from": day, "to": day})
    received = {one["method"]: one["amount"] for one in summary["receivedByMethod"]}
    return signed, summary["refundsTotal"], received.get("cloove_pay", Decimal(0))


async def _moved(books: Books, *, is_then: bool) -> tuple[set[tuple[str, Decimal]], float]:
    """The successful transactions of that day or today, signed, and the fees that it is told."""
    days = {"from": _DAY, "to": _DAY} if is_then else {}
    signed = {
        (one["type"], one["amount"] * (1 if one["direction"] == "in" else -1))
        for one in await books.all()
        if one["status"] == "successful" and (one["date"] == _DAY) == is_then
    }
    return signed, (await books.summary(**days))["feesTotal"]
