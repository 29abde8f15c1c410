"""Values of a reconciliation."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Literal, TypeAlias
from uuid import UUID

import msgspec

from tillhouse.access.callers import Book
from tillhouse.kit.ids import BusinessId
from tillhouse.orders.money_types import PaymentState
from tillhouse.payins.types import Connection, Origin

Kind = Literal[
    "payment_unrecorded",
    "payment_unapplied",
    "payment_differs",
    "payment_reversed",
    "payment_restored",
    "payment_unknown",
    "payment_unbooked",
    "payout_differs",
    "payout_unknown",
    "payout_unrecorded",
    "payout_stuck",
    "refund_differs",
    "refund_unknown",
    "refund_unrecorded",
    "refund_stuck",
    "provider_unread",
    "order_differs",
    "link_differs",
    "wallet_differs",
    "ledger_differs",
]
Remedy = Literal["record", "apply", "ask"]

REMEDIES: Mapping[Remedy, str] = {
    "record": "ask the provider again, and record what it says",
    "apply": "apply it to what was paid for",
    "ask": "ask the provider how it ended, as the worker does",
}
"""The steps of a repair, in words: each adds to the books, and none changes what is written."""


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the books that is reconciled; None: all of it."""

    since: datetime
    until: datetime
    business_id: BusinessId | None = None
    book: UUID | None = None
    provider: str | None = None


class Difference(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that two sides tell differently."""

    kind: Kind
    business_id: UUID
    environment: str
    provider: str | None
    # The provider's name of a payment, ours of anything else.
    id: str
    what: str
    # None: people have to look.
    repair: Remedy | None = None


class RecordFix(msgspec.Struct, frozen=True):
    """Record the payments of a transaction as the provider tells them."""

    origin: Origin
    transaction: str


class ApplyFix(msgspec.Struct, frozen=True):
    """Apply what arrived for a target."""

    origin: Origin
    target: tuple[str, UUID]


class AskFix(msgspec.Struct, frozen=True):
    """Ask how a withdrawal ended."""

    book: Book
    withdrawal_id: UUID


class AskRefundFix(msgspec.Struct, frozen=True):
    """Ask how a refund through a provider ended."""

    book: Book
    refund_id: UUID


Fix: TypeAlias = RecordFix | ApplyFix | AskFix | AskRefundFix


class Found(msgspec.Struct, frozen=True):
    """A difference, and what mends it."""

    difference: Difference
    fix: Fix | None = None


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A provider of one book, which is asked about a time."""

    origin: Origin
    connection: Connection
    # Payments before this that nobody here knows are none of ours.
    connected_at: datetime | None
    since: datetime
    until: datetime


class OwnPayment(msgspec.Struct, frozen=True, kw_only=True):
    """A payment as it is recorded here."""

    id: UUID
    transaction: str
    status: str
    amount: Decimal
    fee: Decimal
    currency: str
    paid_at: datetime


class OwnPayout(msgspec.Struct, frozen=True, kw_only=True):
    """A withdrawal as it is recorded here."""

    id: UUID
    reference: str
    status: Literal["requested", "processing", "completed", "failed", "cancelled", "reversed"]
    amount: Decimal
    fee: Decimal
    asked_at: datetime | None


class OwnRefund(msgspec.Struct, frozen=True, kw_only=True):
    """A refund through a provider as it is recorded here."""

    id: UUID
    status: PaymentState
    amount: Decimal
    asked_at: datetime | None
    provider_refund_id: str | None
    # Of the payment that it gives back.
    transaction_id: str
    payment_reference: str | None


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The outcome of a reconciliation."""

    since: datetime
    until: datetime
    books: int
    payments: int
    payouts: int
    refunds: int
    differences: list[Difference]
    # Those that a repair has mended.
    repaired: list[Difference] = []
