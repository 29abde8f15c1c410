"""Orders and the kitchen: send there, move through its stages, tell the customer."""

from collections.abc import Awaitable, Callable

import msgspec

from tillhouse.access.call import Call
from tillhouse.kit.errors import Missing, Refused, existing
from tillhouse.kit.ids import OrderId, TicketId
from tillhouse.kitchen import actions as kitchen
from tillhouse.kitchen.rules import AlreadyInKitchen
from tillhouse.kitchen.types import CustomerNotice, Notification, SaleFacts, Ticket
from tillhouse.orders.kitchen.store import find_sale, lock_sale
from tillhouse.orders.showing import show
from tillhouse.orders.types import Order, Stage


class NoTicket(Missing, message="The order has no associated kitchen ticket: send it first."):
    """The kitchen doesn't know of this order."""


class StageOutcome(msgspec.Struct, frozen=True):
    """The order afterwards, the message to its customer, and the work after the commit."""

    order: Order
    notification: Notification
    finish: Callable[[], Awaitable[Notification]] | None = None


async def send(call: Call, order_id: OrderId) -> StageOutcome:
    """Open the order's ticket and tell the customer."""
    row = existing(await lock_sale(call.db, call.book.id, order_id))
    if row["status"] in ("cancelled", "refunded"):
        if await kitchen.find(call, order_id) is not None:
            raise AlreadyInKitchen
        raise Refused(f"A {row['status']} order isn't cooked.")
    sale = await _sale(call, order_id)
    ticket = await kitchen.open_ticket(call, sale)
    told = await kitchen.tell(call, ticket, "queued", sale)
    return await _outcome(call, order_id, told)


async def move(call: Call, order_id: OrderId, stage: Stage) -> StageOutcome:
    """Set the stage of the order's ticket, and tell the customer."""
    sale = await _sale(call, order_id)
    ticket = await kitchen.find(call, order_id)
    if ticket is None:
        raise NoTicket
    moved = await kitchen.move(call, ticket.id, stage)
    told = await kitchen.tell(call, moved.ticket, stage, sale, is_changed=moved.is_changed)
    return await _outcome(call, order_id, told)


async def tell_of_new(call: Call, order_id: OrderId, ticket_id: TicketId) -> CustomerNotice:
    """Tell the customer that a new order is in the kitchen."""
    ticket = Ticket(id=ticket_id, order_id=order_id, station="kitchen", status="queued")
    return await kitchen.tell(call, ticket, "queued", await _sale(call, order_id))


async def _sale(call: Call, order_id: OrderId) -> SaleFacts:
    return existing(await find_sale(call.db, call.book.id, order_id))


async def _outcome(call: Call, order_id: OrderId, told: CustomerNotice) -> StageOutcome:
    order = await show(call, OrderId(order_id))
    sending = told.sending
    if sending is None:
        return StageOutcome(order, told.notification)
    return StageOutcome(order, told.notification, lambda: kitchen.send(call.services, sending))
