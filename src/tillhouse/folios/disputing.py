"""Disputes of payments for no order: told of, and the unspent part of a stay's payment is held."""

from functools import partial

from tillhouse.access.call import system_call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.folios import payments
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.payins.disputes.actions import find_shown
from tillhouse.payins.disputes.announcing import PAYIN_DISPUTE, announce
from tillhouse.payins.store.connections import find_book


def kind(services: Services) -> LocalKind:
    """The job that tells of a dispute."""
    return LocalKind(name=PAYIN_DISPUTE, run=partial(_tell, services))


async def _tell(services: Services, db: Db, job: Job) -> bool:
    book, dispute = await find_book(db, job.book_id), await find_shown(db, job)
    if book is None or dispute is None:
        return False
    which = Book(job.book_id, book["environment"])
    call = system_call(services, db, book["business_id"], which)
    if dispute.reservation_id is not None:
        await payments.hold_disputed(call, await payments.lock(call, dispute.reservation_id))
    await announce(call, dispute)
    return False
