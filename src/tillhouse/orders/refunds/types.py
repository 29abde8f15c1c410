"""Requests of the routes of refunds."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.orders.money_types import GivenMethod, RefundedLine
from tillhouse.orders.payments.types import ReceivedAmount
from tillhouse.orders.types import LINES_MAX, PaymentMethod, Reason
from tillhouse.orders.values import LineQuantity
from tillhouse.products.values import Price


class ReturnedLine(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A line that is given back, wholly or in part."""

    item_id: UUID
    """The line of the order."""
    quantity: LineQuantity


class NewRefund(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Money of an order that is given back: an amount, or what lines cost."""

    amount: ReceivedAmount | None = None
    """The amount to give back; left out with `lines`."""
    lines: Annotated[list[ReturnedLine], Meta(min_length=1, max_length=LINES_MAX)] | None = None
    """The lines to give back, in the place of `amount`: each by its share of what it cost."""
    method: GivenMethod | None = None
    """How it is given back; required when the order was paid by several methods. `credit` makes
    it the customer's credit."""
    payment_id: UUID | None = None
    """The payment that goes back through its provider. Left out or null: the first of which
    enough is left."""
    reason: Reason | None = None
    restock: bool | None = False
    """Whether the stock of the lines comes back."""
    if_amount_paid: Price | None = None
    """The `amountPaid` that the caller saw: where it is another by now, nothing is done, and the
    answer is 409. Left out or null: whatever it is."""


class RefundPreview(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The outcome of a refund, of which nothing is done yet."""

    amount: Decimal
    """The amount that would be given back."""
    method: PaymentMethod
    """How it would be given back."""
    lines: list[RefundedLine]
    """The lines that would be given back; empty for an amount alone."""
