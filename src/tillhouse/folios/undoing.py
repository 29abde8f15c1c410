"""Take back a check-in, as long as it has cost nothing."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.folios.payments import lock
from tillhouse.folios.store import stays as store
from tillhouse.hotel.reservations import actions as reservations
from tillhouse.hotel.reservations.types import Reservation
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import BookKey


class NightsCharged(
    Refused,
    message=(
        "A night of the stay was charged already: check the guest out instead, and cancel the "
        "order of the night if nobody slept there."
    ),
):
    """A check-in is taken back on the day on which it was made by mistake."""


async def undo_check_in(call: Call, reservation_id: UUID) -> Reservation:
    """Expect a guest again who was checked in by mistake; other charges stay on the folio.

    The stay is locked first, as for a night that is charged: one of the two comes too late.
    """
    stay = await lock(call, reservation_id)
    if stay.status == "checked_in" and await store.list_posted_nights(
        call.db, BookKey(call.book.id, stay.id)
    ):
        raise NightsCharged
    return await reservations.undo_check_in(call, reservation_id)
