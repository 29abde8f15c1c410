"""Reservations: list, show, lock, confirm, check in, check out, cancel."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.customers.rules import word_query
from tillhouse.hotel.events import (
    HOTEL_RESERVATION_CANCELLED,
    HOTEL_RESERVATION_CHECKED_IN,
    HOTEL_RESERVATION_CHECKED_OUT,
)
from tillhouse.hotel.reservations import rules
from tillhouse.hotel.reservations.showing import shown
from tillhouse.hotel.reservations.store import reading
from tillhouse.hotel.reservations.store import states as store
from tillhouse.hotel.reservations.types import Cancel, CheckIn, Reservation, ReservationFilter
from tillhouse.hotel.rooms.store import lock_room, update_dirty
from tillhouse.hotel.store import find_terms
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import BookKey
from tillhouse.kit.page import PageOf, meta
from tillhouse.kit.values import DayClock
from tillhouse.webhooks.emit import emit


async def list_page(call: Call, wanted: ReservationFilter) -> PageOf[Reservation]:
    """One page of the reservations that fit, the newest first."""
    page, query = wanted.pick(), _query(wanted)
    total = await reading.count_reservations(call.db, call.book.id, query)
    rows = await reading.list_reservations(call.db, call.book.id, query, page)
    return PageOf([shown(row) for row in rows], meta(page, total))


async def show(call: Call, reservation_id: UUID) -> Reservation:
    """One reservation."""
    return shown(existing(await reading.show_reservation(call.db, call.book.id, reservation_id)))


async def lock_reservation(call: Call, reservation_id: UUID) -> Reservation:
    """One reservation, which nobody changes or charges to until the transaction ends."""
    existing(await store.lock_reservation(call.db, call.book.id, reservation_id) or None)
    return await show(call, reservation_id)


async def check_in(call: Call, reservation_id: UUID, how: CheckIn) -> Reservation:
    """Let a guest move in; of two at once the second is refused."""
    reservation = await lock_reservation(call, reservation_id)
    room = existing(await lock_room(call.db, call.book.id, reservation.room_id))
    terms = await find_terms(call.db, call.book.id)
    today = DayClock.at_midnight(terms.time_zone).today(call.now)
    rules.check_arrival(reservation, today, room["status"], allows_dirty=how.allow_dirty)
    key = BookKey(call.book.id, reservation_id)
    after = shown(existing(await store.update_checked_in(call.db, key, call.now)))
    await emit(call, HOTEL_RESERVATION_CHECKED_IN, after)
    return after


async def check_out(call: Call, reservation_id: UUID) -> Reservation:
    """Let a guest leave, whatever they owe: the room is free, and is to be cleaned."""
    before = await lock_reservation(call, reservation_id)
    rules.check_status(before, "checked_in", "checked out")
    key = BookKey(call.book.id, reservation_id)
    after = shown(existing(await store.update_checked_out(call.db, key, call.now)))
    await update_dirty(call.db, BookKey(call.book.id, after.room_id), call.now)
    await emit(call, HOTEL_RESERVATION_CHECKED_OUT, after)
    return after


async def confirm(call: Call, reservation_id: UUID) -> Reservation:
    """Note that the guest will come; confirming twice is confirming once."""
    rules.check_status(await lock_reservation(call, reservation_id), "booked", "confirmed")
    key = BookKey(call.book.id, reservation_id)
    return shown(existing(await store.update_confirmed(call.db, key, call.now)))


async def cancel(call: Call, reservation_id: UUID, why: Cancel) -> Reservation:
    """Cancel a reservation before the guest moves in: the room is free again."""
    rules.check_status(await lock_reservation(call, reservation_id), "booked", "cancelled")
    key = BookKey(call.book.id, reservation_id)
    after = shown(existing(await store.update_cancelled(call.db, key, why.reason, call.now)))
    await emit(call, HOTEL_RESERVATION_CANCELLED, after)
    return after


async def no_show(call: Call, reservation_id: UUID) -> Reservation:
    """Note that nobody came: the room is free again."""
    before = await lock_reservation(call, reservation_id)
    rules.check_status(before, "booked", "a no-show")
    terms = await find_terms(call.db, call.book.id)
    rules.check_begun(before, DayClock.at_midnight(terms.time_zone).today(call.now))
    key = BookKey(call.book.id, reservation_id)
    return shown(existing(await store.update_no_show(call.db, key, call.now)))


def _query(wanted: ReservationFilter) -> reading.ReservationQuery:
    words = word_query(wanted.search) if wanted.search else None
    return reading.ReservationQuery(
        status=[*wanted.status] if wanted.status else None,
        since=wanted.since.day if wanted.since else None,
        until=wanted.until.day if wanted.until else None,
        departs_from=wanted.departs_from.day if wanted.departs_from else None,
        departs_to=wanted.departs_to.day if wanted.departs_to else None,
        room_id=wanted.room_id,
        guest_id=wanted.guest_id,
        group_id=wanted.group_id,
        code=str(wanted.search).strip().upper() if wanted.search else None,
        words=words or None,
    )
