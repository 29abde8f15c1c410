"""Withdrawals that waited while their book was frozen get their jobs back."""

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind, NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.ids import LOWEST_ID
from tillhouse.payouts.freezing import store

RESUMED = "payouts_resumed"
# The kind of job that sends one withdrawal.
WITHDRAWAL = "withdrawal"
_AT_ONCE = 500


async def _resume(db: Db, job: Job) -> bool:
    """Queue the withdrawals of a book that are not sent yet; one that is queued stays so."""
    after = LOWEST_ID
    while found := await store.list_waiting(db, job.book_id, after, _AT_ONCE):
        for withdrawal_id in found:
            new = NewJob(book_id=job.book_id, kind=WITHDRAWAL, subject_id=withdrawal_id)
            await queue_job(db, new, now(), now())
        after = found[-1]
    return False


RESUMING = LocalKind(name=RESUMED, run=_resume)
