"""The night audit: each business day of a hotel once, the missing ones too."""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.folios import audit_rules as rules
from tillhouse.folios import nights
from tillhouse.folios.facts import costs
from tillhouse.folios.payments import apply, lock
from tillhouse.folios.store import audits as store
from tillhouse.folios.store.audits import Hotel, Progress
from tillhouse.folios.types import Audit, AuditFilter, AuditRun
from tillhouse.hotel.reservations import actions as reservations
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import PageOf, meta

JOB = "night_audit"
# So many stays are audited by one transaction of the worker, and by one request.
AT_ONCE = 20
BY_REQUEST = 200


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one go at an audit; nothing for one that was finished already."""

    is_work: bool = False
    stays: int = 0
    has_more: bool = False


async def list_page(call: Call, wanted: AuditFilter) -> PageOf[Audit]:
    """One page of the audits, the newest first."""
    page = wanted.pick()
    total = await store.count_audits(call.db, call.book.id)
    rows = await store.list_audits(call.db, call.book.id, page)
    return PageOf([Audit(**row) for row in rows], meta(page, total))


async def run(call: Call) -> AuditRun:
    """Audit the days that are due, as far as one request may; a worker goes on with the rest."""
    hotel = await store.find_hotel(call.db, call.book.id)
    worked: list[date] = []
    left = BY_REQUEST
    for day in due_days(hotel, call.now):
        if left <= 0:
            await queue(call, day)
            break
        done = await audit_some(call, hotel, day, left)
        left -= done.stays + 1
        if done.is_work:
            worked.append(day)
        if done.has_more:
            await queue(call, day)
            left = 0
            break
    rows = await store.list_audits_of(call.db, call.book.id, worked)
    return AuditRun(audits=[Audit(**row) for row in rows], is_complete=left > 0)


async def audit_some(call: Call, hotel: Hotel, day: date, limit: int) -> Done:
    """Go on with the audit of a day, by so many stays at most."""
    await store.open_audit(call.db, hotel.book_id, day, call.now)
    if not await store.lock_audit(call.db, hotel.book_id, day):
        return Done()
    stays = await store.list_in_house(call.db, hotel.book_id, day, limit)
    posted = [cost for stay_id in stays for cost in await _post(call, stay_id, day)]
    absent: list[UUID] = []
    if hotel.no_show == "release" and len(stays) < limit:
        absent = await store.list_absent(call.db, hotel.book_id, day, limit - len(stays))
    no_shows = [await _release(call, stay_id) for stay_id in absent].count(True)
    progress = Progress(nights=len(posted), amount=sum(posted, Decimal(0)), no_shows=no_shows)
    await store.add_progress(call.db, hotel.book_id, day, progress)
    count = len(stays) + len(absent)
    if count < limit:
        await store.end_audit(call.db, hotel.book_id, day, call.now)
    return Done(is_work=True, stays=count, has_more=count >= limit)


async def _post(call: Call, stay_id: UUID, day: date) -> list[Decimal]:
    """Charge a stay's nights up to a day; their cost."""
    stay = await lock(call, stay_id)
    if stay.status != "checked_in":
        # The guest left meanwhile, and was charged then.
        return []
    up_to = {night: cost for night, cost in costs(stay).items() if night <= day}
    posted = await nights.post(call, stay, up_to)
    await apply(call, stay)
    return posted


async def _release(call: Call, stay_id: UUID) -> bool:
    """Mark a booking as `no_show`; whether it was still to be marked."""
    if (await lock(call, stay_id)).status != "booked":
        return False
    await reservations.no_show(call, stay_id)
    return True


def due_days(hotel: Hotel, now: datetime) -> Iterator[date]:
    """The days of a hotel that are to be audited."""
    until = rules.latest_day(hotel.time_zone, hotel.audit_time, now)
    return rules.due_days(hotel.last, hotel.first, until)


async def queue(call: Call, day: date) -> None:
    """Let a worker audit a day."""
    await queue_job(call.db, job_of(call.book.id, day), call.now, call.now)


def job_of(book_id: BookId, day: date) -> NewJob:
    """The job of an audit: one for each day of a book."""
    return NewJob(book_id=book_id, kind=JOB, subject_id=book_id, key=day.isoformat())
