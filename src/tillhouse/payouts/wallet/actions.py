"""Reading the wallet and its statement."""

from collections.abc import Sequence

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_time_zone
from tillhouse.kit.ids import BookId
from tillhouse.payouts.wallet import store
from tillhouse.payouts.wallet.rules import (
    Position,
    begin_within,
    cursor_of,
    period_of,
    position_of,
)
from tillhouse.payouts.wallet.types import (
    EntrySource,
    StatementFilter,
    StatementPage,
    StatementSummary,
    Wallet,
    WalletEntry,
)

# The purpose of the key that signs them.
_CURSORS = "statement cursors"


async def show_wallet(call: Call) -> Wallet:
    """The wallet as it is now."""
    row = await store.show_wallet(call.db, call.book.id)
    return Wallet(
        balance=row["balance"],
        available=row["balance"] - row["held"],
        held=row["held"],
        currency=row["currency"],
        pending_withdrawals=row["withdrawals"],
        pending_withdrawals_amount=row["withdrawing"],
    )


async def list_statement(
    call: Call, wanted: StatementFilter
) -> tuple[list[WalletEntry], StatementPage, StatementSummary | None]:
    """Entries of the wallet, the newest first, where the next ones are, and their period's sums."""
    here = call.db, call.book.id
    signed = call.services.vault.derive(_CURSORS), call.book.id
    begin = position_of(wanted.cursor, *signed) if wanted.cursor else None
    if wanted.since is None and wanted.until is None:
        rows = await store.list_entries(*here, begin, wanted.limit)
        return *_page(rows, wanted.limit, signed), None
    period = period_of(wanted, await find_time_zone(call.db, call.business_id))
    row = await store.find_sums(*here, period)
    summary = StatementSummary(
        currency=row["currency"],
        opening_balance=row["closing"] - row["came_in"] + row["went_out"],
        total_in=row["came_in"],
        total_out=row["went_out"],
        closing_balance=row["closing"],
    )
    end = Position(row["beyond"], row["closing"], row["recent"])
    begin = begin_within(begin, end, is_over=period.until <= call.now)
    rows = await store.list_entries(*here, begin, wanted.limit, since=period.since)
    return *_page(rows, wanted.limit, signed), summary


def _page(
    rows: Sequence[Record], limit: int, signed: tuple[bytes, BookId]
) -> tuple[list[WalletEntry], StatementPage]:
    entries = [_shown(row) for row in rows[:limit]]
    if len(rows) <= limit:
        return entries, StatementPage(has_more=False, next_cursor=None)
    last = entries[-1]
    after = Position(last.id, last.balance_after - last.amount, rows[0]["recent"])
    return entries, StatementPage(has_more=True, next_cursor=cursor_of(after, *signed))


def _shown(row: Record) -> WalletEntry:
    return WalletEntry(
        **{
            name: row[name]
            for name in (
                "id", "type", "amount", "balance_after", "currency", "reference",
                "transaction_id", "occurred_at", "created_at",
            )
        },
        source=EntrySource(row["source_type"], row["source_id"]),
    )  # fmt: skip
