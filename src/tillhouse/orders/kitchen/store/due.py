"""Scheduled orders whose time for the kitchen has come."""

from datetime import datetime

from asyncpg import Record

from tillhouse.db.pool import Db


async def claim_due(db: Db, now: datetime) -> Record | None:
    """One order that is due for the kitchen, taken from the others' sight; None when none is."""
    return await db.fetchrow(
        """
        UPDATE orders o SET fires_at = NULL
        FROM books b
        WHERE b.id = o.book_id AND (o.book_id, o.id) = (
            SELECT d.book_id, d.id FROM orders d WHERE d.fires_at <= $1
            ORDER BY d.fires_at LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING o.book_id, o.id, b.business_id, b.environment,
            o.deleted_at IS NULL AND o.status IN ('scheduled', 'pending', 'completed') AS is_wanted
        """,
        now,
    )
