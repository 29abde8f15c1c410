"""Payments and refunds of orders as they are shown, and the persons who made them."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.access.callers import KeyCaller, SystemCaller, UserCaller
from tillhouse.kit.clock import Timestamp
from tillhouse.payins.types import ProviderMoney
from tillhouse.providers.payments.provider import DisputeState

PaymentMethod = Literal["cash", "transfer", "pos", "cloove_pay", "credit", "other"]
GivenMethod = Literal["cash", "transfer", "pos", "card", "cloove_pay", "credit", "other"]
ONLINE: PaymentMethod = "cloove_pay"
"""The method of payments that come by a provider."""
NOT_BY_HAND = (
    "can't be cloove_pay for money that is recorded by hand: the payment provider alone tells of "
    "that. Name the method by which the money came, or send a payment link"
)
"""Why no amount is called received by that method in a request."""
PaymentState = Literal["pending", "successful", "failed", "reversed"]
Caller = KeyCaller | UserCaller | SystemCaller
_NOBODY = UUID(int=0)


def method_of(given: GivenMethod) -> PaymentMethod:
    """The method that a request means: a card is taken by a terminal, and kept as `pos`."""
    return "pos" if given == "card" else given


class Person(msgspec.Struct, frozen=True, rename="camel"):
    """Somebody, or a program, by name."""

    id: UUID
    name: Annotated[str, Meta(examples=["Ada Okafor"])]


def actor_of(caller: Caller) -> Person:
    """The caller by id and name."""
    match caller:
        case KeyCaller(key_id=key_id, name=name):
            return Person(key_id, name)
        case UserCaller(user_id=user_id, name=name):
            return Person(user_id, name)
        case system:
            return Person(_NOBODY, system.name)


class PaymentShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A payment of an order, or a correction of what was said to be paid."""

    id: UUID
    kind: Literal["payment", "correction"]
    """`correction`: what was said to be paid was put right."""
    amount: Decimal
    """The amount that came in, without the tip; negative for a correction."""
    method: PaymentMethod
    """How it was paid."""
    status: PaymentState
    reference: Annotated[str | None, Meta(examples=["TRF-88120"])]
    """The reference that was given with it; null: none."""
    tip: Decimal
    """An amount on top, which is not part of the sale."""
    change_amount: Decimal
    """The part of the amount that was handed out again in cash."""
    transaction_id: UUID
    """The transaction of the payment."""
    provider_money: ProviderMoney | None
    """The payment with the provider's fee, as the provider tells it; null where it came by no
    provider."""
    at: Timestamp
    """When the money came in."""
    by: Person
    """The person or program that recorded it."""


class RefundedLine(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A line that was given back, wholly or in part."""

    item_id: UUID
    """The line of the order."""
    quantity: Decimal
    amount: Decimal
    """The amount that was given back for it."""


class RefundShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Money of an order that was given back."""

    id: UUID
    amount: Decimal
    """The amount that was given back."""
    method: PaymentMethod
    """How it was given back."""
    status: PaymentState
    """`pending` while it is on its way through the payment provider; `failed` when that gave
    nothing back, and `reversed` when what went back came home again."""
    reason: str | None
    """Why it was given back; null: not said."""
    restocked: bool
    lines: list[RefundedLine]
    """The lines that were given back; empty for an amount alone."""
    payment_id: UUID | None
    """The payment that a provider gives back; null: none in particular."""
    provider: Annotated[str | None, Meta(examples=["paystack"])]
    """The payment provider that gives it back; null: it was handed back another way."""
    provider_refund_id: Annotated[str | None, Meta(examples=["3018284"])]
    """The provider's id of the refund; null: it has named none."""
    withdrawal_id: UUID | None
    """The withdrawal that pays it out, where the provider doesn't give the payment back; null:
    there is none."""
    failure_reason: str | None
    """Why the provider gave nothing back, or took it home again; null: it did neither."""
    transaction_id: UUID | None
    """The transaction of the refund; null until the money is back."""
    at: Timestamp
    """When the money was given back; while the provider has yet to do it, when that began."""
    by: Person
    """The person or program that gave it back."""


class DisputeShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A payment that the payer's bank wants back."""

    id: UUID
    status: DisputeState
    """`evidence_due` waits for your evidence at the provider; `opened` is being decided there."""
    amount: Decimal
    """The amount that is disputed."""
    taken_amount: Decimal
    """The part of it that the provider has taken and not given back."""
    fee: Decimal
    """The provider's fee for the dispute, as it tells it; 0 where it tells of none."""
    evidence_due_by: Timestamp | None
    """The end of the time in which the provider takes evidence; null: it names none."""
    opened_at: Timestamp
