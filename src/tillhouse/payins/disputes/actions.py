"""Reading disputes."""

from uuid import UUID

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job
from tillhouse.kit.errors import existing
from tillhouse.kit.page import PageOf, meta
from tillhouse.payins.disputes import store
from tillhouse.payins.disputes.types import Dispute, DisputeFilter


async def list_page(call: Call, wanted: DisputeFilter) -> PageOf[Dispute]:
    """One page of the disputes that fit, the newest first."""
    page = wanted.pick()
    query = store.DisputeQuery(wanted.status, wanted.order_id, wanted.reservation_id)
    total = await store.count_disputes(call.db, call.book.id, query)
    rows = []
    if page.offset < total:
        rows = await store.list_disputes(call.db, call.book.id, query, page)
    return PageOf([_shown(row) for row in rows], meta(page, total))


async def show(call: Call, dispute_id: UUID) -> Dispute:
    """One dispute."""
    return _shown(existing(await store.show_dispute(call.db, call.book.id, dispute_id)))


async def find_shown(db: Db, job: Job) -> Dispute | None:
    """The dispute that a job is about, as it is shown."""
    row = await store.show_dispute(db, job.book_id, job.subject_id)
    return None if row is None else _shown(row)


def _shown(row: Record) -> Dispute:
    return Dispute(**row)
