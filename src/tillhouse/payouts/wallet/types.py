"""Requests and answers of the routes that read the wallet."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.page import PER_PAGE_MAX
from tillhouse.kit.text import Coded
from tillhouse.kit.values import Day


class Wallet(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The wallet of the business in one environment."""

    balance: Decimal
    """The amount in the wallet, in `currency`, with what is held."""
    available: Decimal
    """The part of the balance that can be withdrawn."""
    held: Decimal
    """The part of the balance that is reserved for withdrawals and refunds."""
    currency: str
    pending_withdrawals: int
    """How many withdrawals are neither completed nor ended."""
    pending_withdrawals_amount: Decimal
    """The sum of these withdrawals; those already sent have left the balance."""


NO_CURSOR = "is no cursor: use `nextCursor` of the page before"


class StatementCursor(
    Coded,
    pattern=r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"(?:_-?[0-9]{1,16}(?:\.[0-9]{1,6})?){2}_[A-Za-z0-9_-]{43}$",
    wrong=NO_CURSOR,
    example="0199a7c0-0000-7000-8000-000000000000_15000_0_"
    "Vnq0t5X3bYhT1zKcR8wLmE2sUaQ9fGdJ4oPiN7vBxyA",
    longest=134,
):
    """The end of a page of the statement."""


class StatementFilter(msgspec.Struct, rename={"since": "from", "until": "to"}):
    """Which days of the statement, and which page of them."""

    since: Day | None = None
    """Only entries booked on this day of the business or later."""
    until: Day | None = None
    """Only entries booked up to this day of the business, all of it."""

    limit: Annotated[int, Meta(ge=1, le=PER_PAGE_MAX)] = 50
    cursor: StatementCursor | None = None
    """The `nextCursor` of the page before; left out: the newest entries."""


class EntrySource(msgspec.Struct, frozen=True):
    """The cause of an entry."""

    type: Annotated[str, Meta(examples=["withdrawal"])]
    """The type of the thing for which the money moved."""
    id: UUID


class WalletEntry(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A change of the wallet."""

    id: UUID
    type: Annotated[str, Meta(examples=["withdrawal"])]
    """The kind of transfer; `reversal` takes an earlier one back."""
    amount: Decimal
    """The amount in `currency`: above 0 what came in, below 0 what went out."""
    balance_after: Decimal
    """The balance of the wallet with this entry."""
    currency: str
    source: EntrySource
    """The thing for which the money moved."""
    reference: Annotated[str, Meta(examples=["TXN-7K2MQ4WX9PZR"])] | None
    """The reference of the transaction that it belongs to."""
    transaction_id: UUID | None
    """The transaction that it belongs to, as the list of transactions shows it."""
    occurred_at: Timestamp
    created_at: Timestamp


class StatementPage(msgspec.Struct, frozen=True, rename="camel"):
    """The place of a page in the statement."""

    has_more: bool
    """Whether there are older entries."""
    next_cursor: str | None
    """The `cursor` of the next page; null on the last one."""


class StatementSummary(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The sums of a period: `openingBalance` + `totalIn` - `totalOut` = `closingBalance`."""

    currency: str
    opening_balance: Decimal
    """The balance before the first entry of the period."""
    total_in: Decimal
    """The sum of what came in within the period."""
    total_out: Decimal
    """The sum of what went out within the period, above 0."""
    closing_balance: Decimal
    """The balance with the last entry of the period."""


class StatementMeta(msgspec.Struct):
    """The members of an answer beside the entries."""

    meta: StatementPage
    summary: StatementSummary | None
    """The sums of the whole period, on each of its pages; null without `from` and `to`."""
