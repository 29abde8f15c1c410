"""The jobs that send refunds of stays through providers: at most once, whatever breaks."""

from datetime import datetime
from functools import partial

import msgspec

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.folios.returning import outcome
from tillhouse.folios.returning.actions import SENDS
from tillhouse.folios.returning.rules import HEARD
from tillhouse.folios.returning.store import SentStayRefund, list_heard, lock_return, update_asked
from tillhouse.jobs.kinds import Job, Kind, LocalKind, NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.orders.returning.rules import refund_id_of
from tillhouse.orders.returning.sending import Finds, RefundJobs, outside_kinds
from tillhouse.payins.connections import find_provider
from tillhouse.payins.hooks import HEARD_STAY_REFUND, HeardReturn

__all__ = ["HEARD", "LOOK", "SENDS", "kinds"]

LOOK = "stay_refund_look"


def kinds(services: Services, finds: Finds = find_provider) -> tuple[Kind, ...]:
    """The jobs of refunds of stays."""
    jobs = RefundJobs(
        sends=SENDS,
        looks=LOOK,
        hears=HEARD,
        lock=lock_return,
        mark=_mark,
        lock_whole=partial(outcome.lock, services),
    )
    hears = LocalKind(name=HEARD_STAY_REFUND, run=_hear)
    return (*outside_kinds(services, finds, jobs), hears)


async def _mark(db: Db, sent: SentStayRefund, asked_at: datetime | None) -> None:
    await update_asked(db, sent, asked_at)


async def _hear(db: Db, job: Job) -> bool:
    """Let the provider be asked about each refund that it may have told of."""
    told = msgspec.json.decode(job.payload or b"{}", type=HeardReturn)
    at = now()
    for refund_id in await list_heard(db, job.book_id, told, refund_id_of(told.reference)):
        key = f"{job.subject_id}:{job.key}"
        new = NewJob(book_id=job.book_id, kind=HEARD, subject_id=refund_id, key=key)
        await queue_job(db, new, at, at)
    return False
