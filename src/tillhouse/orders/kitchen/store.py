"""Statements on orders for the kitchen: when they are due, and the facts that it needs."""

from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.jobs.store import QUEUE
from tillhouse.kitchen.types import SaleFacts


async def queue_due(db: Db, kind: str, now: datetime, limit: int) -> int:
    """Queue a job for each order, of any book_id, that is due for the kitchen; how many."""
    row = await db.write_once(
        """
        WITH due AS (
            UPDATE orders o SET fires_at = NULL
            WHERE (o.book_id, o.id) IN (
                SELECT d.book_id, d.id FROM orders d WHERE d.fires_at <= $2
                ORDER BY d.fires_at LIMIT $3 FOR UPDATE SKIP LOCKED)
            RETURNING o.book_id, o.id
        ), queueing AS (
            SELECT book_id, $1::text AS kind, id AS subject_id, '' AS key, NULL::bytea AS payload,
                $2::timestamptz AS due_at, $2::timestamptz AS queued_at
            FROM due
        ),
        """
        + QUEUE
        + "SELECT count(*) FROM due",
        kind,
        now,
        limit,
    )
    return row[0] if row else 0


async def lock_wanted(db: Db, book_id: UUID, order_id: UUID, now: datetime) -> Record | None:
    """The order, as it is until this transaction ends; None when the kitchen doesn't want it yet.

    It may have been cancelled or put off since it was queued.
    """
    return await db.fetchrow(
        """
        SELECT b.business_id, b.environment
        FROM orders o JOIN books b ON b.id = o.book_id
        WHERE o.book_id = $1 AND o.id = $2 AND o.deleted_at IS NULL
            AND o.status IN ('scheduled', 'pending', 'completed')
            AND (o.fires_at IS NULL OR o.fires_at <= $3)
        FOR NO KEY UPDATE OF o
        """,
        book_id,
        order_id,
        now,
    )


async def find_sale(db: Db, book_id: UUID, order_id: UUID) -> SaleFacts | None:
    """The order and whom to tell about it."""
    row = await db.fetchrow(
        """
        SELECT o.id AS order_id, o.short_code, o.store_id, o.customer_id,
            c.name AS customer_name,
            coalesce(c.whatsapp_number, c.phone_number) AS customer_phone, o.table_label
        FROM orders o
        LEFT JOIN customers c ON c.book_id = o.book_id AND c.id = o.customer_id
        WHERE o.book_id = $1 AND o.id = $2 AND o.deleted_at IS NULL
        """,
        book_id,
        order_id,
    )
    return SaleFacts(**row) if row else None


async def lock_sale(db: Db, book_id: UUID, order_id: UUID) -> Record | None:
    """Keep the order as it is until this transaction ends."""
    return await db.fetchrow(
        """
        SELECT status FROM orders WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL
        FOR NO KEY UPDATE
        """,
        book_id,
        order_id,
    )
