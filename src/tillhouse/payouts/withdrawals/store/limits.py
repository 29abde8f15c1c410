"""Statements on the sums withdrawn on a day.

A row holds the latest day alone: a return of an earlier one frees nothing today. Rows
are locked in one order: the withdrawal, the app's row, the business's row, the wallet.
"""

from datetime import date, datetime, timedelta
from decimal import Decimal

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import AppId, BookId

ROLLING = timedelta(hours=24)


class CountedSpend(msgspec.Struct, frozen=True, kw_only=True):
    """An amount that counts no longer, and the day that it was counted on."""

    lineage_id: AppId | None
    counted_on: date
    amount: Decimal


async def take_spend(
    db: Db, book_id: BookId, lineage_id: AppId, day: date, amount: Decimal, limit: Decimal
) -> Record | None:
    """Count an amount against the day of an app; None where that exceeds the limit."""
    return await db.fetchrow(
        """
        INSERT INTO withdrawal_spends AS s (book_id, lineage_id, day, spent)
        SELECT $1, $2, $3, $4 WHERE $4::numeric <= $5::numeric
        ON CONFLICT (book_id, lineage_id) DO UPDATE SET day = greatest(s.day, excluded.day),
            spent = excluded.spent + CASE WHEN s.day >= excluded.day THEN s.spent ELSE 0 END
        WHERE excluded.spent + CASE WHEN s.day >= excluded.day THEN s.spent ELSE 0 END <= $5
        RETURNING s.day, s.spent
        """,
        book_id,
        lineage_id,
        day,
        amount,
        limit,
    )


async def find_spent(db: Db, book_id: BookId, lineage_id: AppId, day: date) -> Decimal:
    """The sum that was counted against a day of an app, or a later one."""
    spent = await db.fetchval(
        "SELECT spent FROM withdrawal_spends WHERE book_id = $1 AND lineage_id = $2 AND day >= $3",
        book_id,
        lineage_id,
        day,
    )
    return spent or Decimal(0)


async def find_sum_of_lineage(db: Db, book_id: BookId, lineage_id: AppId, now: datetime) -> Decimal:
    """The sum that the keys of an app have withdrawn within 24 hours."""
    return await db.fetchval(
        """
        SELECT coalesce(sum(amount), 0) FROM withdrawals
        WHERE book_id = $1 AND lineage_id = $2 AND created_at > $3
            AND status IN ('requested', 'processing', 'completed')
        """,
        book_id,
        lineage_id,
        now - ROLLING,
    )


async def find_sum_of_book(db: Db, book_id: BookId, now: datetime) -> Decimal:
    """The sum that was withdrawn from a book within 24 hours."""
    return await db.fetchval(
        """
        SELECT coalesce(sum(amount), 0) FROM withdrawals
        WHERE book_id = $1 AND created_at > $2
            AND status IN ('requested', 'processing', 'completed')
        """,
        book_id,
        now - ROLLING,
    )


async def add_to_controls(
    db: Db, book_id: BookId, day: date, amount: Decimal, now: datetime
) -> Record:
    """Count an amount against the day of the business, and lock its row."""
    [row] = await db.fetch(
        """
        INSERT INTO payout_controls AS c (book_id, day, spent, updated_at)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (book_id) DO UPDATE SET day = greatest(c.day, excluded.day),
            spent = excluded.spent + CASE WHEN c.day >= excluded.day THEN c.spent ELSE 0 END
        RETURNING c.day, c.spent, c.max_per_day, c.frozen_at, c.frozen_reason
        """,
        book_id,
        day,
        amount,
        now,
    )
    return row


async def give_spend_back(db: Db, book_id: BookId, given: CountedSpend) -> None:
    """Count an amount no longer: on the day that it was counted on, or nowhere."""
    if given.lineage_id is not None:
        await db.execute(
            """
            UPDATE withdrawal_spends SET spent = spent - $4
            WHERE book_id = $1 AND lineage_id = $2 AND day = $3
            """,
            book_id,
            given.lineage_id,
            given.counted_on,
            given.amount,
        )
    await db.execute(
        "UPDATE payout_controls SET spent = spent - $3 WHERE book_id = $1 AND day = $2",
        book_id,
        given.counted_on,
        given.amount,
    )
