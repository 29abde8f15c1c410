"""Book a room, or several: find the rows that the request names, choose the room, tell of it."""

from uuid import UUID

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.hotel.assignment.actions import Booking, make_room
from tillhouse.hotel.events import HOTEL_RESERVATION_CHECKED_IN, HOTEL_RESERVATION_CREATED
from tillhouse.hotel.guests.actions import find_or_make
from tillhouse.hotel.guests.actions import new_faults as guest_faults
from tillhouse.hotel.rates.rules import Prices, read_prices
from tillhouse.hotel.reservations import rules
from tillhouse.hotel.reservations.actions import show
from tillhouse.hotel.reservations.store import booking as store
from tillhouse.hotel.reservations.store.reading import shown
from tillhouse.hotel.reservations.types import (
    NewGroup,
    NewReservation,
    Reservation,
    ReservationGroup,
)
from tillhouse.hotel.rooms.rules import UNKNOWN_TYPE
from tillhouse.hotel.rooms.store import lock_type, lock_types
from tillhouse.hotel.values import GROUP_MAX
from tillhouse.kit.errors import FieldError, Refused, check
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import new_id, short_code
from tillhouse.kit.json import encode
from tillhouse.kit.partial import InvalidField, given
from tillhouse.kit.values import DayClock
from tillhouse.webhooks.emit import emit_all


async def create(call: Call, new: NewReservation) -> Reservation:
    """Book a room; of two who want the last one the first gets it."""
    facts = await _facts(call, new)
    check(rules.booking_faults(new, facts))
    guest_id = await _guest_id(call, new, rules.GUEST_AT)
    if not await lock_type(call.db, call.book.id, _type_of(facts)):
        check([UNKNOWN_TYPE])
    made, _ = await _book(call, new, facts, guest_id, None)
    await emit_all(call, _events([made]))
    return made


async def create_group(call: Call, new: NewGroup) -> ReservationGroup:
    """Book several rooms, all of them or none."""
    asked = new.reservations
    facts = [await _facts(call, one) for one in asked]
    check(
        rules.at_room(index, fault)
        for index, one in enumerate(asked)
        for fault in rules.booking_faults(one, facts[index])
    )
    guest_ids: dict[int, UUID] = {}
    for index in rules.order_of_guests(asked):
        at = f"reservations[{index}].{rules.GUEST_AT}"
        guest_ids[index] = await _guest_id(call, asked[index], at)
    type_ids = {_type_of(one) for one in facts}
    if await lock_types(call.db, call.book.id, [*type_ids]) < len(type_ids):
        raise rules.TypeWent
    group_id = new_id()
    made: list[Reservation] = []
    moved: set[UUID] = set()
    for index, one in enumerate(asked):
        try:
            booked, others = await _book(call, one, facts[index], guest_ids[index], group_id)
        except Refused as refusal:
            raise Refused(f"reservations[{index}]: {refusal} None was booked.") from None
        made.append(booked)
        moved |= others
    made = [await show(call, one.id) if one.id in moved else one for one in made]
    await emit_all(call, _events(made))
    return ReservationGroup(group_id=group_id, reservations=made)


def _events(made: list[Reservation]) -> list[tuple[EventType, Reservation]]:
    """Each booking, and each guest who moved in at once."""
    events = []
    for one in made:
        events.append((HOTEL_RESERVATION_CREATED, one))
        if one.status == "checked_in":
            events.append((HOTEL_RESERVATION_CHECKED_IN, one))
    return events


async def new_faults(call: Call, new: NewReservation) -> list[FieldError]:
    """The faults of a booking."""
    found = rules.booking_faults(new, await _facts(call, new))
    try:
        if new.guest is not None:
            found += await guest_faults(call, new.guest, rules.GUEST_AT)
    except InvalidField:
        pass
    return found


async def group_faults(call: Call, new: NewGroup) -> list[FieldError]:
    """The faults of bookings that are made together, each with the place of its room."""
    return [
        rules.at_room(index, fault)
        for index, one in enumerate(new.reservations[:GROUP_MAX])
        for fault in await new_faults(call, one)
    ]


def _type_of(facts: rules.BookingFacts) -> UUID:
    if facts.room_type_id is None:
        raise AssertionError("an unknown room type is a fault")
    return facts.room_type_id


async def _book(
    call: Call,
    new: NewReservation,
    facts: rules.BookingFacts,
    guest_id: UUID,
    group_id: UUID | None,
) -> tuple[Reservation, frozenset[UUID]]:
    """The reservation of a free room, or a refusal; and those that have other rooms for it."""
    if facts.prices is None:
        raise AssertionError("an unknown room type is a fault")
    days = new.check_in_date.day, new.check_out_date.day
    stay = rules.priced(*days, facts.prices, facts.currency)
    row = store.BookingRow(
        id=new_id(),
        short_code=short_code(),
        status="checked_in" if new.check_in else "booked",
        group_id=group_id,
        guest_id=guest_id,
        room_type_id=_type_of(facts),
        rate_plan_id=new.rate_plan_id,
        adults=new.adults,
        children=new.children,
        check_in_on=stay.check_in,
        check_out_on=stay.check_out,
        nights=encode(stay.nights).decode(),
        taxes=encode(stay.taxes).decode(),
        total_amount=stay.total,
        deposit_amount=new.deposit_amount or 0,
        currency=facts.currency,
        source=new.source,
        notes=new.notes,
        checked_in_at=call.now if new.check_in else None,
        is_room_chosen=new.room_id is not None,
    )
    made = await _insert(call, new, row, new.room_id)
    freed = None
    if made is None and new.room_id is None:
        freed = await make_room(call, _wanted(new, row))
        made = None if freed is None else await _insert(call, new, row, freed.room_id)
    if made is None:
        raise rules.none_free(new, facts)
    return shown(made), freed.moved if freed else frozenset()


async def _insert(
    call: Call, new: NewReservation, row: store.BookingRow, room_id: UUID | None
) -> Record | None:
    return await store.insert_reservation(
        call.db, call.book.id, call.now, row, room_id, allows_dirty=new.allow_dirty
    )


def _wanted(new: NewReservation, row: store.BookingRow) -> Booking:
    return Booking(
        id=row.id,
        room_type_id=row.room_type_id,
        since=row.check_in_on,
        until=row.check_out_on,
        is_now=new.check_in,
        allows_dirty=new.allow_dirty,
    )


async def _guest_id(call: Call, new: NewReservation, at: str) -> UUID:
    if new.guest is not None:
        return (await find_or_make(call, new.guest, at)).id
    if new.guest_id is None:
        raise AssertionError("a booking without a guest is a fault")
    return new.guest_id


async def _facts(call: Call, new: NewReservation) -> rules.BookingFacts:
    row = await store.find_booking_facts(
        call.db,
        call.book.id,
        given(new, "room_type_id"),
        given(new, "room_id"),
        given(new, "rate_plan_id"),
        given(new, "guest_id"),
    )
    return rules.BookingFacts(
        today=DayClock.at_midnight(row["time_zone"]).today(call.now),
        currency=row["currency"],
        room_type_id=row["room_type_id"],
        capacity=row["capacity"],
        room_number=row["room_number"],
        room_status=row["room_status"],
        room_fits_type=row["room_fits_type"] is not False,
        prices=_prices(row),
        has_plan=row["price"] is not None,
        guest_name=row["guest_name"],
    )


def _prices(row: Record) -> Prices | None:
    if row["price"] is not None:
        return read_prices(row["price"], row["weekday_prices"], row["taxes"])
    return Prices(price=row["rate"]) if row["rate"] is not None else None
