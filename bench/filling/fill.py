"""The filling itself: batch after batch, each a transaction, two under way at any time.

While PostgreSQL writes two batches on two connections, the next one is made. They are committed
in order, so that what is there is always the beginning of the plan.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import asyncpg
import msgspec

from bench.filling import people, plan, store
from bench.filling.plan import Plan, Timetable
from bench.filling.rows import COLUMNS, Batch, Row, RowWriter
from bench.filling.sale import SaleMaker
from bench.filling.shop import Shop
from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.cli.output import CommandError
from tillhouse.cli.rows import Bar, Steps
from tillhouse.customers.store import insert_customers
from tillhouse.db.folding import Folding
from tillhouse.db.pool import Pool
from tillhouse.jobs.chores import fold
from tillhouse.kit.clock import now
from tillhouse.kit.ids import short_code
from tillhouse.ledger.store.sums import ACCOUNT_TALLIES, TRANSACTION_TALLIES, insert_days
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES

# Small enough for a statement's time limit on a slow disk, large enough to be quick.
BATCH = 2_000
# How many are written at once: COPY is one process of PostgreSQL's for each connection.
_WRITERS = 2
# An API that opens the same customer's account meanwhile makes a batch's be opened anew.
_TRIES = 3
# The tallies' changes of so many batches are folded together: what they share is written once.
_FOLDED = 10
# Debts are counted in slots, and two connections may share one: who waits for another's slot
# must not be waited for, so they are written in the order of the commits.
_IN_TURN = ("debts",)
_AT_ONCE = [name for name in COLUMNS if name not in ("ledger_accounts", *_IN_TURN)]
_SWITCH_S = 0.0005
_CODE = COLUMNS["orders"].index("short_code")
_PLANNED = (
    "orders", "order_items", "order_tallies", "order_tallies_in_detail", "order_tally_changes",
    "ledger_accounts", "ledger_sums", "ledger_tallies", "ledger_transfers", "transactions",
    "payments", "refunds", "debts", "customers",
    "customer_tallies", "products", "variants", "stores", "tags",
)  # fmt: skip


class Filled(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The counts now, and those that this run added."""

    orders: int
    added: int
    seconds: float


async def fill(
    services: Services, call: Call, shop: Shop, wanted: int, batch: int = BATCH
) -> Filled:
    """Bring the filled-in orders of a book up to the wanted number, so many to a batch."""
    began = time.monotonic()
    # The thread that makes the next batch mustn't keep the one that feeds PostgreSQL waiting.
    sys.setswitchinterval(_SWITCH_S)
    connections = [await services.pool.dedicated() for _ in range(_WRITERS + 1)]
    for connection in connections:
        # COPY of records takes binary numbers alone.
        await connection.reset_type_codec("numeric", schema="pg_catalog")
    try:
        await _only_one(connections[0], shop.book_id)
        async with services.pool.reading() as db:
            last = await store.find_last_key(db, shop.book_id)
        there = plan.Plan.of_key(last)[0] + 1 if last else 0
        added = 0
        with Bar("Filling in orders", max(wanted - there, 0)) as done:
            for number, one in enumerate(plan.plans(last, wanted, call.now)):
                first = there if number == 0 else one.first
                added += await _Filler(services, connections, shop, one, batch).run(first, done)
        if added:
            await connections[0].execute("SET statement_timeout = '10min'")
            await connections[0].execute(f"ANALYZE {', '.join(_PLANNED)}")
    finally:
        for connection in connections:
            await connection.close()
    seconds = round(time.monotonic() - began, 1)
    return Filled(orders=there + added, added=added, seconds=seconds)


async def _only_one(connection: asyncpg.Connection, book_id: UUID) -> None:
    """Held until the connection closes."""
    lock = "SELECT pg_try_advisory_lock(hashtextextended($1, 0))"
    if not await connection.fetchval(lock, f"filling {book_id}"):
        raise CommandError("The demo business is being filled already: wait until that is done.")


