"""The request of a step, and the model's answer to it."""

from decimal import Decimal
from typing import Any

import msgspec

from tests.orders.basket_model import No
from tests.orders.modelled_shop import (
    Adjust,
    Confirm,
    Create,
    Delete,
    Leave,
    Patch,
    Price,
    Seat,
    Send,
    Stage,
    Tending,
    Threshold,
    World,
)
from tests.orders.order_model import Events
from tests.orders.shop import ORDERS, Body

CENT = Decimal("0.01")
Change = Patch | Confirm | Delete | Send | Stage
Asking = Create | Change | Tending
Request = tuple[str, str, Body | None]


def request(world: World, step: Asking) -> Request:
    """The request of a step, of the orders and sessions that there are."""
    match step:
        case Create():
            return "POST", ORDERS, world.new_order(step.sale, paid_for(world, step))
        case Patch() | Confirm() | Delete() | Send() | Stage():
            return _change(world, step)
        case _:
            return world.tending(step)


def _change(world: World, step: Change) -> Request:
    number = step.order % len(world.orders)
    path = f"{ORDERS}/{world.orders[number]}"
    match step:
        case Patch():
            return "PATCH", path, world.patch(_fields(world, number, step))
        case Confirm():
            body: Body = {}
            if step.paid is not None:
                body["amount_paid"] = float(_part(world, number, step.paid))
            if step.method is not None:
                body["payment_method"] = step.method
            return "POST", path + "/confirm", body
        case Delete():
            return "DELETE", path, None
        case Send():
            return "POST", path + "/send-to-kitchen", None
        case Stage():
            return "POST", path + "/kitchen-status", {"status": step.stage}


def foretell(world: World, step: Asking) -> Events:
    """Change the model, and say what must be told; or raise `No` with the model half changed."""
    match step:
        case Create():
            paid = paid_for(world, step) or Decimal(0)
            return world.model.create(msgspec.structs.replace(step.sale, paid=paid))
        case Patch() | Confirm() | Delete() | Send() | Stage():
            return _foretell_change(world, step)
        case _:
            return _foretell_tending(world, step)


def _foretell_change(world: World, step: Change) -> Events:
    model, number = world.model, step.order % len(world.orders)
    match step:
        case Patch():
            return model.patch(number, _fields(world, number, step))
        case Confirm():
            paid = None if step.paid is None else _part(world, number, step.paid)
            return model.confirm(number, paid, step.method)
        case Delete():
            return model.delete(number)
        case Send():
            return model.send(number)
        case Stage():
            return model.move(number, step.stage)


def _foretell_tending(world: World, step: Tending) -> Events:
    model = world.model
    match step:
        case Adjust():
            return model.adjust((step.variant, step.in_store), Decimal(step.count))
        case Threshold():
            model.thresholds.pop(step.variant, None)
            if step.count is not None:
                model.thresholds[step.variant] = Decimal(step.count)
        case Price():
            model.trade.here.pop(step.ware, None)
            if step.price is not None:
                model.trade.here[step.ware] = step.price
        case Seat():
            model.guests.seat(step.table)
        case Leave():
            model.guests.leave(step.table, model.orders, is_forced=step.is_forced)
    return Events()


def paid_for(world: World, step: Create) -> Decimal | None:
    """The amount that comes in with an order."""
    if step.paid is None:
        return None
    try:
        _, total = world.model.trade.priced(step.sale)
    except No:
        return Decimal(10)
    return (total * step.paid).quantize(CENT)


def _part(world: World, number: int, part: Decimal, total: Decimal | None = None) -> Decimal:
    whole = world.model.orders[number].total if total is None else total
    return (whole * part).quantize(CENT)


def _fields(world: World, number: int, step: Patch) -> dict[str, Any]:
    fields = dict(step.fields)
    total = None
    if "total_amount" in fields:
        total = fields["total_amount"] = _part(world, number, fields["total_amount"])
    if "amount_paid" in fields:
        fields["amount_paid"] = _part(world, number, fields["amount_paid"], total)
    return fields
