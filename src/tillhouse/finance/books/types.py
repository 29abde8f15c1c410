"""Requests and answers of the routes that read the books."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import DayShown, Timestamp
from tillhouse.kit.values import Day
from tillhouse.ledger.rules import AccountKind, EntryKind

Form = Literal["json", "csv"]
CSV_PAGE, CSV_PAGE_MAX = 1_000, 2_000
"""A page of a table is larger: an export of a million entries is 500 requests."""


class BalanceQuery(msgspec.Struct):
    """The day of which the balances are wanted."""

    date: Day | None = None
    """The balances at the end of this day of the business, by the day on which money moved; left
    out: of all that is booked."""
    format: Form = "json"
    """`csv` answers with a table."""


class AccountBalance(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An account of the books, those of all customers taken together."""

    account: AccountKind
    """The kind of account."""
    currency: str
    debits: Decimal
    """The sum of what was debited."""
    credits: Decimal
    """The sum of what was credited."""
    balance: Decimal
    """Debits less credits: below zero where more was credited."""


class CurrencyTotal(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The sum of all accounts of a currency."""

    currency: str
    debits: Decimal
    """The sum of all debits."""
    credits: Decimal
    """The sum of all credits, which is the same."""
    difference: Decimal
    """Debits less credits: always 0."""


class TrialBalance(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Every account with what is on it, and the proof that it sums to zero."""

    date: DayShown | None
    """The day at whose end this was so; null: all that is booked."""
    accounts: list[AccountBalance]
    """The accounts that anything was booked on, by their kinds."""
    totals: list[CurrencyTotal]
    """The sums of all accounts, by currency."""


class LedgerQuery(msgspec.Struct, rename={"since": "from", "until": "to"}):
    """Which entries, and which page of them."""

    limit: Annotated[int, Meta(ge=1, le=CSV_PAGE_MAX)] | None = None
    """How many entries a page has: 50 unless told otherwise, 100 at most; with `format=csv` 1,000,
    and 2,000 at most."""
    cursor: UUID | None = None
    """The `nextCursor` of the page before; left out: the newest entries."""
    format: Form = "json"
    """`csv` answers with a table, whose header `Link` leads to the next page."""
    kind: Annotated[list[EntryKind], Meta(min_length=1)] | None = None
    """Only entries of one of these kinds, such as `sale` or `refund`, split by commas."""
    account: AccountKind | None = None
    """Only entries that debit or credit this account of the business; with `customer_id` that
    customer's."""
    customer_id: UUID | None = None
    """Only entries of this customer's `account`, which is required with it."""
    source_id: UUID | None = None
    """Only entries of this source, such as an order or an expense; not together with `account`."""
    since: Day | None = None
    """From this day of the business on, by the moment of booking."""
    until: Day | None = None
    """Up to this day, all of it, by the moment of booking."""
    occurred_from: Day | None = None
    """From this day of the business on, by the day on which the money moved; the entries then come
    in the order of that."""
    occurred_to: Day | None = None
    """Up to this day, all of it, by the day on which the money moved."""

    @property
    def size(self) -> int:
        """How many entries its page has."""
        if self.limit is None:
            return CSV_PAGE if self.format == "csv" else 50
        return self.limit

    @property
    def is_by_moment(self) -> bool:
        """Whether it is for days on which money moved."""
        return self.occurred_from is not None or self.occurred_to is not None


class EntrySide(msgspec.Struct, frozen=True, rename="camel"):
    """One side of an entry."""

    account: AccountKind
    """The kind of account."""
    customer_id: UUID | None
    """The customer whose account it is; null for the business's own."""


class BookedFor(msgspec.Struct, frozen=True):
    """The thing that money moved for."""

    type: Annotated[str, Meta(examples=["order"])]
    """The type of the thing for which the money moved."""
    id: UUID


class LedgerEntry(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An amount that went from one account to another: never changed, never removed."""

    id: UUID
    kind: EntryKind
    """The reason for the entry; `reversal` takes an earlier one back."""
    debit: EntrySide
    """The account that is debited."""
    credit: EntrySide
    """The account that is credited."""
    amount: Decimal
    """The amount in `currency`, above 0."""
    currency: str
    source: BookedFor
    """The thing for which the money moved."""
    reverses_id: UUID | None
    """The entry that this one takes back."""
    occurred_at: Timestamp
    """The moment at which the money moved."""
    day: DayShown
    """The day of the business on which it moved: the one on which it counts."""
    created_at: Timestamp
    """The moment at which it was booked."""


class LedgerPage(msgspec.Struct, frozen=True, rename="camel"):
    """The place of a page among the entries."""

    has_more: bool
    """Whether there are older entries."""
    next_cursor: UUID | None
    """The `cursor` of the next page; null on the last one."""


class LedgerMeta(msgspec.Struct):
    """The member of an answer that leads to the next page."""

    meta: LedgerPage
