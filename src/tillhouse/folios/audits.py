"""The night audit: each business day of a hotel once, the missing ones too; and its settings."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.folios import rules
from tillhouse.folios.facts import Stay, costs
from tillhouse.folios.payments import apply, lock
from tillhouse.folios.store import audits as store
from tillhouse.folios.store import stays
from tillhouse.folios.store.audits import Hotel, Progress
from tillhouse.folios.types import Audit, AuditFilter, AuditRun, HotelSettings, HotelSettingsPatch
from tillhouse.hotel.rates.rules import NightCost
from tillhouse.hotel.reservations import actions as reservations
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.page import PageOf, meta
from tillhouse.orders.recording.charging import Fee, charge

JOB = "night_audit"
# So many stays are audited by one transaction of the worker, and by one request.
AT_ONCE = 20
BY_REQUEST = 200
DEFAULT_SETTINGS = HotelSettings(
    check_in_time="14:00", check_out_time="11:00", audit_time="03:00", no_show="release"
)


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
    posted = await post_nights(call, stay, up_to)
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


async def post_nights(call: Call, stay: Stay, nights: Mapping[date, NightCost]) -> list[Decimal]:
    """Charge those of the nights that are no orders yet; their cost. The stay is locked."""
    key = BookKey(call.book.id, stay.id)
    posted = await stays.list_posted_nights(call.db, key)
    missing = {night: cost for night, cost in nights.items() if night not in posted}
    for night, cost in missing.items():
        ends = rules.night_time(night, stay.time_zone, call.now)
        fee = Fee(
            name=rules.night_name(stay.room_number, stay.room_type, night),
            price=cost.price,
            tax=rules.night_tax(cost),
            # A night of a closed period is a sale of now.
            happened_at=await stays.lock_moment(call.db, call.book.id, ends, call.now),
            customer_id=stay.customer_id,
            reservation_id=stay.id,
            room_id=stay.room_id,
        )
        await stays.insert_night(call.db, key, night, await charge(call, fee))
    return [cost.total for cost in missing.values()]


async def show_settings(call: Call) -> HotelSettings:
    """The settings of the book's hotel."""
    return await store.show_settings(call.db, call.book.id) or DEFAULT_SETTINGS


async def change_settings(call: Call, patch: HotelSettingsPatch) -> HotelSettings:
    """Change the fields that the patch names."""
    names = store.SettingsChange.__struct_fields__
    asked = {name: getattr(patch, name) for name in names}
    changes = store.SettingsChange(
        **{name: None if one is UNSET else str(one) for name, one in asked.items()}
    )
    changed = await store.upsert_settings(call.db, call.book.id, changes, call.now)
    await audit.note(call, ("hotel_settings.changed", "Hotel settings changed"), {})
    return changed
