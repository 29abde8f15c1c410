"""Check-out: the end of a stay, which owes nothing or leaves a debt; and a check-in taken back."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.folios import audits, rules
from tillhouse.folios.facts import costs
from tillhouse.folios.payments import apply, lock
from tillhouse.folios.reading import show
from tillhouse.folios.store import stays
from tillhouse.folios.types import CheckOut, Folio
from tillhouse.hotel.reservations import actions as reservations
from tillhouse.hotel.reservations.types import Reservation
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import BookKey
from tillhouse.kit.values import DayClock


async def check_out(call: Call, reservation_id: UUID, how: CheckOut) -> Folio:
    """Let a guest leave: nights and other charges are paid, or stay as the guest's debt.

    The reservation is locked first: a charge that comes meanwhile is in the sum, or is refused.
    """
    stay = await lock(call, reservation_id)
    if stay.status != "checked_in":
        raise Refused(
            f"The reservation is {stay.status}: only one that is checked_in can be checked out."
        )
    today = DayClock.at_midnight(stay.time_zone).today(call.now)
    await audits.post_nights(call, stay, rules.slept(costs(stay), today))
    state = await apply(call, stay)
    rules.check_settled(state.orders, stay.currency, leaves_debt=how.leave_as_debt)
    await reservations.check_out(call, reservation_id)
    return await show(call, reservation_id)


class NightsCharged(
    Refused,
    message=(
        "A night of the stay was charged already: check the guest out instead, and cancel the "
        "order of the night if no guest slept there."
    ),
):
    """A check-in is taken back on the day on which it was made by mistake."""


async def undo_check_in(call: Call, reservation_id: UUID) -> Reservation:
    """Expect a guest again who was checked in by mistake; other charges stay on the folio.

    The stay is locked first, as for a night that is charged: one of the two comes too late.
    """
    stay = await lock(call, reservation_id)
    if stay.status == "checked_in" and await stays.list_posted_nights(
        call.db, BookKey(call.book.id, stay.id)
    ):
        raise NightsCharged
    return await reservations.undo_check_in(call, reservation_id)
