"""Counts of logins, sessions, invitations and links that are over are forgotten after a while."""

from datetime import timedelta

from tillhouse.access.attempt_rules import LOCKED_FOR
from tillhouse.access.store import attempts as store
from tillhouse.accounts.forgotten.store import delete_old_links
from tillhouse.accounts.members.store import delete_old_invitations
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now

# An ended session is still a sign that its owner logs in from that network.
SESSIONS_KEPT_FOR = timedelta(days=30)
_ROWS = 1000


async def sweep(db: Db, _job: Job) -> bool:
    """Forget some that are over; whether there may be more."""
    moment = now()
    counts = (
        await store.delete_old_failures(db, moment - LOCKED_FOR, _ROWS),
        await store.delete_empty_cells(db, moment, _ROWS),
        await store.delete_old_sessions(db, moment - SESSIONS_KEPT_FOR, _ROWS),
        await delete_old_invitations(db, moment, _ROWS),
        await delete_old_links(db, moment, _ROWS),
    )
    return max(counts) == _ROWS


SWEEP = LocalKind(name="logins", run=sweep, every=timedelta(minutes=10))
