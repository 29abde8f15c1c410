"""Statements on the switch and the limit of a book."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, UserId


class Freeze(msgspec.Struct, frozen=True):
    """The reason, and the name of the person who froze."""

    reason: str
    by: str


async def show_controls(db: Db, book_id: BookId) -> Record | None:
    """The switch of a book; None where nothing was ever set or withdrawn."""
    return await db.fetchrow(
        """
        SELECT frozen_at IS NOT NULL AS frozen, frozen_reason AS reason,
            iso(frozen_at) AS frozen_at, frozen_by, max_per_day, failures
        FROM payout_controls WHERE book_id = $1
        """,
        book_id,
    )


async def lock_frozen(db: Db, book_id: BookId) -> bool:
    """Whether nothing is sent; it stays so until the commit."""
    frozen_at = await db.fetchval(
        "SELECT frozen_at FROM payout_controls WHERE book_id = $1 FOR SHARE", book_id
    )
    return frozen_at is not None


async def touch_controls(db: Db, book_id: BookId, now: datetime) -> Record:
    """The switch of a book, locked until the transaction ends."""
    [row] = await db.fetch(
        """
        INSERT INTO payout_controls AS c (book_id, day, spent, updated_at)
        VALUES ($1, ($2::timestamptz AT TIME ZONE 'UTC')::date - 1, 0, $2)
        ON CONFLICT (book_id) DO UPDATE SET updated_at = excluded.updated_at
        RETURNING c.frozen_at, c.max_per_day
        """,
        book_id,
        now,
    )
    return row


async def update_frozen(db: Db, book_id: BookId, freeze: Freeze | None, now: datetime) -> None:
    """Freeze, or let go."""
    await db.execute(
        """
        UPDATE payout_controls SET frozen_reason = $2, frozen_by = $3,
            frozen_at = CASE WHEN $2::text IS NOT NULL THEN coalesce(frozen_at, $4) END,
            failures = CASE WHEN $2::text IS NULL AND frozen_at IS NOT NULL THEN 0
                ELSE failures END, updated_at = $4
        WHERE book_id = $1
        """,
        book_id,
        freeze.reason if freeze else None,
        freeze.by if freeze else None,
        now,
    )


async def update_limit(db: Db, book_id: BookId, max_per_day: Decimal | None, now: datetime) -> None:
    """Set the most that leaves the wallet a day."""
    await db.execute(
        "UPDATE payout_controls SET max_per_day = $2, updated_at = $3 WHERE book_id = $1",
        book_id,
        max_per_day,
        now,
    )


async def add_failure(db: Db, book_id: BookId, limit: int, freeze: Freeze, now: datetime) -> bool:
    """Count a failure; whether it was the one that freezes."""
    return await db.fetchval(
        """
        UPDATE payout_controls SET failures = failures + 1, updated_at = $5,
            frozen_at = CASE WHEN failures + 1 >= $2 THEN coalesce(frozen_at, $5)
                ELSE frozen_at END,
            frozen_reason = CASE WHEN failures + 1 >= $2 THEN coalesce(frozen_reason, $3)
                ELSE frozen_reason END,
            frozen_by = CASE WHEN failures + 1 >= $2 THEN coalesce(frozen_by, $4)
                ELSE frozen_by END
        WHERE book_id = $1
        RETURNING frozen_at IS NOT DISTINCT FROM $5
        """,
        book_id,
        limit,
        freeze.reason,
        freeze.by,
        now,
    )


async def forget_failures(db: Db, book_id: BookId) -> None:
    """A withdrawal was completed: the failures before it count no longer."""
    await db.execute(
        "UPDATE payout_controls SET failures = 0 WHERE book_id = $1 AND failures > 0", book_id
    )


async def upsert_frozen_of(
    db: Db, user_id: UserId, freeze: Freeze, now: datetime
) -> Sequence[Record]:
    """Freeze the books that a person owns; those that weren't frozen before."""
    return await db.fetch(
        """
        INSERT INTO payout_controls AS c (book_id, day, spent, frozen_at, frozen_reason, frozen_by,
            updated_at)
        SELECT k.id, ($4::timestamptz AT TIME ZONE 'UTC')::date - 1, 0, $4, $2, $3, $4
        FROM members m JOIN books k ON k.business_id = m.business_id
        WHERE m.user_id = $1 AND m.role = 'owner'
        ORDER BY k.id
        ON CONFLICT (book_id) DO UPDATE SET frozen_at = $4, frozen_reason = $2, frozen_by = $3,
            updated_at = $4
        WHERE c.frozen_at IS NULL
        RETURNING c.book_id
        """,
        user_id,
        freeze.reason,
        freeze.by,
        now,
    )


async def list_waiting(db: Db, book_id: UUID, after: UUID, limit: int) -> list[UUID]:
    """Withdrawals that were not sent yet, by id."""
    rows = await db.fetch(
        """
        SELECT id FROM withdrawals
        WHERE book_id = $1 AND id > $2
            AND (status = 'requested' OR (status = 'processing' AND NOT is_unclear))
        ORDER BY id LIMIT $3
        """,
        book_id,
        after,
        limit,
    )
    return [row["id"] for row in rows]
