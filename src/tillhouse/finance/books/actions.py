"""Reading the books: the balance of each account, and the entries that made it."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.finance.books import store
from tillhouse.finance.books.store import EntryPart, EntryQuery
from tillhouse.finance.books.types import (
    AccountBalance,
    BalanceQuery,
    BookedFor,
    CurrencyTotal,
    EntrySide,
    LedgerEntry,
    LedgerPage,
    LedgerQuery,
    TrialBalance,
)
from tillhouse.kit.clock import parse_timestamp, start_of_day
from tillhouse.kit.errors import Invalid
from tillhouse.kit.page import PER_PAGE_MAX
from tillhouse.kit.values import Day, DayClock
from tillhouse.ledger.rules import NO_OWNER
from tillhouse.stores.store import find_clock

_DAY = timedelta(days=1)


async def show_balances(call: Call, wanted: BalanceQuery) -> TrialBalance:
    """Every account with its balance, and their sums."""
    ends = None
    if wanted.date is not None:
        clock = await find_clock(call, None)
        ends = start_of_day(wanted.date.day + _DAY, clock.zone, clock.cutoff)
    rows = await store.list_balances(call.db, call.book.id, ends)
    debited, credited = defaultdict[str, Decimal](Decimal), defaultdict[str, Decimal](Decimal)
    for row in rows:
        debited[row["currency"]] += row["debits"]
        credited[row["currency"]] += row["credits"]
    return TrialBalance(
        date=wanted.date.day.isoformat() if wanted.date else None,
        accounts=[AccountBalance(**row, balance=row["debits"] - row["credits"]) for row in rows],
        totals=[
            CurrencyTotal(
                currency=currency,
                debits=debited[currency],
                credits=credited[currency],
                difference=debited[currency] - credited[currency],
            )
            for currency in sorted(debited)
        ],
    )


async def list_entries(call: Call, wanted: LedgerQuery) -> tuple[list[LedgerEntry], LedgerPage]:
    """Entries of the books, the newest first, and where the next ones are."""
    if wanted.format == "json" and wanted.size > PER_PAGE_MAX:
        raise Invalid.field("limit", f"must be at most {PER_PAGE_MAX}, or comes with format=csv")
    clock = await find_clock(call, None)
    rows = await _rows(call, wanted, _query(wanted, clock))
    entries = [_shown(row, clock) for row in rows[: wanted.size]]
    has_more = len(rows) > wanted.size
    return entries, LedgerPage(has_more, entries[-1].id if has_more else None)


async def _rows(call: Call, wanted: LedgerQuery, query: EntryQuery) -> Sequence[Record]:
    db, book_id, account = call.db, call.book.id, wanted.account
    if wanted.source_id is not None and account is not None:
        raise Invalid.field("source_id", "can't be combined with account: send one of them")
    if wanted.customer_id is not None and wanted.source_id is None and account is None:
        raise Invalid.field("account", "is required with customer_id")
    if wanted.is_by_moment:
        part = EntryPart(
            source_id=wanted.source_id, account=account, owner=wanted.customer_id or NO_OWNER
        )
        return await store.list_entries_by_moment(db, book_id, query, part)
    if wanted.source_id is not None:
        return await store.list_entries_of_source(db, book_id, query, wanted.source_id)
    if query.is_of_rare_kinds and wanted.customer_id is None:
        return await store.list_entries_of_kinds(db, book_id, query, account)
    if account is not None:
        owner = wanted.customer_id or NO_OWNER
        return await store.list_entries_of_account(db, book_id, query, account, owner)
    return await store.list_entries(db, book_id, query)


def _query(wanted: LedgerQuery, clock: DayClock) -> EntryQuery:
    def begins(day: Day | None, later: int = 0) -> datetime | None:
        if day is None:
            return None
        return start_of_day(day.day + later * _DAY, clock.zone, clock.cutoff)

    return EntryQuery(
        limit=wanted.size,
        cursor=wanted.cursor,
        kinds=wanted.kind and sorted(set(wanted.kind)),
        since=begins(wanted.since),
        until=begins(wanted.until, 1),
        moved_since=begins(wanted.occurred_from),
        moved_until=begins(wanted.occurred_to, 1),
    )


def _shown(row: Record, clock: DayClock) -> LedgerEntry:
    names = (
        "id", "kind", "amount", "currency", "reverses_id", "occurred_at", "created_at",
    )  # fmt: skip
    return LedgerEntry(
        **{name: row[name] for name in names},
        debit=EntrySide(row["debit_kind"], row["debit_owner"]),
        credit=EntrySide(row["credit_kind"], row["credit_owner"]),
        source=BookedFor(row["source_type"], row["source_id"]),
        day=clock.today(parse_timestamp(row["occurred_at"])).isoformat(),
    )
