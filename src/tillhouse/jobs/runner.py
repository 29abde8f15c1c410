"""Runs jobs: takes one whose book has its turn, does it, and writes the result."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import structlog

from tillhouse.db.connecting import DATABASE_HEALTH, FAILURES
from tillhouse.db.notifier import NotificationListener
from tillhouse.db.pool import Db, Pool
from tillhouse.jobs import store
from tillhouse.jobs.kinds import (
    INSTALLATION,
    REASON_LENGTH_MAX,
    Job,
    Kind,
    LocalKind,
    NewJob,
    OutsideKind,
)
from tillhouse.jobs.turns import BOOKS_AT_ONCE, BookTurn, BookTurns, Slots
from tillhouse.jobs.worker import Worker
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Unavailable

# A worker at rest looks when the next job is due, and so often at least: jobs wake it when they are
# queued, but a notification may be lost.
POLL_S = 5.0
# Another worker holds the due job, or did a moment ago.
AGAIN_S = 1.0
# So often at most, unless nothing else is ready, jobs whose time has come join the lines of their
# books; and so many of a kind at once.
JOINS_EVERY = timedelta(milliseconds=100)
JOIN_AT_ONCE = 1000
# A call outside gets this part of its lease; the rest is for recording the answer.
_ASKING = 0.9
_RECORD_AGAIN_S = 1.0
# A statement of a chore on large tables may take so long: less than makes its worker a stuck one.
CHORE_STATEMENT_S = 100.0
_TROUBLE = (*FAILURES, Unavailable)

# By (kind, result), how many jobs ended so in this process: done, failed, dead.
Results = Counter[tuple[str, str]]

log = structlog.get_logger()


class LeaseLapsedError(Exception):
    """A job isn't begun once more."""

    def __str__(self) -> str:
        """The sentence for people."""
        return "each worker that held the job died, or took longer than its lease"


class _LateError(Exception):
    """Another worker has taken the job: the transaction that records it is undone."""


