"""The jobs of what arrives, and the chore that forgets what was told long ago."""

from datetime import timedelta

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, Kind, LocalKind
from tillhouse.kit.clock import now
from tillhouse.payins import asking, hooks
from tillhouse.payins.sandbox.simulating import LATER
from tillhouse.payins.store.events import delete_old_events

KEPT_FOR = timedelta(days=90)
_ROWS = 1000


def kinds(services: Services) -> tuple[Kind, ...]:
    """The jobs of this room."""
    return (hooks.kind(services), asking.kind(services), LATER)


def chores(_services: Services) -> tuple[LocalKind, ...]:
    """Its periodic jobs."""
    return (LocalKind(name="old_provider_events", run=_sweep, every=timedelta(hours=1)),)


async def _sweep(db: Db, _job: Job) -> bool:
    return await delete_old_events(db, now() - KEPT_FOR, _ROWS) == _ROWS
