"""Make a room free for a booking: others that are booked get other rooms of the type."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.hotel.assignment import store
from tillhouse.hotel.assignment.rules import (
    Assignment,
    Occupancy,
    WantedDays,
    assign,
    connected,
    count_free,
    near_max,
    stays_max,
)

# Somebody may change a stay that was to get another room; the next attempt leaves that alone.
_ATTEMPTS = 3


class Booking(msgspec.Struct, frozen=True, kw_only=True):
    """A booking that has found no free room."""

    id: UUID
    room_type_id: UUID
    since: date
    until: date
    is_now: bool = False
    allows_dirty: bool = False
    without: UUID | None = None
    """A room of the type that it may not have."""


class Freed(msgspec.Struct, frozen=True):
    """The room that is free now, and the stays that have another one for it."""

    room_id: UUID
    moved: frozenset[UUID]


class Unsure(msgspec.Struct, frozen=True):
    """A type of so many rooms, of which more might be had for some days than are empty."""

    rooms: int
    limit: int


async def make_room(call: Call, booking: Booking) -> Freed | None:
    """Free a room for a booking; None: there is no way. The room type is locked."""
    type_ids = [booking.room_type_id]
    days = booking.since, booking.until
    rooms = await store.list_in_service(call.db, call.book.id, type_ids, booking.without)
    count, fullest = await store.find_load(
        call.db, call.book.id, booking.room_type_id, *days, booking.without
    )
    if fullest >= len(rooms) or count > stays_max(len(rooms)):
        return None
    room_ids = [room["id"] for room in rooms]
    near = {booking.room_type_id: near_max(len(rooms))}
    found_near = await store.list_near(call.db, call.book.id, near, *days)
    stays = connected(_in_rooms(found_near.get(booking.room_type_id, ()), room_ids), *days)
    wanted = WantedDays(*days, _ready(rooms, booking))
    for _ in range(_ATTEMPTS):
        found = assign(room_ids, stays, [wanted], len(rooms) - fullest)
        if found is None:
            return None
        locked = await store.lock_movable(call.db, call.book.id, [*found.moves])
        if locked == found.moves.keys():
            await _move(call, booking.id, found, rooms, stays)
            return Freed(found.rooms[0], frozenset(found.moves))
        changing = found.moves.keys() - locked
        stays = [
            msgspec.structs.replace(stay, is_movable=stay.is_movable and stay.id not in changing)
            for stay in stays
        ]
    return None


async def count_throughout(
    call: Call, types: Mapping[UUID, Unsure], since: date, until: date
) -> dict[UUID, int]:
    """How many rooms of each type can be had for all of the days, at most its limit."""
    if not types:
        return {}
    near = {type_id: near_max(one.rooms) for type_id, one in types.items()}
    stays = await store.list_days_near(call.db, call.book.id, near, since, until)
    nights = (until - since).days
    return {
        type_id: count_free(stays.get(type_id, ()), 0, nights, one.limit)
        for type_id, one in types.items()
    }


def _in_rooms(stays: Iterable[Occupancy], room_ids: Iterable[UUID]) -> list[Occupancy]:
    """The stays in rooms that are in service."""
    in_service = {*room_ids}
    return [stay for stay in stays if stay.room_id in in_service]


def _ready(rooms: Sequence[Record], booking: Booking) -> frozenset[UUID] | None:
    """The rooms that a guest who is here could move into."""
    if not booking.is_now:
        return None
    return frozenset(
        room["id"]
        for room in rooms
        if (room["is_clean"] or booking.allows_dirty) and not room["is_occupied"]
    )


async def _move(
    call: Call,
    booking_id: UUID,
    found: Assignment,
    rooms: Sequence[Record],
    stays: Sequence[Occupancy],
) -> None:
    await store.update_rooms(call.db, call.book.id, found.moves, call.now)
    number = {room["id"]: room["number"] for room in rooms}
    moves = [
        {
            "reservation_id": stay.id,
            "from_room": number[stay.room_id],
            "to_room": number[found.moves[stay.id]],
        }
        for stay in stays
        if stay.id in found.moves
    ]
    told = {"reservation_id": booking_id, "moves": moves}
    title = "Reservations moved to other rooms for a booking"
    await audit.note(call, ("hotel_reservations.reassigned", title), told)
