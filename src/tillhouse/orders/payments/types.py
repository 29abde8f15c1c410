"""Requests of the routes of payments."""

import msgspec

from tillhouse.kit.money import AMOUNT_LIMIT, Bounded
from tillhouse.kit.text import OneLine
from tillhouse.kit.values import Moment
from tillhouse.orders.money_types import GivenMethod
from tillhouse.products.values import Price


class ReceivedAmount(
    Bounded,
    exclusiveMinimum=0,
    exclusiveMaximum=AMOUNT_LIMIT,
    wrong="must be more than 0",
    example=5000,
):
    """An amount above 0."""

    __slots__ = ()


class PaymentReference(OneLine, longest=120, example="TRF-88120"):
    """The name of a payment elsewhere."""


class NewPayment(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Money that came in for an order."""

    amount: ReceivedAmount
    """The amount that came in just now, without a tip."""
    method: GivenMethod
    """How it was paid. `credit` spends the customer's credit; `cloove_pay` is refused, since the
    payment provider alone tells of that."""
    reference: PaymentReference | None = None
    """The reference of the payment, such as the number of a transfer."""
    tip: Price | None = None
    """An amount on top that is not part of the sale. Left out or null: none."""
    at: Moment | None = None
    """When it came in. Left out or null: now."""
    if_amount_paid: Price | None = None
    """The `amountPaid` that the caller saw: where it is another by now, nothing is done, and the
    answer is 409. Left out or null: whatever it is."""
