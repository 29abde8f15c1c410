"""Balances are locked in the order of their keys, so that no two statements wait for each other."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any
from uuid import UUID

from tests.ledger.books import EXPENSES, Books
from tests.webhooks.shop import until
from tillhouse.kit.ids import new_id
from tillhouse.ledger.posting import post_all
from tillhouse.ledger.rules import Account, Postings, Transfer
from tillhouse.ledger.store.holds import end_expired

ACCOUNTS = 24
_LOCK = "SELECT FROM ledger_balances WHERE book_id = $1 AND owner_id = $2 FOR UPDATE"
_IS_AWAITED = "SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
_FREE = """
    WITH free AS (
        SELECT owner_id FROM ledger_balances WHERE book_id = $1 AND owner_id <> $2
        FOR UPDATE SKIP LOCKED
    )
    SELECT owner_id FROM free ORDER BY owner_id
"""
# Balances are read as they lie and hashed: another plan, or one kept from earlier, may be in order
# by chance.
_PLAN = """
    SELECT set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('enable_sort', 'off', true), set_config('enable_indexscan', 'off', true),
        set_config('enable_bitmapscan', 'off', true)
"""


def shuffled(owners: list[UUID]) -> list[Account]:
    """Accounts in an order that is not that of their keys."""
    return [Account("customer_credit", owner) for owner in owners[::-2] + owners[::2]]


async def filled(books: Books) -> list[UUID]:
    """The owners of balances with money, in order."""
    owners = sorted(new_id() for _ in range(ACCOUNTS))
    for each in shuffled(owners):
        await books.top_up(10, each)
    return owners


async def moved(books: Books, pairs: list[tuple[Account, Account]]) -> None:
    """Ten from each first account to its second, by one statement."""
    each = [
        (books.source(), Postings((Transfer(debit, credit, Decimal(10), "payment"),)))
        for debit, credit in pairs
    ]
    async with books.services.pool.transaction() as db:
        await db.execute(_PLAN)
        await post_all(db, books.ledger, each)


@asynccontextmanager
async def blocked_at(
    books: Books, owner: UUID, work: Coroutine[Any, Any, None]
) -> AsyncIterator[list[UUID]]:
    """Let the work wait for this one's balance; the owners of those that nobody has locked."""
    async with books.sql.transaction():
        await books.sql.fetch(_LOCK, books.book, owner)
        task = asyncio.create_task(work)
        await until(lambda: books.sql.fetchval(_IS_AWAITED))
        rows = await books.sql.fetch(_FREE, books.book, owner)
        yield [row["owner_id"] for row in rows]
    await task


async def test_a_posting_locks_balances_in_order(books: Books) -> None:
    """When it waits for one, it has locked those before and none behind."""
    owners = await filled(books)
    pairs = [(each, EXPENSES) for each in shuffled(owners)]
    middle = ACCOUNTS // 2
    async with blocked_at(books, owners[middle], moved(books, pairs)) as free:
        assert free == owners[middle + 1 :]
    assert free == owners[middle + 1 :]
    assert await books.faults() == []


async def test_holds_that_expire_lock_balances_in_order(books: Books) -> None:
    """The worker that ends them waits as a posting does."""
    owners = await filled(books)
    for account in shuffled(owners):
        await books.hold(5, lasts=1, account=account)
    books.later(1)
    middle = ACCOUNTS // 2
    async with blocked_at(books, owners[middle], expired(books)) as free:
        assert free == owners[middle + 1 :]
    assert await books.faults() == []


async def expired(books: Books) -> None:
    """End what is due."""
    async with books.services.pool.transaction() as db:
        await db.execute(_PLAN)
        await end_expired(db, books.moment, 1000)
