"""The quota of attachments, and the jobs that forget unused ones."""

from datetime import timedelta

from tillhouse.access.usage import StoredKind
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.messaging.attachments.store import (
    ATTACHMENT_STORAGE,
    delete_unused,
    delete_uploading,
)

# Announced, and no bytes came: an address to upload to is good for an hour.
_AWAITED_FOR = timedelta(hours=3)
# Uploaded, and named by no message: as long as WhatsApp keeps an upload.
UNUSED_FOR = timedelta(days=30)
_ROWS = 1000

ATTACHMENTS = StoredKind(
    name="attachments",
    rows_setting="ATTACHMENT_LIMIT",
    mib_setting="ATTACHMENT_LIMIT_MIB",
    counts=ATTACHMENT_STORAGE,
    message=(
        "This environment holds as many attachments as {setting} lets it: ask whoever runs this "
        "server to raise the limit. Messages without one can still be sent."
    ),
)


async def _sweep(db: Db, _job: Job) -> bool:
    return await delete_uploading(db, now() - _AWAITED_FOR, _ROWS) == _ROWS


async def _forget(db: Db, job: Job) -> bool:
    await delete_unused(db, [job.book_id], [job.subject_id])
    return False


UNUSED = LocalKind(name="attachment_unused", run=_forget)
SWEEP = LocalKind(name="attachments_awaited", run=_sweep, every=timedelta(hours=1))
