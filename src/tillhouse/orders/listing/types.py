"""The figures that a list of orders tells, and its page."""

from decimal import Decimal

import msgspec

from tillhouse.kit.page import ChangesMeta
from tillhouse.orders.types import Order, PaymentMethod


class MethodSum(msgspec.Struct, frozen=True, rename="camel"):
    """The amount that came in by one method."""

    method: PaymentMethod
    """How it was paid."""
    amount: Decimal
    """Payments less corrections, refunds and, of cash, change."""


class Summary(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Figures of the orders that fit, and of the whole book."""

    today_orders: int
    """How many orders were sold today, cancelled ones left out; a refunded order counts."""
    today_revenue: Decimal
    """The totals of today's orders that are pending, completed or refunded, by the day of the sale;
    a refund doesn't change them."""
    total_orders: int
    filtered_orders: int
    total_revenue: Decimal
    """The totals of the orders that fit and are pending, completed or refunded, by the day of the
    sale; a refund doesn't change them."""
    refunded_amount: Decimal
    """The refunds of the same orders, on whichever day the money went back; by the day of the
    sale."""
    net_revenue: Decimal
    """`totalRevenue` less `refundedAmount`, by the day of the sale."""
    average_order_value: Decimal
    """`totalRevenue`, divided by the number of its orders."""
    pending_orders_count: int
    pending_outstanding_amount: Decimal
    completed_orders_count: int
    """How many of the orders that fit are completed now; refunded ones are no part of it."""
    completed_revenue: Decimal
    """The totals of the orders that fit and are completed or refunded, by the day of the sale; a
    refund of a completed order doesn't change them. A paid order that was set to `pending` by name
    is no part of them until it is completed or refunded in full."""
    cancelled_orders_count: int
    cancelled_revenue: Decimal
    """The totals of the orders that fit and are cancelled, by the day of the sale."""
    received_by_method: list[MethodSum]
    """The payments of the orders that fit by their own method without tips, less what went back,
    whatever the status, by the day of the sale. An order that the money of its stay paid is paid by
    `credit`; by which method that money came tells the financial summary, by the day of the money.
    """


class Figures(msgspec.Struct):
    """The figures that a list of orders tells beside them."""

    summary: Summary
    """Figures of the orders that fit, and of the whole book."""


class OrderPage(msgspec.Struct, frozen=True):
    """One page of orders with the facts of the whole list."""

    orders: list[Order]
    meta: ChangesMeta
    summary: Summary
