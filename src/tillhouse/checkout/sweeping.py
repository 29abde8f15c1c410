"""Links whose time is over are told so in their rows; they read so before."""

from datetime import timedelta

from tillhouse.checkout.store.links import update_expired
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now

_ROWS = 500


async def _expire(db: Db, _job: Job) -> bool:
    """Expire some; whether there may be more."""
    expired = await update_expired(db, now(), _ROWS)
    # Open pages of these links are told.
    for row in expired:
        db.note_events(row["book_id"])
    return len(expired) == _ROWS


EXPIRE = LocalKind(name="payment_links_expire", run=_expire, every=timedelta(minutes=1))
