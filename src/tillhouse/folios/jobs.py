"""The night audit, disputes and refunds as work in the background."""

from datetime import date, timedelta
from functools import partial

from tillhouse.access.call import system_call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.folios import audits, payments
from tillhouse.folios.returning.sending import kinds as refunds
from tillhouse.folios.store import audits as store
from tillhouse.jobs.kinds import INSTALLATION, Job, Kind, LocalKind
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.payins.disputes.actions import find_shown
from tillhouse.payins.events import PAYIN_DISPUTE, announce_dispute
from tillhouse.payins.store.connections import find_book

_HOTELS_AT_ONCE = 500


def kinds(services: Services) -> tuple[Kind, ...]:
    """The jobs of this room."""
    audit = LocalKind(name=audits.JOB, run=partial(_audit, services))
    return (audit, dispute_kind(services), *refunds(services))


def chores(_services: Services) -> tuple[LocalKind, ...]:
    """The periodic jobs of this room."""
    return (LocalKind(name="night_audits", run=_queue_due, every=timedelta(minutes=1)),)


async def _audit(services: Services, db: Db, job: Job) -> bool:
    """Audit some stays of a day, in the transaction that takes the job; the next day follows."""
    hotel = await store.find_hotel(db, job.book_id)
    book = Book(hotel.book_id, hotel.environment)
    call = system_call(services, db, hotel.business_id, book)
    day = date.fromisoformat(job.key)
    if (await audits.audit_some(call, hotel, day, audits.AT_ONCE)).has_more:
        return True
    for other in audits.due_days(await store.find_hotel(db, job.book_id), call.now):
        await audits.queue(call, other)
        break
    return False


async def _queue_due(db: Db, _job: Job) -> bool:
    """Queue the first audit that is due in each hotel."""
    last, at = INSTALLATION, now()
    while hotels := await store.list_hotels(db, last, _HOTELS_AT_ONCE):
        for hotel in hotels:
            for day in audits.due_days(hotel, at):
                await queue_job(db, audits.job_of(hotel.book_id, day), at, at)
                break
        last = hotels[-1].book_id
    return False


def dispute_kind(services: Services) -> LocalKind:
    """The job that tells of a dispute."""
    return LocalKind(name=PAYIN_DISPUTE, run=partial(_tell_of_dispute, services))


async def _tell_of_dispute(services: Services, db: Db, job: Job) -> bool:
    book, dispute = await find_book(db, job.book_id), await find_shown(db, job)
    if book is None or dispute is None:
        return False
    which = Book(job.book_id, book["environment"])
    call = system_call(services, db, book["business_id"], which)
    if dispute.reservation_id is not None:
        await payments.hold_disputed(call, await payments.lock(call, dispute.reservation_id))
    await announce_dispute(call, dispute)
    return False
