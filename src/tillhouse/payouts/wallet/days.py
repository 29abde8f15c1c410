"""The change of each wallet by the day, so that a past balance reads few transfers."""

from datetime import timedelta

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.payouts.wallet.store import insert_days

# No transaction takes so long, so that a day which ended before has all of its transfers.
_SETTLED_AFTER = timedelta(hours=1)
_ROWS = 200


async def _sum(db: Db, _job: Job) -> bool:
    """Sum up some days that are over; whether there may be more."""
    return await insert_days(db, (now() - _SETTLED_AFTER).date(), _ROWS) > 0


SUM_DAYS = LocalKind(name="wallet_days", run=_sum, every=timedelta(hours=1))
