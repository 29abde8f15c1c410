"""The jobs of hooks and payments, and the chores that forget old hooks and settle claims."""

from datetime import timedelta

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, Kind, LocalKind
from tillhouse.kit.clock import now
from tillhouse.payins import asking, hooks
from tillhouse.payins.connecting import naming, noticing
from tillhouse.payins.disputes import recording
from tillhouse.payins.sandbox.simulating import LATER
from tillhouse.payins.store.events import delete_old_events

KEPT_FOR = timedelta(days=30)
_ROWS = 1000


def kinds(services: Services) -> tuple[Kind, ...]:
    """The jobs of this room."""
    return (
        hooks.kind(services),
        asking.kind(services),
        naming.kind(services),
        noticing.kind(services),
        LATER,
    )


def chores(_services: Services) -> tuple[LocalKind, ...]:
    """Its periodic jobs."""
    sweeping = LocalKind(name="old_provider_events", run=_sweep, every=timedelta(hours=1))
    return (sweeping, recording.SETTLING, naming.ASKING_ANEW)


async def _sweep(db: Db, _job: Job) -> bool:
    return await delete_old_events(db, now() - KEPT_FOR, _ROWS) == _ROWS
