"""Values of a reconciliation."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, TypeAlias
from uuid import UUID

import msgspec

from tillhouse.access.callers import Book
from tillhouse.kit.ids import BookId, BusinessId
from tillhouse.orders.money_types import PaymentState
from tillhouse.payins.types import Origin, ProviderConnection
from tillhouse.providers.payments.provider import (
    DisputeState,
    ListedRefund,
    SeenDispute,
    SeenPayment,
    SeenPayout,
)

Kind = Literal[
    "payment_unrecorded",
    "payment_ambiguous",
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
    "payout_due",
    "refund_differs",
    "refund_unknown",
    "refund_unrecorded",
    "refund_stuck",
    "dispute_unrecorded",
    "dispute_differs",
    "dispute_unknown",
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
"""The steps of a repair, in words: each adds to the books, and none changes a row."""


class ReconciledPart(msgspec.Struct, frozen=True, kw_only=True):
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
    """Apply the payments of a target."""

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


class FoundDifference(msgspec.Struct, frozen=True):
    """A difference, and its remedy."""

    difference: Difference
    fix: Fix | None = None


class OwnPayment(msgspec.Struct, frozen=True, kw_only=True):
    """A payment as it is recorded here."""

    id: UUID
    transaction: str
    status: str
    amount: Decimal
    fee: Decimal
    currency: str
    # Whether its target took it, which books it; one for no target is booked at once.
    is_applied: bool
    # The part that the provider took back by itself: as it told, as far as refunds of ours leave
    # it, and as it is booked.
    returned: Decimal
    returned_amount: Decimal
    returned_applied: Decimal
    returned_fee: Decimal
    paid_at: datetime


class OwnPayout(msgspec.Struct, frozen=True, kw_only=True):
    """A withdrawal as it is recorded here."""

    id: UUID
    reference: str
    status: Literal["requested", "processing", "completed", "failed", "cancelled", "reversed"]
    amount: Decimal
    fee: Decimal
    asked_at: datetime | None
    sent_at: datetime | None
    # Whether it pays a refund out.
    is_refund: bool


class OwnRefund(msgspec.Struct, frozen=True, kw_only=True):
    """A refund through a provider as it is recorded here."""

    id: UUID
    status: PaymentState
    amount: Decimal
    # The part that the provider had taken back by itself before, and that is booked as that.
    taken_before: Decimal
    asked_at: datetime | None
    provider_refund_id: str | None
    # Of the payment that it gives back.
    transaction_id: str
    payment_reference: str | None


class OwnDispute(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute as it is recorded here."""

    provider_dispute_id: str
    # The provider's name of the payment.
    transaction: str
    status: DisputeState
    currency: str
    # The part that is taken: as the provider told, and as far as the payment went, which is booked.
    taken_told: Decimal
    taken_amount: Decimal
    fee: Decimal
    opened_at: datetime


class OwnBalances(msgspec.Struct, frozen=True):
    """The balance of the wallet, and the money that is booked at the providers of a book."""

    wallet: Decimal
    booked: Decimal


class SeenMoney(msgspec.Struct, kw_only=True):
    """Both sides of a provider's money as the checks came upon it, by the provider's names."""

    payments: dict[str, Sequence[SeenPayment]] = {}
    payouts: dict[str, SeenPayout] = {}
    refunds: dict[str, ListedRefund] = {}
    disputes: dict[str, SeenDispute] = {}
    own_payments: dict[str, Sequence[OwnPayment]] = {}
    own_payouts: dict[str, OwnPayout] = {}
    own_refunds: dict[UUID, OwnRefund] = {}
    own_disputes: dict[str, OwnDispute] = {}
    # Transactions and payouts of other books.
    foreign: set[str] = set()


class MovedMoney(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Money that moved on a day: money that came is above 0, money that left below."""

    payments: Decimal = Decimal(0)
    fees: Decimal = Decimal(0)
    refunds: Decimal = Decimal(0)
    disputes: Decimal = Decimal(0)
    payouts: Decimal = Decimal(0)


class MoneyDay(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A day (UTC) of a provider's money: as the provider tells it, and as it is booked."""

    day: date
    at_provider: MovedMoney
    booked: MovedMoney
    # All that moved since the first day of the time.
    provider_balance: Decimal
    booked_balance: Decimal
    # The part of this day that the provider tells and that isn't booked.
    difference: Decimal
    # The part that is recorded here and booked later: of refunds and payouts that are on their
    # way, and of payments that wait to be applied.
    to_book: MovedMoney


class ProviderDays(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A provider's money of one book, day by day, where there was any."""

    business_id: UUID
    environment: str
    provider: str
    currency: str
    days: list[MoneyDay]
    first_difference: date | None


class BalanceBeside(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The money of one currency that lies at a provider now, and the book's wallet."""

    business_id: UUID
    environment: str
    provider: str
    currency: str
    # None: not told.
    available: Decimal | None
    pending: Decimal | None
    # The money that is booked at all providers of the book, and the part that the wallet may give
    # away; None: of another currency than the book's.
    booked: Decimal | None
    wallet: Decimal | None
    # Why nothing is told.
    unread: str | None


class ProviderPeriod(msgspec.Struct, frozen=True, kw_only=True):
    """A provider of one book, and the time of which its money is read."""

    book_id: BookId
    provider: str
    since: datetime
    until: datetime

    @property
    def key(self) -> tuple[BookId, str]:
        """The provider, in its book."""
        return self.book_id, self.provider

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The time."""
        return self.since, self.until


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A provider of one book, which is asked about a time."""

    seen: SeenMoney

    origin: Origin
    connection: ProviderConnection
    # Unknown payments before this are none of ours.
    connected_at: datetime | None
    since: datetime
    until: datetime
    # Whether the book was named: money that could be another's is then said to be its own.
    is_named: bool

    @property
    def period(self) -> ProviderPeriod:
        """The rows here that it is held against."""
        return ProviderPeriod(
            book_id=self.origin.book.id,
            provider=self.origin.provider,
            since=self.since,
            until=self.until,
        )


class ReconcilingReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The outcome of a reconciliation."""

    since: datetime
    until: datetime
    books: int
    payments: int
    payouts: int
    refunds: int
    # Lines of the statements that are other books', which collect by the same account.
    foreign: int
    differences: list[Difference]
    # The money that moved at each provider, day by day, beside the booked amounts.
    days: list[ProviderDays] = []
    # The money that lies at each provider now, beside the wallet.
    balances: list[BalanceBeside] = []
    # Those that a repair has mended.
    repaired: list[Difference] = []
