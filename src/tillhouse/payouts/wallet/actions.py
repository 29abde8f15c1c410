"""Reading the wallet and its statement."""

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.payouts.wallet import store
from tillhouse.payouts.wallet.rules import Position, cursor_of, position_of
from tillhouse.payouts.wallet.types import (
    EntrySource,
    StatementFilter,
    StatementPage,
    Wallet,
    WalletEntry,
)


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
) -> tuple[list[WalletEntry], StatementPage]:
    """Entries of the wallet, the newest first, and where the next ones are."""
    position = position_of(wanted.cursor) if wanted.cursor else None
    rows = await store.list_entries(call.db, call.book.id, position, wanted.limit)
    entries = [_shown(row) for row in rows[: wanted.limit]]
    if len(rows) <= wanted.limit:
        return entries, StatementPage(has_more=False, next_cursor=None)
    last = entries[-1]
    after = Position(last.id, last.balance_after - last.amount, rows[0]["recent"])
    return entries, StatementPage(has_more=True, next_cursor=cursor_of(after))


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
