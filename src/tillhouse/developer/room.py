"""The portal: apps, API keys, the audit log, usage: the face of the room."""

from datetime import timedelta

from tillhouse.access.store.keys import delete_full_buckets
from tillhouse.access.store.usage import delete_old_usage
from tillhouse.db.constraints import wrong_field
from tillhouse.db.pool import Db
from tillhouse.developer.beyond import note_keys_beyond
from tillhouse.developer.routes import ROUTES
from tillhouse.developer.types import DAYS_MAX
from tillhouse.http.route import Group
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.room import Room

# Ten days more than can be asked for.
USAGE_KEPT_FOR = timedelta(days=DAYS_MAX + 10)
# A bucket that is full says no more than one that isn't there.
_BUCKETS_KEPT_FOR = timedelta(hours=1)
_ROWS = 1000


async def _forget_usage(db: Db, _job: Job) -> bool:
    """Forget some old usage; whether there may be more."""
    return await delete_old_usage(db, (now() - USAGE_KEPT_FOR).date(), _ROWS) == _ROWS


async def _forget_buckets(db: Db, _job: Job) -> bool:
    """Forget some full buckets; whether there may be more."""
    return await delete_full_buckets(db, _BUCKETS_KEPT_FOR.total_seconds(), _ROWS) == _ROWS


SWEEPS = (
    LocalKind(name="usage_records", run=_forget_usage, every=timedelta(days=1)),
    LocalKind(name="rate_cells", run=_forget_buckets, every=timedelta(days=1)),
)


ROOM = Room(
    name="developer",
    routes=ROUTES,
    groups=(
        Group(
            "/api/developer",
            "Developer portal",
            "Apps, API keys, the audit log and usage.",
            "authentication",
        ),
    ),
    kept_tables=("api_keys", "developer_apps"),
    at_start=(note_keys_beyond,),
    chores=lambda _services: SWEEPS,
    refusals=(wrong_field("api_keys_have_a_scope", "scopes", "needs at least one scope"),),
)
