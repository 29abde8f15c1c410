"""Statements on expenses. Those that were taken back are kept, and not shown."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.stored_ids import StoredIds
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, BookKey, StoreId
from tillhouse.kit.page import Page

_EXPENSE: LiteralString = """
    SELECT e.id, e.amount, e.currency, e.category, e.description, e.method, e.store_id,
        e.transaction_id, e.transfer_id, e.recorded_by_id, e.recorded_by_name,
        iso(e.happened_at) AS occurred_at, iso(e.created_at) AS created_at
    FROM expenses e WHERE e.book_id = $1 AND e.voided_at IS NULL
"""


class ExpenseRow(msgspec.Struct, frozen=True, kw_only=True):
    """An expense as it is written."""

    amount: object
    currency: str
    category: str
    description: str | None
    method: str
    store_id: StoreId | None
    transaction_id: UUID
    transfer_id: UUID
    recorded_by_id: UUID
    recorded_by_name: str
    happened_at: datetime


class Within(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on expenses."""

    store_id: StoreId | None
    since: datetime | None
    until: datetime | None


async def insert_expense(db: Db, key: BookKey, row: ExpenseRow, now: datetime) -> None:
    """Keep an expense."""
    await db.execute(
        """
        INSERT INTO expenses (book_id, id, amount, currency, category, description, method,
            store_id, transaction_id, transfer_id, recorded_by_id, recorded_by_name, happened_at,
            created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        """,
        *key,
        *msgspec.structs.astuple(row),
        now,
    )


async def list_expenses(db: Db, book_id: BookId, within: Within, page: Page) -> Sequence[Record]:
    """One page of the expenses that fit, the newest first."""
    where = (
        Where(book_id)
        .and_("e.store_id = $", within.store_id)
        .and_("e.happened_at >= $", within.since)
        .and_("e.happened_at <= $", within.until)
    )
    return await db.fetch(
        _EXPENSE
        + where.sql()
        + " ORDER BY e.happened_at DESC, e.id DESC LIMIT "
        + where.window(page),
        *where.args,
    )


async def show_expense(db: Db, book_id: BookId, expense_id: UUID) -> Record | None:
    """One expense."""
    return await db.fetchrow(_EXPENSE + " AND e.id = $2", book_id, expense_id)


async def lock_expense(db: Db, book_id: BookId, expense_id: UUID) -> Record | None:
    """One expense, locked until the transaction ends."""
    return await db.fetchrow(
        _EXPENSE + " AND e.id = $2 FOR NO KEY UPDATE OF e", book_id, expense_id
    )


async def update_voided(db: Db, key: BookKey, now: datetime) -> None:
    """Take an expense back."""
    await db.execute("UPDATE expenses SET voided_at = $3 WHERE book_id = $1 AND id = $2", *key, now)


find_there = StoredIds("expenses")


async def list_with_money(db: Db, book_id: UUID, after: UUID, limit: int) -> Sequence[Record]:
    """Expenses by id, with the sums of their transfers and their transaction."""
    return await db.fetch(
        """
        SELECT e.id, e.amount, e.voided_at IS NOT NULL AS is_voided,
            coalesce((SELECT sum(CASE WHEN p.debit_kind = 'expenses' THEN p.amount
                    ELSE -p.amount END)
                FROM ledger_transfers p WHERE p.book_id = $1 AND p.source_id = e.id
                    AND p.source_type = 'expense'), 0) AS posted,
            x.status, x.amount AS seen
        FROM expenses e
        JOIN transactions x ON x.book_id = e.book_id AND x.id = e.transaction_id
        WHERE e.book_id = $1 AND e.id > $2 ORDER BY e.id LIMIT $3
        """,
        book_id,
        after,
        limit,
    )
