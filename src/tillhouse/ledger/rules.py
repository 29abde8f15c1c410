"""Accounts, transfers between them, and the postings of a source: values without a database.

A source is whatever money moves for: an order, an expense, a withdrawal. The ledger knows its type
and its id, and nothing else of it. Balances that are kept have faults where their transfers
disagree.
"""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import BookId, CustomerId, StoreId

NO_OWNER = UUID(int=0)
"""Owns the accounts of the business itself."""

AccountKind = Literal[
    "wallet", "wallet_funding", "provider_clearing", "fees", "unapplied_receipts",
    "customer_credit", "receivable", "sales", "tips", "cash", "pos", "bank", "other_tender",
    "expenses", "refunds", "disputes", "withdrawals_in_transit", "opening",
]  # fmt: skip
EntryKind = Literal[
    "sale", "sale_reversed", "sale_refunded", "sale_refund_reversed", "payment",
    "payment_correction", "refund", "tip", "tip_returned", "change", "change_returned",
    "credit_given", "credit_taken_back", "unapplied_kept", "unapplied_released",
    "receivable_moved", "folio_payment", "folio_refund", "refund_funding", "refund_claim",
    "refund_shortfall", "unapplied_receipt", "unapplied_receipt_reversed", "wallet_deposit",
    "wallet_deposit_reversed", "wallet_funding", "wallet_funding_reversed",
    "wallet_fee_returned", "provider_fee", "provider_fee_reversed", "reversal_claim",
    "reversal_shortfall", "dispute", "dispute_returned", "dispute_fee", "dispute_fee_returned",
    "dispute_funding", "dispute_funding_returned", "dispute_claim", "dispute_claim_settled",
    "withdrawal", "payout", "fee", "payout_fee", "expense", "reversal",
]  # fmt: skip
TransactionType = Literal[
    "sale", "debt_payment", "wallet_deposit", "wallet_withdrawal", "refund", "reversal", "fee",
    "expense", "credit", "adjustment", "tip", "change",
]  # fmt: skip
TransactionMethod = Literal[
    "cash", "transfer", "pos", "cloove_pay", "card", "credit", "wallet", "other"
]
TransactionStatus = Literal["pending", "processing", "successful", "failed", "reversed"]
Closing = Literal["paid", "voided", "removed"]

BOUNDED: tuple[AccountKind, ...] = ("wallet", "customer_credit")
"""Accounts that keep a balance, which must not fall below zero."""
Booked = Literal["today", "on the day on which it goes back"]


class Ledger(msgspec.Struct, frozen=True):
    """The ledger of a book in its currency, and the time at which it is written to."""

    book_id: BookId
    currency: str
    now: datetime


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The cause of a posting, by type and id, and the time at which it happened in the world."""

    type: str
    id: UUID
    happened_at: datetime
    customer_id: CustomerId | None = None
    store_id: StoreId | None = None


class Account(msgspec.Struct, frozen=True):
    """An account of a book."""

    kind: AccountKind
    owner_id: UUID = NO_OWNER


class Transfer(msgspec.Struct, frozen=True):
    """An amount from the debited to the credited account."""

    debit: Account
    credit: Account
    amount: Decimal
    kind: EntryKind


class Movement(msgspec.Struct, frozen=True):
    """A transaction: money that moved, or a correction (negative) of an earlier statement."""

    type: TransactionType
    method: TransactionMethod
    amount: Decimal
    status: TransactionStatus = "successful"


class Owing(msgspec.Struct, frozen=True):
    """The fate of a customer's debt for the source: a new balance, or how it closes."""

    customer_id: CustomerId
    balance: Decimal
    closes: Closing | None = None


class Postings(msgspec.Struct, frozen=True):
    """All that is posted for one source at one time."""

    transfers: tuple[Transfer, ...] = ()
    movements: tuple[Movement, ...] = ()
    owing: tuple[Owing, ...] = ()

    @property
    def used(self) -> int:
        """How many sequence numbers of the source it takes."""
        return len(self.transfers)

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.transfers or self.movements or self.owing)


def booked(closed_on: date, when: Booked = "today") -> str:
    """The sentence beside an answer: up to which day the books are closed, when it is booked."""
    return f"The books are closed until {closed_on.isoformat()}, so it is booked {when}."


class BalanceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A bounded account: its kept balance, and the sum of its transfers."""

    kind: str
    owner_id: UUID
    debits: Decimal
    credits: Decimal
    held: Decimal
    transfers_debits: Decimal
    transfers_credits: Decimal
    pending_holds: Decimal


def balance_faults(facts: BalanceFacts) -> Iterator[Fault]:
    """Every way in which a balance and its transfers disagree."""
    named = f"{facts.kind} {facts.owner_id}"
    for side, kept, summed in (
        ("debits", facts.debits, facts.transfers_debits),
        ("credits", facts.credits, facts.transfers_credits),
    ):
        if kept != summed:
            yield Fault("balance", named, f"keeps {kept:f} {side}, its transfers {summed:f}")
    if facts.held != facts.pending_holds:
        holds = f"its pending holds {facts.pending_holds:f}"
        yield Fault("balance", named, f"keeps {facts.held:f} held, {holds}")
    available = facts.credits - facts.debits - facts.held
    if available < 0:
        yield Fault("balance", named, f"has {available:f} available, below zero")
