"""Connections: a pool, and the lazy `Db` handles that requests and workers hold.

A `Db` takes a connection at its first statement and not before, so that a request which
needs none (a bad body, a health check) costs none.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, LiteralString, Self
from uuid import UUID

import asyncpg

from tillhouse.db.connecting import (
    CANNOT_CONNECT,
    DATABASE_HEALTH,
    FAIL_FAST,
    FAILURES,
    KEPT_PLANS,
    LOST,
    PATIENT,
    SESSION_SETTINGS,
    connect_alone,
)
from tillhouse.db.connections import Connection, Connections
from tillhouse.db.notifier import ANY_BOOK, CHANNEL, EVENTS_CHANNEL, JOBS, WORKING, Notifier
from tillhouse.kit.errors import Unavailable

# Notifications of events go out only while somebody follows, in whatever process.
_NOTIFY: dict[str, LiteralString] = {
    CHANNEL: "SELECT pg_notify('tillhouse_work', $1)",
    JOBS: "SELECT pg_notify('tillhouse_jobs', $1)",
    EVENTS_CHANNEL: """
        SELECT pg_notify('tillhouse_news', $1) WHERE EXISTS (
            SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'tillhouse stream')
    """,
}
_ANSWER_LATER_S = 2.0
ACQUIRE_TIMEOUT_S = 4.0
RELEASED_WITHIN_S = 2.0
CLOSED_WITHIN_S = 2.0
# A server that is away or coming back is not asked again for this long: every try costs it a new
# process, and thousands of them a second would keep it from recovering.
AWAY_S = 0.1


class Db:
    """Statements on one connection: autocommitted, or in one transaction when `write`.

    Where the commit follows at once (`commits_next`), a write may be one statement without a
    transaction around it: `read_before` reads the facts that it rests on, `write_once` writes. That
    saves two round trips, and no other request waits at its locks meanwhile.
    """

    __slots__ = (
        "_commits_next",
        "_connection",
        "_event_books",
        "_fails_fast",
        "_held",
        "_is_over",
        "_pool",
        "_timeout_s",
        "queues_jobs",
        "queues_work",
        "write",
    )  # fmt: skip

    _connection: Any
    _held: Any

    def __init__(
        self, pool: "Pool", *, write: bool, commits_next: bool = False, fails_fast: bool = False
    ) -> None:
        self._pool = pool
        # A connection is held before statements can be sent on it: a write begins a transaction.
        self._held = None
        self._connection = None
        self._commits_next = commits_next
        self._fails_fast = fails_fast
        self._is_over = False
        # How long the client waits for each answer; None: as long as its pool says.
        self._timeout_s: float | None = None
        self.write = write
        # Set when work is queued: the commit then wakes the workers.
        self.queues_work = False
        # The books whose events are written: the commit then wakes their followers.
        self._event_books: set[UUID] = set()
        # Set when a job is queued that is due.
        self.queues_jobs = False

    def note_events(self, book_id: UUID) -> None:
        """Note that events of a book are written: the commit wakes its followers."""
        self._event_books.add(book_id)

    async def fetch(self, sql: LiteralString, *args: object) -> Sequence[asyncpg.Record]:
        """All rows."""
        connection = self._connection or await self._open()
        self._pool.statements += 1
        return await connection.fetch(sql, *args, timeout=self._timeout_s)

    async def fetchrow(self, sql: LiteralString, *args: object) -> asyncpg.Record | None:
        """The first row, or None."""
        connection = self._connection or await self._open()
        self._pool.statements += 1
        return await connection.fetchrow(sql, *args, timeout=self._timeout_s)

    async def fetchval(self, sql: LiteralString, *args: object) -> Any:
        """The first column of the first row, or None."""
        connection = self._connection or await self._open()
        self._pool.statements += 1
        return await connection.fetchval(sql, *args, timeout=self._timeout_s)

    async def execute(self, sql: LiteralString, *args: object) -> str:
        """Run a statement and drop its rows."""
        connection = self._connection or await self._open()
        self._pool.statements += 1
        return await connection.execute(sql, *args, timeout=self._timeout_s)

    async def execute_one(self, sql: LiteralString, *args: object) -> bool:
        """Run a statement on one row, and drop it; False: there was none."""
        return (await self.execute(sql, *args)).endswith(" 1")

    async def allow_slow(self, seconds: float) -> None:
        """Let each further statement of this transaction take so long."""
        await self.execute("SELECT set_config('statement_timeout', $1, true)", f"{seconds:.0f}s")
        self._timeout_s = seconds + _ANSWER_LATER_S

    @property
    def can_write_once(self) -> bool:
        """Whether one statement may yet be all that is written."""
        return self._commits_next and self._connection is None and not self._is_over

    async def read_before(self, sql: LiteralString, *args: object) -> asyncpg.Record | None:
        """A row that is read without locks: before the transaction, if it hasn't begun."""
        connection = self._connection
        if connection is None:
            connection = await (self._hold() if self._commits_next else self._open())
        self._pool.statements += 1
        return await connection.fetchrow(sql, *args)

    async def write_once(self, sql: LiteralString, *args: object) -> asyncpg.Record | None:
        """Run the one statement that writes; it is lasting when this returns."""
        if not self.can_write_once:
            raise RuntimeError("A transaction has begun, may go on, or is over.")
        connection = await self._hold()
        self._pool.statements += 1
        row = await connection.fetchrow(sql, *args)
        self._is_over = True
        return row

    def end(self) -> None:
        """Note that another handle has made the write lasting: nothing may follow."""
        self._is_over = True

    async def _open(self) -> Any:
        if self._is_over:
            raise RuntimeError("What was written is lasting already: nothing may follow.")
        is_held = self._held is not None
        connection = self._connection = await self._hold()
        if self.write:
            try:
                await connection.execute("BEGIN")
            except LOST:
                # A handle that has read may not go on: its caller knows the rows that it has read.
                if is_held:
                    raise
                connection = await self._begin_on_another()
        return connection

    async def _begin_on_another(self) -> Any:
        """Begin again after a connection that died while it lay in the pool; more may have."""
        for _ in range(self._pool.writers):
            with suppress(*LOST):
                self._connection.terminate()
            await self.release()
            connection = self._connection = await self._hold()
            with suppress(*LOST):
                await connection.execute("BEGIN")
                return connection
        raise Unavailable(retry_after_s=1)

    async def _hold(self) -> Any:
        if self._held is None:
            self._held = await self._pool.acquire(write=self.write, fails_fast=self._fails_fast)
        return self._held

    async def commit(self) -> None:
        """Commit the writes and give the connection back."""
        if self._connection is not None and self.write:
            await self._connection.execute("COMMIT")
            self._is_over = True
            if DATABASE_HEALTH.is_away:
                DATABASE_HEALTH.note_answered()
            if DATABASE_HEALTH.is_full:
                DATABASE_HEALTH.note_written()
        if self._is_over:
            if self.queues_work:
                self._pool.notifier.notify_work(self._event_books)
            elif self._event_books:
                self._pool.notifier.notify_followers(self._event_books)
            if self.queues_jobs:
                self._pool.notifier.notify_jobs()
        await self.release()

    async def rollback(self) -> None:
        """Undo the writes and give the connection back."""
        connection, began_s = self._connection, time.monotonic()
        try:
            if connection is not None and self.write:
                # A connection that died refuses every word.
                await connection.execute("ROLLBACK", timeout=RELEASED_WITHIN_S)
        except FAILURES as error:
            if isinstance(error, TimeoutError):
                DATABASE_HEALTH.note_silent(error, began_s)
            with suppress(*FAILURES):
                self._held.terminate()
        finally:
            await self.release()

    async def release(self) -> None:
        """Give the connection back."""
        connection, self._held, self._connection = self._held, None, None
        if connection is not None:
            await self._pool.release(connection, write=self.write, fails_fast=self._fails_fast)


