"""Charge a customer for what another room sells: an order of one fee, within its transaction."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import check
from tillhouse.kit.ids import CustomerId, OrderId
from tillhouse.kit.values import Moment
from tillhouse.orders.recording import actions
from tillhouse.orders.recording.named import facts_of
from tillhouse.orders.recording.rules import sale as rules
from tillhouse.orders.recording.rules.figures import KnownTax
from tillhouse.orders.types import NewItem, NewOrder
from tillhouse.orders.values import LineQuantity, ShortText
from tillhouse.products.values import Price


class Fee(msgspec.Struct, frozen=True, kw_only=True):
    """A fee of a stay: its name, its price with the tax that is known, and the time it is of."""

    name: str
    price: Decimal
    tax: KnownTax
    happened_at: datetime
    customer_id: CustomerId
    reservation_id: UUID
    room_id: UUID


async def charge(call: Call, fee: Fee) -> OrderId:
    """Record a fee as an unpaid order; its id."""
    # The key of the request belongs to all of what it does, and not to one order.
    own = msgspec.structs.replace(call, claim=None)
    new = NewOrder(
        items=[
            NewItem(
                product_name=ShortText(fee.name),
                quantity=LineQuantity(1),
                custom_price=Price(fee.price),
                line_type="fee",
            )
        ],
        customer_id=fee.customer_id,
        occurred_at=Moment(iso(fee.happened_at)),
        send_to_kitchen=False,
    )
    facts = await facts_of(own, new)
    found, lines = rules.judge(new, facts, own.now)
    check(found)
    taxed = [msgspec.structs.replace(one, known_tax=fee.tax) for one in lines]
    # The stay is the caller's, who has locked it.
    stay = {"hotel_reservation_id": fee.reservation_id, "hotel_room_id": fee.room_id}
    return OrderId((await actions.record_lines(own, new, facts, taxed, stay)).order.id)
