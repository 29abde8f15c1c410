"""The change of each wallet by the day, so that a past balance reads few transfers."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import LocalKind
from tillhouse.jobs.walking import walk
from tillhouse.kit.clock import now
from tillhouse.payouts.wallet.store import insert_days

# No transaction takes so long, so that a day which ended before has all of its transfers.
_SETTLED_AFTER = timedelta(hours=1)
_ROWS = 200


async def _sum(db: Db, books: Sequence[UUID]) -> bool:
    """Sum up some days of these books that are over; whether there may be more."""
    return await insert_days(db, books, (now() - _SETTLED_AFTER).date(), _ROWS) > 0


SUM_DAYS = LocalKind(name="wallet_days", run=partial(walk, _sum), every=timedelta(hours=1))