class Pool:
    """The connections of one process: for reads, for writes, and for shared statements.

    They differ in how long they keep a plan and how long they wait for a lock; and slow lists
    never stand in the way of sales.
    """

    def __init__(
        self, reads: Connections, writes: Connections, fail_fast: Connections, url: str
    ) -> None:
        self._reads, self._writes, self._fail_fast, self._url = reads, writes, fail_fast, url
        # Statements sent so far, BEGIN and COMMIT left out: a metric, and the tests' budgets.
        self.statements = 0
        self.notifier = Notifier()
        self._away_until = 0.0

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        size: int = 16,
        fail_fast: int = 0,
        planner: Mapping[str, str] | None = None,
        is_patient: bool = False,
    ) -> Self:
        """Connect; at least one connection must answer. `planner` adds settings of the planner.

        A patient pool waits for a statement as long as it takes: for commands, never for requests.

        `fail_fast` of them wait for no lock; of the others, half are for reads and half for writes.
        Without any that fail fast, writes take their part.
        """
        given = {**(planner or {}), **(PATIENT if is_patient else {})}
        if size == 1:
            inner = await Connections.open(url, size, given)
            return cls(inner, inner, inner, url)
        kept, others = {**given, **KEPT_PLANS}, size - fail_fast
        writes = await Connections.open(url, others // 2, kept)
        reads = await Connections.open(url, others - others // 2, given)
        if not fail_fast:
            return cls(reads, writes, writes, url)
        failing_fast = {**kept, **FAIL_FAST}
        return cls(reads, writes, await Connections.open(url, fail_fast, failing_fast), url)

    async def beside(self, *, size: int, planner: Mapping[str, str]) -> "Pool":
        """A second pool on the same database, for a worker; the same notifier wakes both."""
        pool = await Pool.open(self._url, size=size, planner=planner)
        pool.notifier = self.notifier
        return pool

    async def acquire(self, *, write: bool = False, fails_fast: bool = False) -> Connection:
        """One connection, within some seconds or not at all."""
        inner = self._inner(write=write, fails_fast=fails_fast)
        idle = inner.take_idle()
        found = idle or await self._wait(inner)
        if DATABASE_HEALTH.is_away:
            DATABASE_HEALTH.note_connected(is_new=idle is None)
        return found

    async def _wait(self, inner: Connections) -> Connection:
        began_s = time.monotonic()
        if began_s < self._away_until:
            raise Unavailable(retry_after_s=1)
        try:
            async with asyncio.timeout(ACQUIRE_TIMEOUT_S):
                return await inner.take()
        except TimeoutError as error:
            # Not all of them are open: it was a new one that was waited for.
            if inner.count < inner.size:
                DATABASE_HEALTH.note_silent(error, began_s)
            raise Unavailable(retry_after_s=1) from error
        except CANNOT_CONNECT as error:
            self._away_until = time.monotonic() + AWAY_S
            DATABASE_HEALTH.note_away(error)
            raise

    async def release(
        self, connection: Connection, *, write: bool = False, fails_fast: bool = False
    ) -> None:
        """Take a connection back."""
        began_s = time.monotonic()
        try:
            # One whose statement was given up is closed when the server doesn't confirm that.
            inner = self._inner(write=write, fails_fast=fails_fast)
            await inner.give_back(connection, RELEASED_WITHIN_S)
        except TimeoutError as error:
            DATABASE_HEALTH.note_silent(error, began_s)

    def _inner(self, *, write: bool, fails_fast: bool) -> Connections:
        if fails_fast:
            return self._fail_fast
        return self._writes if write else self._reads

    async def dedicated(self, name: str = WORKING) -> asyncpg.Connection:
        """A connection outside the pool, for its owner to close; known by this name."""
        settings = {**SESSION_SETTINGS, "application_name": name}
        return await connect_alone(self._url, settings)

    async def notify(self, channel: str = CHANNEL, books: str = ANY_BOOK) -> bool:
        """Wake the listeners in other processes; False when there are none."""
        connection = await self.acquire()
        try:
            return await connection.execute(_NOTIFY[channel], books) != "SELECT 0"
        finally:
            await self.release(connection)

    def reader(self) -> Db:
        """A handle for reads, each statement on its own."""
        return Db(self, write=False)

    def writer(self, *, commits_next: bool = False, fails_fast: bool = False) -> Db:
        """A handle whose statements are one transaction; the holder commits or rolls back."""
        return Db(self, write=True, commits_next=commits_next, fails_fast=fails_fast)

    def transaction(self) -> AbstractAsyncContextManager[Db]:
        """One transaction around a block: for workers and commands, not for requests."""
        return _committed(self.writer())

    def writing_once(self) -> AbstractAsyncContextManager[Db]:
        """One statement that writes, committed by itself: `write_once` is all of the block."""
        return _committed(self.writer(commits_next=True))

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Db]:
        """Reads around a block."""
        db = self.reader()
        try:
            yield db
        finally:
            await db.release()

    @property
    def readers(self) -> int:
        """How many reads there can be at once."""
        return self._reads.size

    @property
    def writers(self) -> int:
        """How many transactions there can be at once."""
        return self._writes.size

    def usage(self) -> tuple[int, int]:
        """Connections in use and open: for metrics."""
        inners = self._inners()
        return sum(one.lent for one in inners), sum(one.count for one in inners)

    async def close(self) -> None:
        """Close every connection, waiting a moment for those in use."""
        inners = self._inners()
        try:
            async with asyncio.timeout(CLOSED_WITHIN_S):
                await asyncio.gather(*(inner.close() for inner in inners))
        except TimeoutError:
            for inner in inners:
                inner.terminate()

    def _inners(self) -> set[Connections]:
        return {self._reads, self._writes, self._fail_fast}


@asynccontextmanager
async def _committed(db: Db) -> AsyncIterator[Db]:
    try:
        yield db
        await db.commit()
    except BaseException:
        await db.rollback()
        raise
