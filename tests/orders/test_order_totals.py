"""The totals of orders in a database that had none: made of the tallies, and kept from then on."""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import LiteralString
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.conftest import at_database
from tillhouse.db.migrate import migrate
from tillhouse.db.pool import Pool
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES

# The last version without totals.
_BEFORE = 3
_TALLY = """
    INSERT INTO order_tallies (book_id, period, day, status, payment_status, channel, store_id,
        is_automated, is_fulfilled, orders, total_amount, remaining_amount, payment_methods,
        paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit,
        paid_by_other, refunded_amount)
    VALUES ($1, $2, $3, $4, 'paid', $5, $6, false, false, $7, $8, 0, 1, $8, 0, 0, 0, 0, 0, 1)
"""
_CHANGE = """
    INSERT INTO order_tally_changes (book_id, day, status, payment_status, channel, store_id,
        is_automated, is_fulfilled, recorded_by_id, tag_ids, orders, total_amount,
        remaining_amount, payment_methods, paid_by_cash)
    VALUES ($1, '2026-05-01', $2, 'paid', 'other', $3, false, false, $1, '{}', 1, 5, 0, 1, 5)
"""
_TOTALS = """
    SELECT status, store_id, orders, total_amount, paid_by_cash, refunded_amount
    FROM order_totals WHERE book_id = $1 ORDER BY status, store_id
"""
Before = tuple[str, asyncpg.Connection, UUID, UUID]


@pytest.fixture
async def before(server_url: str) -> AsyncIterator[Before]:
    """A database of the version before: its address, a book and a store of some tallies."""
    name = f"tillhouse_totals_{uuid4().hex}"
    admin = await asyncpg.connect(server_url)
    await admin.execute(f"CREATE DATABASE {name}")
    url = at_database(server_url, name)
    sql = await asyncpg.connect(url)
    await migrate(sql, up_to=_BEFORE)
    book, store = uuid4(), uuid4()
    tallies: list[tuple[object, ...]] = [
        ("ever", None, "completed", "other", None, 2, Decimal(20)),
        ("ever", None, "completed", "whatsapp", None, 1, Decimal(7)),
        ("ever", None, "completed", "other", store, 3, Decimal(30)),
        ("ever", None, "cancelled", "other", None, 1, Decimal(9)),
        ("month", None, "completed", "other", None, 2, Decimal(20)),
    ]
    for tally in tallies:
        await sql.execute(_TALLY, book, *tally)
    yield url, sql, book, store
    await sql.close()
    await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.close()


async def totals(sql: asyncpg.Connection, book: UUID) -> list[tuple[object, ...]]:
    """The totals of the book."""
    return [tuple(row) for row in await sql.fetch(_TOTALS, book)]


async def test_totals_are_made_of_the_tallies(before: Before) -> None:
    """Of those over all time; changes that wait are added as they are folded."""
    url, sql, book, store = before
    await sql.execute(_CHANGE, book, "completed", store)
    await migrate(sql)
    assert await totals(sql, book) == [
        ("cancelled", None, 1, 9, 9, 1),
        ("completed", store, 3, 30, 30, 1),
        ("completed", None, 3, 27, 27, 2),
    ]
    pool = await Pool.open(url, size=2)
    async with pool.writing_once() as db:
        assert await ORDER_TALLIES.fold(db, 10) == 1
    await pool.close()
    assert (await totals(sql, book))[1] == ("completed", store, 4, 35, 35, 1)


async def test_a_process_of_before_folds_no_more(before: Before) -> None:
    """It would leave the totals out; the changes stay until one of now folds them."""
    _, sql, book, store = before
    await sql.execute(_CHANGE, book, "completed", store)
    await migrate(sql)
    now: LiteralString = ORDER_TALLIES.statement
    then = now.replace("order_tallies_by_kind_key", "order_tallies_kind_key")
    with pytest.raises(asyncpg.UndefinedObjectError, match="order_tallies_kind_key"):
        await sql.fetch(then, 10)
    assert await sql.fetchval("SELECT count(*) FROM order_tally_changes") == 1