class JobRunner:
    """Runs the jobs of some kinds in this process, each book in its turn.

    A local job runs within the round that takes it, an outside job beside the rounds.
    """

    def __init__(self, pool: Pool, kinds: Sequence[Kind], results: Results) -> None:
        self._pool = pool
        self._kinds: dict[str, Kind] = {kind.name: kind for kind in kinds}
        if len(self._kinds) < len(kinds):
            raise ValueError("two kinds of jobs have the same name")
        self._turns = BookTurns(self._kinds)
        self._slots = Slots()
        self._results = results
        self._listener = NotificationListener()
        self._under_way: set[asyncio.Task[None]] = set()
        # When jobs joined the lines last; None: at once, for more of them are due.
        self._joined_at: datetime | None = None
        self._has_planned = False
        # Whether the last round found nothing, and how long to rest then.
        self._is_at_rest = False
        self._rest_s = POLL_S

    def worker(self, name: str, poll_s: float = POLL_S, *, hears: bool = True) -> Worker:
        """The worker that runs them while the process lives; `hears`: a wake-up ends its rests."""
        if hears:
            self._pool.notifier.add_listener(self._listener)

        async def do_round() -> bool:
            at = now()
            if hears and self._is_at_rest and not await self._has_due(at):
                return False
            has_begun = await self.begin_next(at)
            self._is_at_rest, self._rest_s = not has_begun, AGAIN_S if hears else poll_s
            return has_begun

        async def wait(timeout_s: float) -> None:
            await self._listener.wait(min(timeout_s, self._rest_s))

        return Worker(name, do_round, poll_s=poll_s, wait=wait, under_way=self._under_way)

    async def run_due(self, at: datetime) -> int:
        """Run all that is due at a moment, to the end; how many jobs were begun."""
        count = 0
        while True:
            # A job that ends during the poll makes room for jobs that the poll passed over.
            was_busy = bool(self._under_way)
            if await self.begin_next(at):
                count += 1
            elif self._under_way:
                await asyncio.wait(self._under_way)
            elif not was_busy:
                return count

    async def begin_next(self, at: datetime) -> bool:
        """Take one job that is due; whether there was one."""
        await self._plan(at)
        if self._joined_at is None or at - self._joined_at >= JOINS_EVERY:
            await self._join_lines(at)
        return await self._begin_ready(at) or (
            await self._join_lines(at) > 0 and await self._begin_ready(at)
        )

    async def _join_lines(self, at: datetime) -> int:
        """Let jobs whose time has come stand in the lines of their books; how many."""
        async with self._pool.writing_once() as db:
            joined = await store.update_ready(db, self._turns.names, at, JOIN_AT_ONCE)
        self._joined_at = at if joined < JOIN_AT_ONCE else None
        return joined

    async def _begin_ready(self, at: datetime) -> bool:
        """Give the next book its turn; False when none has anything, after a look at all."""
        is_whole_round = False
        while True:
            while turn := self._turns.next():
                if await self._begin_turn(turn, at):
                    return True
            if is_whole_round and self._turns.is_at_start:
                return False
            is_whole_round = is_whole_round or self._turns.is_at_start
            names = self._names_with_room()
            if not names:
                return False
            async with self._pool.reading() as db:
                found = await store.list_ready(db, names, self._turns.cursor, BOOKS_AT_ONCE)
            self._turns.fill(found)

    async def _begin_turn(self, turn: BookTurn, at: datetime) -> bool:
        book_id = turn.book_id
        has_room = self._slots.has_room_for
        names = [name for name in turn.kinds if has_room(self._kinds[name], book_id)]
        if not names:
            return False
        job, begun = await self._take(lambda db: store.lock_ready(db, book_id, names, at), at)
        if job is not None and begun is not None:
            self._ask_beside(job.kind, begun)
        return job is not None

    async def _take(
        self, lock: Callable[[Db], Awaitable[Job | None]], at: datetime
    ) -> tuple[Job | None, tuple[Job, Any] | None]:
        """Lock a job, if there is one, and begin it: the job, and what is left to be asked."""
        job, begun = None, None
        try:
            async with self._pool.transaction() as db:
                job = await lock(db)
                if job is not None:
                    begun = await self._begin(db, job, at)
        except Exception as error:
            if job is None:
                raise
            await self._fail(job, job.attempts + 1, error)
        return job, begun

    async def run_now(self, name: str, book_id: UUID, subject_id: UUID, key: str = "") -> None:
        """Run the job of a subject, though it isn't due, unless somebody else has it."""
        _, begun = await self._take(
            lambda db: store.lock_job(db, book_id, name, subject_id, key), now()
        )
        kind = self._kinds[name]
        if begun is not None and isinstance(kind, OutsideKind):
            await self._ask(kind, *begun)

    async def _has_due(self, at: datetime) -> bool:
        """A look in one statement, where beginning a job takes a transaction."""
        async with self._pool.reading() as db:
            due_at = await store.find_next_due(db, self._names_with_room())
        self._rest_s = POLL_S if due_at is None else (due_at - at).total_seconds()
        return self._rest_s <= 0

    def _names_with_room(self) -> list[str]:
        return [name for name in self._turns.names if self._slots.has_room(self._kinds[name])]

    async def _plan(self, at: datetime) -> None:
        """Queue the periodic jobs that no process has queued yet."""
        if self._has_planned:
            return
        periodic = [
            NewJob(book_id=INSTALLATION, kind=kind.name, subject_id=INSTALLATION)
            for kind in self._kinds.values()
            if isinstance(kind, LocalKind) and kind.every is not None
        ]
        if periodic:
            async with self._pool.transaction() as db:
                for new in periodic:
                    await store.queue_job(db, new, at, at)
        self._has_planned = True

    async def _begin(self, db: Db, job: Job, at: datetime) -> tuple[Job, Any] | None:
        """Do a local job, or hold one that asks outside: (the held job, the argument of `run`)."""
        kind = self._kinds[job.kind]
        if isinstance(kind, LocalKind):
            if kind.every is not None:
                await db.allow_slow(CHORE_STATEMENT_S)
            has_more = await kind.run(db, job)
            if has_more:
                await store.update_done(db, job, at, at)
            elif kind.every is not None:
                await store.update_done(db, job, at + kind.every, at)
            else:
                await store.delete_job(db, job)
            self._results[kind.name, "done"] += 1
            return None
        needed = await kind.begin(db, job)
        if needed is None:
            await store.delete_job(db, job)
            return None
        if job.is_lapsed and job.attempts >= kind.retry.attempts_max:
            raise LeaseLapsedError
        await store.update_lease(db, job, at + kind.lease)
        held = msgspec.structs.replace(
            job, generation=job.generation + 1, attempts=job.attempts + 1
        )
        return held, needed

    def _ask_beside(self, name: str, begun: tuple[Job, Any]) -> None:
        kind = self._kinds[name]
        assert isinstance(kind, OutsideKind), "a local job is done by now"  # noqa: S101
        book_id = begun[0].book_id
        self._slots.take(kind, book_id)
        task = asyncio.create_task(self._ask(kind, *begun))
        self._under_way.add(task)

        def end(task: asyncio.Task[None]) -> None:
            self._under_way.discard(task)
            self._slots.give_back(kind, book_id)
            error = None if task.cancelled() else task.exception()
            if error is not None:
                # Its lease ends, and the next worker decides.
                log.warning("job_not_recorded", kind=name, error=type(error).__name__)
            # There is room again, and perhaps more to do.
            self._listener.wake()

        task.add_done_callback(end)

    async def _ask(self, kind: OutsideKind, job: Job, needed: Any) -> None:
        try:
            async with asyncio.timeout(kind.lease.total_seconds() * _ASKING):
                came = await kind.run(needed)
        except Exception as error:  # noqa: BLE001 - the next try may fare better
            await self._fail(job, job.attempts, error)
            return
        try:
            await self._record(kind, job, needed, came)
        except _TROUBLE:
            await asyncio.sleep(_RECORD_AGAIN_S)
            await self._record(kind, job, needed, came)

    async def _record(self, kind: OutsideKind, job: Job, needed: Any, came: Any) -> None:
        try:
            async with self._pool.transaction() as db:
                again = await kind.record(db, job, needed, came)
                if again is not None:
                    await self._put_back(db, job, job.attempts, again.reason)
                else:
                    await _end(db, job)
        except _LateError:
            log.warning("job_result_late", kind=kind.name, job=str(job.id))
            if kind.record_late is not None:
                async with self._pool.transaction() as db:
                    await kind.record_late(db, job, needed, came)
        else:
            if again is None:
                self._results[kind.name, "done"] += 1

    async def _fail(self, job: Job, attempts: int, error: Exception) -> None:
        """Put a job back that raised, in a transaction of its own."""
        reason = _told(error)
        is_expected = isinstance(error, (*_TROUBLE, LeaseLapsedError, TimeoutError))
        (log.debug if DATABASE_HEALTH.is_told(error) else log.warning)(
            "job_failed", kind=job.kind, job=str(job.id), attempts=attempts, reason=reason,
            exc_info=None if is_expected else error,
        )  # fmt: skip
        try:
            async with self._pool.transaction() as db:
                await self._put_back(db, job, attempts, reason)
        except _LateError:
            log.warning("job_result_late", kind=job.kind, job=str(job.id))

    async def _put_back(self, db: Db, job: Job, attempts: int, reason: str) -> None:
        """Let it be due later, or die; it must still be held."""
        kind, at = self._kinds[job.kind], now()
        wait, is_dead = kind.retry.delay(attempts), attempts >= kind.retry.attempts_max
        if isinstance(kind, LocalKind) and kind.every is not None:
            wait, is_dead = min(wait, kind.every), False
        failure = store.Failure(
            attempts=attempts, due_at=at + wait, dead_at=at if is_dead else None, reason=reason
        )
        if not await store.update_failed(db, job, failure):
            raise _LateError
        if is_dead and kind.give_up is not None:
            await kind.give_up(db, job, reason)
        self._results[kind.name, "dead" if is_dead else "failed"] += 1
        if is_dead:
            log.error("job_given_up", kind=kind.name, job=str(job.id), reason=reason)


async def _end(db: Db, job: Job) -> None:
    if not await store.delete_job(db, job):
        raise _LateError


def _told(error: Exception) -> str:
    """The reason for people: one line, storable, not too long."""
    words = " ".join(f"{type(error).__name__}: {error}".split())
    cleaned = words.replace("\x00", "").encode("utf-8", "replace").decode()
    return cleaned.rstrip(": ")[:REASON_LENGTH_MAX]


def workers_for(pool: Pool, kinds: Sequence[Kind], results: Results) -> list[Worker]:
    """The workers of these jobs in one process.

    A chore may take long over a large table, and a server outside may hang: neither holds
    up the jobs of books.
    """
    local = [kind for kind in kinds if isinstance(kind, LocalKind)]
    chores = [kind for kind in local if kind.every is not None]
    of_books = [kind for kind in local if kind.every is None]
    outside = [kind for kind in kinds if isinstance(kind, OutsideKind)]
    return [
        JobRunner(pool, some, results).worker(name)
        for name, some in (("jobs", of_books), ("chores", chores), ("outside jobs", outside))
        if some
    ]
