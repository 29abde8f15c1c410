"""Folding: changes that were gathered, row by row, become part of the sums that lists read.

Adding a row makes nobody wait, and no statement can forget to count; the sums are made up here.
"""

from collections.abc import Awaitable, Callable

from tillhouse.db.pool import Db, Pool
from tillhouse.jobs.worker import Worker

# Changes that gather for so long share the rows that they are folded into. A list sums them up
# besides: a few thousand cost it a millisecond.
FOLD_EVERY_S = 5.0
FOLDED_AT_ONCE = 5_000

# Folds at most so many changes and returns how many they were.
Update = Callable[[Db, int], Awaitable[int]]


def folding_worker(name: str, pool: Pool, update: Update) -> Worker:
    """The worker that folds one kind of sums in one process."""

    async def do_round() -> bool:
        await fold(pool, update)
        return False

    return Worker(name, do_round, poll_s=FOLD_EVERY_S)


async def fold(pool: Pool, update: Update, at_once: int = FOLDED_AT_ONCE) -> int:
    """Fold the changes that there are now; how many they were."""
    folded = 0
    while True:
        async with pool.writing_once() as db:
            count = await update(db, at_once)
        folded += count
        if count < at_once:
            return folded