class _Filler:
    """Carries one plan out."""

    def __init__(
        self,
        services: Services,
        connections: list[asyncpg.Connection],
        shop: Shop,
        what: Plan,
        size: int,
    ) -> None:
        trade = shop.facts.trade
        self._size = size
        self._services = services
        self._opener, *self._connections = connections
        self._shop = shop
        self._plan = what
        self._sales = SaleMaker(shop, what, Timetable(what.at, ZoneInfo(trade.time_zone)))
        self._writer = RowWriter(shop.book_id, trade.currency, what)
        self._accounts: set[tuple[str, UUID]] = set()

    async def run(self, first: int, done: Steps) -> int:
        """Write every order from this number on."""
        size = self._size
        await self._know_accounts()
        writing: list[asyncio.Task[None]] = []
        folding: list[asyncio.Task[int]] = []
        starts = range(first, self._plan.end, size)
        making = self._make(starts[0]) if starts else None
        try:
            for number, start in enumerate(starts):
                assert making is not None
                batch = await making
                making = self._make(start + size) if start + size < self._plan.end else None
                await self._prepare(batch, start)
                if len(writing) == _WRITERS:
                    await writing.pop(0)
                connection = self._connections[number % _WRITERS]
                before = writing[-1] if writing else None
                writing.append(asyncio.create_task(_write(connection, batch.rows, before)))
                done(len(batch.codes))
                if number % _FOLDED == 0:
                    await _all(folding)
                    folding = [asyncio.create_task(self._fold(ORDER_TALLIES, size))]
            await _all(writing)
            await _all(folding)
        finally:
            for one in (*writing, *folding):
                one.cancel()
            await asyncio.gather(*writing, *folding, return_exceptions=True)
        for tallies in (ORDER_TALLIES, TRANSACTION_TALLIES, ACCOUNT_TALLIES):
            await self._fold(tallies, size)
        await self._sum_days()
        return self._plan.end - first

    async def _fold(self, tallies: Folding, size: int) -> int:
        return await fold(self._services.pool, tallies, _FOLDED * size)

    async def _sum_days(self) -> None:
        """Sum up the days that are over, as the hourly chore of the ledger does."""
        async with self._services.pool.transaction() as db:
            await store.delete_sums(db, self._shop.book_id)
        while True:
            async with self._services.pool.writing_once() as db:
                if not await insert_days(db, [self._shop.book_id], now().date(), 1):
                    return

    def _end_of(self, start: int) -> int:
        return min(start + self._size, self._plan.end)

    def _make(self, start: int) -> asyncio.Task[Batch]:
        """Make a batch in a thread: PostgreSQL writes others meanwhile."""
        numbers = range(start, self._end_of(start))

        def make() -> Batch:
            return self._writer.batch(map(self._sales.sale, numbers))

        return asyncio.create_task(asyncio.to_thread(make))

    async def _prepare(self, batch: Batch, start: int) -> None:
        """The rows that a batch refers to are visible to both connections before it is written."""
        book = self._shop.book_id
        numbers = range(people.count(start), people.count(self._end_of(start)))
        ids: list[UUID] = [people.customer_id(book, number) for number in numbers]
        contacts = [people.contact(book, number) for number in numbers]
        moment = self._sales.sale(start).at
        async with self._services.pool.transaction() as db:
            await insert_customers(db, book, ids, contacts, moment)
        await self._open_accounts(batch, moment)
        await self._part_codes(batch)

    async def _open_accounts(self, batch: Batch, moment: datetime) -> None:
        book, currency = self._shop.book_id, self._shop.facts.trade.currency
        for left in reversed(range(_TRIES)):
            fresh = sorted(batch.accounts - self._accounts)
            rows = [(book, kind, owner, currency, moment) for kind, owner in fresh]
            try:
                await _copy(self._opener, "ledger_accounts", rows)
            except asyncpg.UniqueViolationError:
                if not left:
                    raise
                await self._know_accounts()
            else:
                self._accounts.update(fresh)
                return

    async def _know_accounts(self) -> None:
        async with self._services.pool.reading() as db:
            rows = await store.list_accounts(db, self._shop.book_id)
        self._accounts = {(row["kind"], row["owner_id"]) for row in rows}

    async def _part_codes(self, batch: Batch) -> None:
        """Give those another code whose own was drawn by somebody else."""
        for place in await _taken(self._services.pool, self._shop.book_id, batch.codes):
            row = list(batch.rows["orders"][place])
            row[_CODE] = short_code()
            batch.rows["orders"][place] = tuple(row)


async def _all(tasks: Sequence[Awaitable[Any]]) -> None:
    for one in tasks:
        await one


async def _taken(pool: Pool, book_id: UUID, codes: list[str]) -> list[int]:
    async with pool.reading() as db:
        taken = await store.list_codes(db, book_id, codes)
    return [place for place, code in enumerate(codes) if code in taken]


async def _write(
    connection: asyncpg.Connection, rows: dict[str, list[Row]], before: Awaitable[None] | None
) -> None:
    """Write a batch, and commit it once the one before is there."""
    async with connection.transaction():
        for table in _AT_ONCE:
            await _copy(connection, table, rows[table])
        if before is not None:
            await before
        for table in _IN_TURN:
            await _copy(connection, table, rows[table])


async def _copy(connection: asyncpg.Connection, table: str, rows: Sequence[Any]) -> None:
    if rows:
        columns = list(COLUMNS[table])
        await connection.copy_records_to_table(table, records=rows, columns=columns)
