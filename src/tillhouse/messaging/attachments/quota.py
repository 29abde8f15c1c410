"""The quota of attachments, and the chore that forgets those that never came."""

from datetime import timedelta

from tillhouse.access.storage import StoredKind
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.messaging.attachments.store import delete_uploading, show_stored

_AWAITED_FOR = timedelta(days=1)
_ROWS = 1000

ATTACHMENTS = StoredKind(
    name="attachments",
    rows_setting="ATTACHMENT_LIMIT",
    mib_setting="ATTACHMENT_LIMIT_MIB",
    measure=show_stored,
    message=(
        "This environment holds as many attachments as {setting} lets it: ask whoever runs this "
        "server to raise the limit. Messages without one can still be sent."
    ),
)


async def _sweep(db: Db, _job: Job) -> bool:
    return await delete_uploading(db, now() - _AWAITED_FOR, _ROWS) == _ROWS


SWEEP = LocalKind(name="attachments_awaited", run=_sweep, every=timedelta(hours=1))
