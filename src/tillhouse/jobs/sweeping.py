"""Dead jobs are kept for a while, so that somebody can read why they died."""

from datetime import timedelta

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.jobs.store import delete_dead
from tillhouse.kit.clock import now

KEPT_FOR = timedelta(days=30)
_ROWS = 1000


async def sweep(db: Db, _job: Job) -> bool:
    """Forget some of those that died long ago; whether there may be more."""
    return await delete_dead(db, now() - KEPT_FOR, _ROWS) == _ROWS


SWEEP = LocalKind(name="dead_jobs", run=sweep, every=timedelta(hours=1))
