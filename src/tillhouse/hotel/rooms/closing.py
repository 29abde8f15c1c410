"""Close a room: its bookings get other rooms of the type, or it stays open."""

from uuid import UUID

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.hotel.assignment.actions import Booking, make_room
from tillhouse.hotel.assignment.store import update_rooms
from tillhouse.hotel.rooms import rules, store
from tillhouse.hotel.rooms.types import HotelRoom


async def vacate(call: Call, room: HotelRoom) -> None:
    """Give each booking of a room another one of the type, or refuse; the type is locked.

    Where no other room is free throughout, bookings of the type make way, as for a new one.
    """
    stays = await store.list_open_stays(call.db, call.book.id, room.id)
    rules.check_closable(room.number, stays)
    moves = await store.find_other_rooms(call.db, call.book.id, room.id)
    if moves:
        await update_rooms(call.db, call.book.id, moves, call.now)
    for stay in stays:
        if stay.id not in moves:
            moves[stay.id] = await _free(call, room, stay)
            await update_rooms(call.db, call.book.id, {stay.id: moves[stay.id]}, call.now)
    if moves:
        numbers = await store.find_numbers(call.db, call.book.id, [*moves.values()])
        told = {
            "closed_room_id": room.id,
            "moves": [
                {
                    "reservation_id": stay.id,
                    "from_room": room.number,
                    "to_room": numbers[moves[stay.id]],
                }
                for stay in stays
            ],
        }
        title = "Reservations moved to other rooms as theirs was closed"
        await audit.note(call, ("hotel_reservations.reassigned", title), told)


async def _free(call: Call, room: HotelRoom, stay: rules.StayInRoom) -> UUID:
    booking = Booking(
        id=stay.id,
        room_type_id=room.room_type_id,
        since=stay.since,
        until=stay.until,
        without=room.id,
    )
    freed = await make_room(call, booking)
    if freed is None:
        raise rules.no_other_room(room.number, stay)
    return freed.room_id
