"""The content of a bill beside the folio."""

from decimal import Decimal

import msgspec

from tillhouse.kit.ids import OrderId
from tillhouse.orders.receipts.head_rules import Imprint


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The hotel and its guest."""

    business: str
    environment: str
    time_zone: str
    store: str | None
    address: str | None
    phone: str | None
    guest: str
    adults: int
    children: int
    checked_out_at: str | None
    # Empty in a bill from before it was kept.
    imprint: Imprint = Imprint()


class OrderParts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of an order's total, and how and when it was paid by itself, and given back."""

    id: OrderId
    discount: Decimal
    service: Decimal
    tax: Decimal
    added_tax: Decimal
    adjustment: Decimal
    methods: list[str]
    paid_at: str | None = None
    returned_at: str | None = None


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A line of an order, before discounts."""

    order_id: OrderId
    name: str
    variant: str | None
    quantity: Decimal
    amount: Decimal


class Particulars(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a bill beside the folio; of the items the first ones alone."""

    head: Head
    orders: list[OrderParts]
    items: list[Item]
