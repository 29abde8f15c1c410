"""The figures that a list of orders tells, and its page."""

from decimal import Decimal

import msgspec

from tillhouse.kit.page import Meta as PageMeta
from tillhouse.orders.types import Order, PaymentMethod


class MethodSum(msgspec.Struct, frozen=True, rename="camel"):
    """The amount that came in by one method."""

    method: PaymentMethod
    """How it was paid."""
    amount: Decimal
    """Payments less corrections, refunds and, of cash, change; tips are no part of it."""


class Summary(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Figures of the orders that fit, and of the whole book."""

    today_orders: int
    today_revenue: Decimal
    total_orders: int
    filtered_orders: int
    total_revenue: Decimal
    average_order_value: Decimal
    pending_orders_count: int
    pending_outstanding_amount: Decimal
    completed_orders_count: int
    completed_revenue: Decimal
    cancelled_orders_count: int
    cancelled_revenue: Decimal
    received_by_method: list[MethodSum]
    """The amount that the orders that fit were paid by each method, whatever their status."""


class Figures(msgspec.Struct):
    """The figures that a list of orders tells beside them."""

    summary: Summary
    """Figures of the orders that fit, and of the whole book."""


class OrderPage(msgspec.Struct, frozen=True):
    """One page of orders with what is told about the whole."""

    orders: list[Order]
    meta: PageMeta
    summary: Summary
