"""A chore walks through all books: some at a time, each once, and on from where it was."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from tests.explaining import pages_read, plan_of, scanned
from tests.jobs.desk import Desk
from tests.jobs.test_turns import runner
from tests.waiting import ended
from tillhouse.db.pool import Db
from tillhouse.jobs.chores import BOOKS_AT_ONCE, walk
from tillhouse.jobs.kinds import LocalKind
from tillhouse.jobs.store import list_books_after
from tillhouse.kit.clock import now
from tillhouse.ledger.store.sums import insert_days as insert_ledger_days
from tillhouse.messaging.storage import store as messages
from tillhouse.orders.storage.store import add_new_orders
from tillhouse.payouts.wallet.store import insert_days as insert_wallet_days

HOUR = timedelta(hours=1)
# Pages of indexes for each of the books: a few levels of a few of them.
PAGES_OF_A_BOOK = 12


@asynccontextmanager
async def shelf(desk: Desk, count: int) -> AsyncIterator[list[UUID]]:
    """So many books without a business, as long as the block lasts, in the order of their ids."""
    ids = [UUID(int=number << 64) for number in range(1, count + 1)]
    await desk.sql.execute("SET session_replication_role = replica")
    await desk.sql.execute(
        "INSERT INTO books (id, business_id, environment) "
        "SELECT id, new_id(now()), 'test' FROM unnest($1::uuid[]) AS id",
        ids,
    )
    await desk.sql.execute("ANALYZE books")
    try:
        yield ids
    finally:
        await desk.sql.execute("DELETE FROM books WHERE id = ANY($1)", ids)
        await desk.sql.execute("SET session_replication_role = origin")


class Visits:
    """The books that a chore was given, turn by turn; it fails at one turn, and lingers at one."""

    def __init__(self, fails_at: int, lingers_at: int) -> None:
        self.turns: list[list[UUID]] = []
        self.at = 0
        self._fails_at, self._lingers_at = fails_at, lingers_at

    async def work(self, _db: Db, books: Sequence[UUID]) -> bool:
        """Note the books; whether some of them need another turn."""
        self.at += 1
        if self.at == self._fails_at:
            raise ZeroDivisionError
        self.turns.append([*books])
        return self.at == self._lingers_at


async def test_a_walk_goes_on_where_it_was(desk: Desk) -> None:
    """Three books at a time; after a failure with the same, at its end from the beginning."""
    visits = Visits(fails_at=2, lingers_at=3)
    kind = LocalKind(name="walked", run=partial(walk, visits.work, at_once=3), every=HOUR)
    async with shelf(desk, 7) as books:
        await ended(runner(desk, kind).run_due(now()))
        assert visits.turns == [books[:3]]
        await ended(runner(desk, kind).run_due(now() + HOUR))
        assert visits.turns[1:] == [books[3:6], books[3:6], books[6:]]
        await ended(runner(desk, kind).run_due(now() + HOUR))
        assert len(visits.turns) == 4
        await ended(runner(desk, kind).run_due(now() + 3 * HOUR))
        assert visits.turns[4:] == [books[:3], books[3:6], books[6:]]


def _chores(books: list[UUID]) -> dict[str, Callable[[Any], Awaitable[object]]]:
    at = now()
    return {
        "ledger": lambda db: insert_ledger_days(db, books, at.date(), 20),
        "wallet": lambda db: insert_wallet_days(db, books, at.date(), 200),
        "orders": lambda db: add_new_orders(db, books, at, 5000),
        "count": lambda db: messages.add_new_messages(db, books, at, 5000),
        "old": lambda db: messages.delete_old_messages(db, books, at, 1000),
        "empty": lambda db: messages.delete_empty_conversations(db, books, at, 1000),
    }


@pytest.mark.parametrize("chore", [*_chores([])])
async def test_a_turn_costs_what_its_books_cost(desk: Desk, chore: str) -> None:
    """Beside twenty thousand others: no table is read from end to end, few pages of indexes are."""
    async with shelf(desk, 20_000) as books:
        turn = await plan_of(desk.sql, lambda db: list_books_after(db, books[9_000], 500))  # type: ignore[arg-type]
        assert not [*scanned(turn)]
        assert pages_read(turn) <= 30
        some = books[9_000 : 9_000 + BOOKS_AT_ONCE]
        plan = await plan_of(desk.sql, _chores(some)[chore])  # type: ignore[arg-type]
        assert "books" not in scanned(plan)
        assert pages_read(plan) <= PAGES_OF_A_BOOK * BOOKS_AT_ONCE
