"""The routes of /v1/orders."""

from typing import Any
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError, Refused
from tillhouse.kitchen.actions import send as send_message
from tillhouse.kitchen.types import Notification
from tillhouse.orders import showing as shown
from tillhouse.orders.changing import actions as change
from tillhouse.orders.kitchen import actions as kitchen
from tillhouse.orders.listing import actions as listing
from tillhouse.orders.receipts import actions as receipt
from tillhouse.orders.recording import actions as create
from tillhouse.orders.types import (
    Confirmation,
    NewOrder,
    Order,
    OrderFilter,
    OrderPatch,
    ReceiptLink,
    StageChange,
)


async def list_orders(call: Call, query: OrderFilter) -> Reply[list[Order]]:
    """List orders, the newest first, with the figures of all that fit."""
    page = await listing.list_page(call, query)
    return Reply("Orders", page.orders, meta=page.meta, extra={"summary": page.summary})


async def create_order(call: Call, body: NewOrder) -> Reply[Order]:
    """Record an order: a sale, or one scheduled for later."""
    outcome = await create.create(call, body)
    reply = msgspec.structs.replace(
        create.recorded(outcome.order), is_replay=outcome.is_replay, kept=outcome.kept
    )
    sending = outcome.sending
    if sending is None:
        return reply

    async def after() -> Reply[Order]:
        await send_message(call.services, sending)
        return reply

    return msgspec.structs.replace(reply, after=after)


async def new_order_faults(call: Call, body: NewOrder) -> list[FieldError]:
    """The faults of the order."""
    return await create.new_faults(call, body)


async def show_order(call: Call, order_id: UUID) -> Reply[Order]:
    """Read one order."""
    return Reply("Order", await shown.show(call, order_id))


async def change_order(call: Call, order_id: UUID, body: OrderPatch) -> Reply[Order]:
    """Update status, payment, customer or schedule of an order."""
    return Reply("Order updated", await change.patch(call, order_id, body))


async def order_faults(call: Call, order_id: UUID, body: OrderPatch) -> list[FieldError]:
    """The faults of the change."""
    return await change.patch_faults(call, order_id, body)


async def delete_order(call: Call, order_id: UUID) -> Reply[Deleted]:
    """Delete an order: its stock is restored, its debt removed."""
    return Reply("Order deleted", await change.delete(call, order_id))


async def confirm_order(call: Call, order_id: UUID, body: Confirmation) -> Reply[Order]:
    """Confirm a scheduled order, with its payment."""
    return Reply("Order confirmed", await change.confirm(call, order_id, body))


async def send_to_kitchen(call: Call, order_id: UUID) -> Reply[Order]:
    """Send an order to the kitchen."""
    return _told("Order sent to the kitchen", await kitchen.send(call, order_id))


async def set_kitchen_status(call: Call, order_id: UUID, body: StageChange) -> Reply[Order]:
    """Set the stage of an order's kitchen ticket."""
    return _told("Kitchen status set", await kitchen.move(call, order_id, body.status))


async def requery_order(call: Call, order_id: UUID) -> Reply[Order]:
    """Ask the payment provider again about an order's automated deposit."""
    order = await shown.show(call, order_id)
    if not order.is_automated:
        raise Refused("This order has no automated deposit: there is nothing to ask about.")
    return Reply("Order", order)


async def make_receipt(call: Call, order_id: UUID) -> Reply[ReceiptLink]:
    """Make a receipt of an order as it stands; its address is good for seven days."""
    return Reply("Receipt", await receipt.make(call, order_id))


def _told(message: str, outcome: kitchen.Outcome) -> Reply[Order]:
    def reply(notification: Notification) -> Reply[Order]:
        meta: dict[str, Any] = {"notification": notification}
        return Reply(message, outcome.order, extra={"meta": meta})

    finish = outcome.finish
    if finish is None:
        return reply(outcome.notification)

    async def after() -> Reply[Order]:
        return reply(await finish())

    return msgspec.structs.replace(reply(outcome.notification), after=after)


_ORDERS = "/v1/orders"
_ONE = _ORDERS + "/{order_id}"
_READ = Scope("orders:read")
_WRITE = Scope("orders:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _ORDERS, list_orders, _READ),
    Route(
        "POST",
        _ORDERS,
        create_order,
        _WRITE,
        status=201,
        idempotent=True,
        replay_status=200,
        faults=new_order_faults,
    ),
    Route("GET", _ONE, show_order, _READ),
    Route("PATCH", _ONE, change_order, _WRITE, faults=order_faults),
    Route("DELETE", _ONE, delete_order, _WRITE),
    Route("POST", _ONE + "/confirm", confirm_order, _WRITE, idempotent=True),
    Route("POST", _ONE + "/send-to-kitchen", send_to_kitchen, _WRITE, idempotent=True),
    Route("POST", _ONE + "/kitchen-status", set_kitchen_status, _WRITE, idempotent=True),
    Route("POST", _ONE + "/requery", requery_order, _READ, idempotent=True),
    Route("POST", _ONE + "/receipt", make_receipt, _READ, idempotent=True),
)
