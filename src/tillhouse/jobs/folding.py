"""The worker that folds changes into the sums that lists read."""

from collections.abc import Sequence

from tillhouse.db.folding import Folding
from tillhouse.db.pool import Pool
from tillhouse.jobs.worker import Worker

# Changes that gather for so long share the rows that they are folded into. A list sums them up
# besides: a few thousand cost it a millisecond.
FOLD_EVERY_S = 5.0
FOLDED_AT_ONCE = 5_000


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
