"""Check-out: the end of a stay, which owes nothing or leaves a debt."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.folios import nights, rules
from tillhouse.folios.facts import costs
from tillhouse.folios.payments import apply, lock
from tillhouse.folios.reading import show
from tillhouse.folios.types import CheckOut, Folio
from tillhouse.hotel.reservations import actions as reservations
from tillhouse.kit.errors import Refused
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
    await nights.post(call, stay, rules.slept(costs(stay), today))
    state = await apply(call, stay)
    rules.check_settled(state.orders, stay.currency, leaves_debt=how.leave_as_debt)
    await reservations.check_out(call, reservation_id)
    return await show(call, reservation_id)
