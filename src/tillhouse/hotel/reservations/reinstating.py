"""Find a room again for a guest who was noted as one who did not come."""

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.hotel.assignment.actions import Booking, make_room
from tillhouse.hotel.reservations import rules
from tillhouse.hotel.reservations.store import states as store
from tillhouse.hotel.reservations.store.reading import shown
from tillhouse.hotel.reservations.types import Reservation
from tillhouse.hotel.rooms.store import lock_type
from tillhouse.kit.clock import parse_date
from tillhouse.kit.ids import BookKey


async def expect_again(call: Call, before: Reservation) -> Reservation:
    """The reservation of a no-show, booked again: in its room, else in another of the type.

    The reservation is locked. It keeps its days and its price.
    """
    key = BookKey(call.book.id, before.id)
    await lock_type(call.db, call.book.id, before.room_type_id)
    row = await store.update_booked_again(call.db, key, None, call.now)
    if row is None and (freed := await make_room(call, _wanted(before))):
        row = await store.update_booked_again(call.db, key, freed.room_id, call.now)
    if row is None:
        raise rules.none_free_again(before)
    after = shown(row)
    told = {
        "reservation_id": before.id,
        "from_room": before.room_number,
        "to_room": after.room_number,
    }
    await audit.note(call, ("hotel_reservation.reinstated", "No-show taken back"), told)
    return after


def _wanted(before: Reservation) -> Booking:
    return Booking(
        id=before.id,
        room_type_id=before.room_type_id,
        since=parse_date(before.check_in_date),
        until=parse_date(before.check_out_date),
    )
