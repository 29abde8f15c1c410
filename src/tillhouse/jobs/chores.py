"""Chores of every installation: sums are folded, dead jobs forgotten, all books walked through."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from uuid import UUID

from tillhouse.db.folding import Folding
from tillhouse.db.pool import Db, Pool
from tillhouse.jobs import store
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.jobs.store import delete_dead
from tillhouse.jobs.worker import Worker
from tillhouse.kit.clock import now

# Changes that gather for so long share the rows that they are folded into. A list sums them up
# besides: a few thousand cost it a millisecond.
FOLD_EVERY_S = 5.0
FOLDED_AT_ONCE = 5_000
# For so long it can be read why a job died.
DEAD_KEPT_FOR = timedelta(days=30)
_DEAD_AT_ONCE = 1000
BOOKS_AT_ONCE = 500
_FIRST = UUID(int=0)

# Works for some books; returns whether more is left of these very books.
Works = Callable[[Db, Sequence[UUID]], Awaitable[bool]]


def folding_worker(pool: Pool, foldings: Sequence[Folding]) -> Worker:
    """The worker that folds all sums in one process, some changes of each kind in turn."""

    async def do_round() -> bool:
        counts = [await _fold_some(pool, folding, FOLDED_AT_ONCE) for folding in foldings]
        return max(counts, default=0) == FOLDED_AT_ONCE

    return Worker("tallies", do_round, poll_s=FOLD_EVERY_S)


async def fold(pool: Pool, folding: Folding, at_once: int = FOLDED_AT_ONCE) -> int:
    """Fold the changes of a kind that there are now; how many they were."""
    folded = 0
    while (count := await _fold_some(pool, folding, at_once)) == at_once:
        folded += count
    return folded + count


async def _fold_some(pool: Pool, folding: Folding, at_once: int) -> int:
    async with pool.writing_once() as db:
        return await folding.fold(db, at_once)


async def _sweep_dead(db: Db, _job: Job) -> bool:
    """Forget some of those that died long ago; whether there may be more."""
    return await delete_dead(db, now() - DEAD_KEPT_FOR, _DEAD_AT_ONCE) == _DEAD_AT_ONCE


SWEEP_DEAD = LocalKind(name="dead_jobs", run=_sweep_dead, every=timedelta(hours=1))


async def walk(work: Works, db: Db, job: Job, at_once: int = BOOKS_AT_ONCE) -> bool:
    """Work for the next books; whether some are left of them, or more come after them.

    A chore of the installation reads as much at once however many books there are. Its position is
    kept in its own row of the queue, so that a restart goes on where the last one was.
    """
    position = UUID(bytes=job.payload) if job.payload else _FIRST
    books = await store.list_books_after(db, position, at_once)
    if await work(db, books):
        return True
    is_over = len(books) < at_once
    await store.update_payload(db, job, None if is_over else books[-1].bytes)
    return not is_over
