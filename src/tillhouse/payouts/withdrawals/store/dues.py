"""Statements on amounts of payouts that the wallet has not given yet."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, TransferId
from tillhouse.ledger.rules import NO_OWNER
from tillhouse.payouts.withdrawals.posting_rules import LEAVES, PAID, DueAmounts


class DueRow(msgspec.Struct, frozen=True, kw_only=True):
    """A withdrawal of which something is due, locked."""

    book_id: BookId
    id: UUID
    currency: str
    amount_due: Decimal
    fee_due: Decimal


# Limits and wallets are locked after withdrawals: one that is locked is left to its transaction.
_DUE: LiteralString = """
    SELECT w.book_id, w.id, w.currency, w.amount_due, w.fee_due
    FROM withdrawals w JOIN ledger_balances b
        ON b.book_id = w.book_id AND b.kind = 'wallet' AND b.owner_id = $1
    WHERE (w.fee_due > 0 OR w.amount_due > 0) AND b.credits - b.debits - b.held > 0
"""
_FIRST: LiteralString = " ORDER BY w.book_id, w.id LIMIT 1 FOR NO KEY UPDATE OF w SKIP LOCKED"


async def lock_due(db: Db) -> DueRow | None:
    """A withdrawal, of any book_id, of which something is due that its wallet has."""
    row = await db.fetchrow(_DUE + _FIRST, NO_OWNER)
    return DueRow(**row) if row else None


async def lock_due_of_book(db: Db, book_id: BookId) -> DueRow | None:
    """One of a book."""
    row = await db.fetchrow(_DUE + " AND w.book_id = $2" + _FIRST, NO_OWNER, book_id)
    return DueRow(**row) if row else None


async def update_due(db: Db, key: BookKey, due: DueAmounts, now: datetime) -> None:
    """So much is due from now on."""
    await db.execute(
        """
        UPDATE withdrawals SET amount_due = $3, fee_due = $4, updated_at = $5
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        due.amount,
        due.fee,
        now,
    )


async def count_transfers(db: Db, book_id: BookId, withdrawal_id: UUID) -> int:
    """How many transfers a withdrawal has, which numbers the next one."""
    return await db.fetchval(
        """
        SELECT count(*) FROM ledger_transfers
        WHERE book_id = $1 AND source_id = $2 AND source_type = 'withdrawal'
        """,
        book_id,
        withdrawal_id,
    )


async def list_standing(db: Db, book_id: BookId, withdrawal_id: UUID) -> Sequence[TransferId]:
    """The transfers by which its amount left, and that weren't reversed; the last one first."""
    rows: Sequence[Record] = await db.fetch(
        """
        SELECT t.id FROM ledger_transfers t
        WHERE t.book_id = $1 AND t.source_id = $2 AND t.source_type = 'withdrawal'
            AND t.kind = ANY($3) AND NOT EXISTS (SELECT FROM ledger_transfers r
                WHERE r.book_id = $1 AND r.reverses_id = t.id)
        ORDER BY t.id DESC
        """,
        book_id,
        withdrawal_id,
        [LEAVES, PAID],
    )
    return [row["id"] for row in rows]


async def list_with_dues(db: Db, book_id: UUID, limit: int) -> Sequence[Record]:
    """Withdrawals of a book of which something is due."""
    return await db.fetch(
        """
        SELECT w.id, w.amount_due + w.fee_due AS due, w.currency FROM withdrawals w
        WHERE w.book_id = $1 AND (w.fee_due > 0 OR w.amount_due > 0) ORDER BY w.id LIMIT $2
        """,
        book_id,
        limit,
    )
