"""Statements on payments that wait for their target."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db

# The first line is the condition of the index of payments to apply.
_WAITING: LiteralString = """
    (p.applied_at IS NULL OR p.returned_applied < p.returned_amount)
        AND CASE WHEN p.applied_at IS NULL THEN p.created_at ELSE p.returned_at END < $1
"""


async def list_waiting(db: Db, book_id: UUID, before: datetime, limit: int) -> Sequence[Record]:
    """Payments of a book that should have been applied, or taken back, before a moment."""
    return await db.fetch(
        """
        SELECT p.id, p.provider, p.target_type, p.target_id, p.amount, p.currency,
            CASE WHEN p.applied_at IS NULL THEN 'applied' ELSE 'taken back' END AS missing
        FROM payins p WHERE p.book_id = $2 AND
        """
        + _WAITING
        + " ORDER BY p.id LIMIT $3",
        before,
        book_id,
        limit,
    )


async def count_waiting(db: Db, before: datetime) -> Record:
    """How many wait so in all books, and of how many books they are."""
    [row] = await db.fetch(
        """
        SELECT count(*) AS count, count(DISTINCT p.book_id) AS books FROM payins p WHERE
        """
        + _WAITING,
        before,
    )
    return row
