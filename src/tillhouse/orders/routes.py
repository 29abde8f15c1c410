"""The routes of orders, of their payments and refunds, and of debts."""

from typing import Any

import msgspec

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.ids import OrderId
from tillhouse.kitchen.actions import send as send_message
from tillhouse.kitchen.types import Notification, Notified
from tillhouse.orders import showing as shown
from tillhouse.orders.changing import actions as change
from tillhouse.orders.debts import actions as debts
from tillhouse.orders.deposits import actions as deposits
from tillhouse.orders.deposits.beginning import following
from tillhouse.orders.kitchen import actions as kitchen
from tillhouse.orders.listing import actions as listing
from tillhouse.orders.listing.types import Figures
from tillhouse.orders.payments import actions as payments
from tillhouse.orders.receipts import actions as receipt
from tillhouse.orders.recording import actions as create
from tillhouse.orders.recording import preview
from tillhouse.orders.refunds import actions as refunds
from tillhouse.orders.types import (
    Confirmation,
    NewOrder,
    Order,
    OrderFilter,
    OrderPatch,
    StageChange,
)


async def list_orders(call: Call, query: OrderFilter) -> Reply[list[Order]]:
    """One page of the orders, with the figures of all that fit."""
    page = await listing.list_page(call, query)
    return Reply(page.orders, page.meta, extra={"summary": page.summary})


async def create_order(call: Call, body: NewOrder) -> Reply[Order]:
    """Record an order, and tell its customer after the commit."""
    outcome = await create.create(call, body)
    reply = Reply(outcome.order, is_replay=outcome.is_replay, kept=outcome.kept)
    sending, opening = outcome.sending, following(call, outcome.order)
    if outcome.is_replay or (sending is None and opening is None):
        return reply

    async def after() -> Reply[Order]:
        if sending is not None:
            await send_message(call.services, sending)
        return await opening() if opening else reply

    return msgspec.structs.replace(reply, after=after)


async def patch_order(call: Call, order_id: OrderId, body: OrderPatch) -> Reply[Order]:
    """Change an order, and open the account that it may have got after the commit."""
    order = await change.patch(call, order_id, body)
    return Reply(order, after=following(call, order))


async def confirm_order(call: Call, order_id: OrderId, body: Confirmation) -> Reply[Order]:
    """Confirm an order, and open the account that it may have got after the commit."""
    order = await change.confirm(call, order_id, body)
    return Reply(order, after=following(call, order))


async def send_to_kitchen(call: Call, order_id: OrderId) -> Reply[Order]:
    """Open the ticket, and tell the customer after the commit."""
    return _told(await kitchen.send(call, order_id))


async def set_kitchen_status(call: Call, order_id: OrderId, body: StageChange) -> Reply[Order]:
    """Move the ticket, and tell the customer after the commit."""
    return _told(await kitchen.move(call, order_id, body.status))


def _told(outcome: kitchen.StageOutcome) -> Reply[Order]:
    def reply(notification: Notification) -> Reply[Order]:
        meta: dict[str, Any] = {"notification": notification}
        return Reply(outcome.order, extra={"meta": meta})

    finish = outcome.finish
    if finish is None:
        return reply(outcome.notification)

    async def after() -> Reply[Order]:
        return reply(await finish())

    return msgspec.structs.replace(reply(outcome.notification), after=after)


_ORDERS = "/v1/orders"
_ONE = _ORDERS + "/{order_id}"
_READ = Scope("orders:read")
# The kitchen reads orders and moves their tickets; it acts on no money.
_SEE = Scope("orders:read", roles=("kitchen",))
_WRITE = Scope("orders:write")
_COOK = Scope("orders:write", roles=("kitchen",))
_READ_DEBTS = Scope("finance:transactions:read")
_PAYMENTS, _REFUNDS = _ONE + "/payments", _ONE + "/refunds"

ROUTES: tuple[Route, ...] = (
    Route("GET", _ORDERS, list_orders, _SEE,
          "List orders, the newest first, with the figures of all that fit", "Orders",
          extra=Figures),
    Route("POST", _ORDERS, create_order, _WRITE,
          "Record an order: a sale, or one scheduled for later", create.RECORDED,
          status=201, idempotent=True, replay_status=200, faults=create.new_faults,
          refused_code=create.NotRecorded.code),
    Route("POST", _ORDERS + "/preview", preview.preview, _WRITE,
          "Tell what an order would come to, without recording it", preview.PREVIEWED,
          faults=create.new_faults),
    Route("GET", _ONE, shown.show, _SEE, "Read one order", "Order"),
    Route("PATCH", _ONE, patch_order, _WRITE,
          "Update status, payment, customer or schedule of an order", "Order updated",
          faults=change.patch_faults),
    Route("DELETE", _ONE, change.delete, _WRITE,
          "Delete an order: its stock is restored, its debt removed", "Order deleted"),
    Route("POST", _ONE + "/confirm", confirm_order, _WRITE,
          "Confirm a scheduled order, with its payment", "Order confirmed",
          idempotent=True),
    Route("POST", _ONE + "/send-to-kitchen", send_to_kitchen, _COOK,
          "Send an order to the kitchen", "Order sent to the kitchen",
          idempotent=True, extra=Notified),
    Route("POST", _ONE + "/kitchen-status", set_kitchen_status, _COOK,
          "Set the stage of an order's kitchen ticket", "Kitchen status set",
          idempotent=True, extra=Notified),
    Route("POST", _ONE + "/requery", deposits.requery, _READ,
          "Ask the payment provider again about an order's automated deposit", "Order",
          idempotent=True),
    Route("POST", _ONE + "/receipt", receipt.make, _READ,
          "Make a receipt of an order as it stands; its address is good for seven days",
          "Receipt",
          idempotent=True),
    Route("GET", _PAYMENTS, payments.list_payments, _READ,
          "List the payments of an order", "Payments"),
    Route("POST", _PAYMENTS, payments.record, _WRITE,
          "Record a payment of an order, by any tender", "Payment recorded",
          status=201, idempotent=True, faults=payments.new_faults),
    Route("GET", _REFUNDS, refunds.list_refunds, _READ,
          "List the refunds of an order", "Refunds"),
    Route("POST", _REFUNDS, refunds.refund, _WRITE,
          "Give money of an order back, by an amount or by lines", "Refund recorded",
          status=201, idempotent=True, faults=refunds.new_faults),
    Route("POST", f"{_REFUNDS}/preview", refunds.preview, _WRITE,
          "Tell what a refund would give back, without doing it", "Nothing was given back",
          faults=refunds.new_faults),
    Route("GET", "/v1/debts", debts.list_debts, _READ_DEBTS,
          "List debts, the last opened first", "Debts"),
    Route("GET", "/v1/debts/{debt_id}", debts.show_debt, _READ_DEBTS, "Read one debt", "Debt"),
)  # fmt: skip
