"""Requests and answers of the routes of withdrawals."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import OrderId
from tillhouse.kit.money import AMOUNT_LIMIT, Bounded
from tillhouse.kit.page import Paged
from tillhouse.kit.text import OneLine
from tillhouse.orders.types import Reason

WithdrawalStatus = Literal[
    "requested", "processing", "completed", "failed", "reversed", "cancelled"
]


class WithdrawalAmount(
    Bounded,
    exclusiveMinimum=0,
    exclusiveMaximum=AMOUNT_LIMIT,
    wrong="must be more than 0",
    example=50000,
):
    """An amount above 0."""

    __slots__ = ()


class Narration(OneLine, longest=100, example="Takings of January"):
    """The text that the bank shows."""


class OwnReference(OneLine, longest=100, example="PAYOUT-2026-01"):
    """A name that the business gives."""


class PaidOutRefund(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The refund that a withdrawal pays out, where the provider doesn't give the payment back."""

    order_id: OrderId
    """The order that the amount is a refund of."""
    payment_id: UUID | None = None
    """The payment that is given back. Left out or null: the first of which enough is left."""
    reason: Reason | None = None


class NewWithdrawal(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Money that is to leave the wallet."""

    amount: WithdrawalAmount
    """The amount, in the currency of the business."""
    payout_account_id: UUID
    """The account that it goes to."""
    narration: Narration | None = None
    """The text that the bank shows, as far as it does."""
    reference: OwnReference | None = None
    """The business's own name of the withdrawal."""
    refund: PaidOutRefund | None = None
    """The refund that it pays out, to an account of the customer's; also needs `orders:write`."""


class WithdrawalFilter(Paged):
    """Which withdrawals, and which page of them."""

    status: Annotated[list[WithdrawalStatus], Meta(min_length=1)] | None = None
    """Only withdrawals with one of these statuses, split by commas."""
    payout_account_id: UUID | None = None
    """Only withdrawals to this account."""


class Destination(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The account as it was when the withdrawal was requested."""

    id: UUID
    version: int
    """Which state of the account it was: it rises with each change."""
    bank_code: Annotated[str, Meta(examples=["058"])]
    """The code of the bank."""
    bank_name: Annotated[str, Meta(examples=["Guaranty Trust Bank"])] | None
    """The name of the bank."""
    account_number: Annotated[str, Meta(examples=["0123456789"])]
    account_name: Annotated[str, Meta(examples=["Ada Okafor"])]
    """The name that the account is held in."""


class Requester(msgspec.Struct, frozen=True):
    """The person or key that requested it."""

    id: UUID
    name: str


class Withdrawal(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Money that leaves the wallet."""

    id: UUID
    status: WithdrawalStatus
    """How far it is; `processing` until the provider has said how it ended."""
    amount: Decimal
    """The amount, in the currency beside it."""
    fee: Decimal
    """The fee of the payment provider, known when it is completed; it leaves the wallet, too."""
    due: Decimal
    """The part of amount and fee that the provider took and the wallet didn't have: it leaves the
    wallet as money comes in."""
    currency: str
    narration: str | None
    """The text that the bank shows."""
    reference: Annotated[str, Meta(examples=["PAYOUT-2026-01"])] | None
    """The business's own name of the withdrawal."""
    payout_account: Destination
    """The account that it goes to, as it was when the withdrawal was requested."""
    provider: Annotated[str, Meta(examples=["sandbox"])]
    """The payment provider that sends it."""
    provider_reference: Annotated[str, Meta(examples=["TRF_x8k2"])] | None
    """The name that the provider gave it."""
    failure_reason: Annotated[str, Meta(examples=["the account is closed"])] | None
    """The reason for which it failed or came back."""
    order_id: UUID | None
    """The order that it pays a refund of out; null: of none."""
    transaction_id: UUID | None
    """The transaction of this withdrawal, as the list of transactions shows it. That of a refund
    is the refund's: null until the withdrawal is completed."""
    requested_by: Requester
    """The person or key that requested it."""
    sent_at: Timestamp | None
    """When it was handed to the provider; from then on it can't be cancelled."""
    ended_at: Timestamp | None
    """When it was completed, failed, came back or was cancelled."""
    created_at: Timestamp
    updated_at: Timestamp
