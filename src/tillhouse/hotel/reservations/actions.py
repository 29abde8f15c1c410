"""Reservations: list, show, lock, confirm, check in, check out, cancel, and take that back."""

from uuid import UUID

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_terms
from tillhouse.customers.rules import plain_words, word_query
from tillhouse.hotel.events import (
    HOTEL_RESERVATION_CANCELLED,
    HOTEL_RESERVATION_CHECKED_IN,
    HOTEL_RESERVATION_CHECKED_OUT,
)
from tillhouse.hotel.reservations import rules
from tillhouse.hotel.reservations.reinstating import expect_again
from tillhouse.hotel.reservations.store import reading, searching, tallies
from tillhouse.hotel.reservations.store import states as store
from tillhouse.hotel.reservations.store.reading import shown
from tillhouse.hotel.reservations.types import Cancel, CheckIn, Reservation, ReservationFilter
from tillhouse.hotel.rooms.store import lock_room, update_dirty
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import BookKey
from tillhouse.kit.page import Page, PageOf, meta, walk
from tillhouse.kit.values import DayClock
from tillhouse.webhooks.emit import emit


async def list_page(call: Call, wanted: ReservationFilter) -> PageOf[Reservation]:
    """One page of the reservations that fit, the newest first."""
    page, query = wanted.pick(), _query(wanted)
    if query.words is not None:
        return await _search(call, query, page)
    count = tallies.count_tallied if query.is_tallied else reading.count_found
    total = await count(call.db, call.book.id, query)
    if page.offset >= total:
        return PageOf([], meta(page, total))
    rows = await reading.list_reservations(call.db, call.book.id, query, walk(page, total))
    return PageOf([shown(row) for row in rows], meta(page, total))


async def _search(call: Call, query: reading.ReservationQuery, page: Page) -> PageOf[Reservation]:
    book = (call.db, call.book.id)
    ids = await searching.RESERVATION_SEARCH.find(*book, query)
    ids_shown = ids[page.offset : page.offset + page.per_page]
    rows = await reading.list_found(*book, ids_shown) if ids_shown else []
    return PageOf([shown(row) for row in rows], meta(page, len(ids)))


async def show(call: Call, reservation_id: UUID) -> Reservation:
    """One reservation."""
    return shown(existing(await reading.show_reservation(call.db, call.book.id, reservation_id)))


async def lock_reservation(call: Call, reservation_id: UUID) -> Reservation:
    """One reservation, locked against changes and charges until the transaction ends."""
    existing(await store.lock_reservation(call.db, call.book.id, reservation_id) or None)
    return await show(call, reservation_id)


async def check_in(call: Call, reservation_id: UUID, how: CheckIn) -> Reservation:
    """Let a guest move in; of two at once the second is refused."""
    reservation = await lock_reservation(call, reservation_id)
    rules.check_arrival(reservation, await _arrival_days(call))
    if reservation.status == "no_show":
        reservation = await expect_again(call, reservation)
    room = existing(await lock_room(call.db, call.book.id, reservation.room_id))
    rules.check_ready(reservation, room["status"], allows_dirty=how.allow_dirty)
    key = BookKey(call.book.id, reservation_id)
    after = shown(existing(await store.update_checked_in(call.db, key, call.now)))
    await emit(call, HOTEL_RESERVATION_CHECKED_IN, after)
    return after


async def undo_check_in(call: Call, reservation_id: UUID) -> Reservation:
    """Take back that a guest moved in; the room stays theirs."""
    before = await lock_reservation(call, reservation_id)
    rules.check_status(before, "checked_in", "booked again")
    key = BookKey(call.book.id, reservation_id)
    after = shown(existing(await store.update_check_in_undone(call.db, key, call.now)))
    told = {"reservation_id": reservation_id, "checked_in_at": before.checked_in_at}
    await audit.note(call, ("hotel_reservation.check_in_undone", "Check-in taken back"), told)
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
    """Note that the guest didn't come: the room is free again."""
    before = await lock_reservation(call, reservation_id)
    rules.check_status(before, "booked", "a no-show")
    terms = await find_terms(call.db, call.book.id)
    rules.check_begun(before, DayClock.at_midnight(terms.time_zone).today(call.now))
    key = BookKey(call.book.id, reservation_id)
    return shown(existing(await store.update_no_show(call.db, key, call.now)))


async def reinstate(call: Call, reservation_id: UUID) -> Reservation:
    """Expect a guest again who was noted as one who did not come."""
    before = await lock_reservation(call, reservation_id)
    rules.check_status(before, "no_show", "reinstated")
    rules.check_not_over(before, await _arrival_days(call))
    return await expect_again(call, before)


async def _arrival_days(call: Call) -> rules.ArrivalDays:
    terms = await find_terms(call.db, call.book.id)
    return rules.arrival_days(terms.time_zone, call.now)


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
        letters=plain_words(wanted.search) if wanted.search else (),
    )
