"""Statements on what providers told us and nobody has processed yet."""

from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db


async def insert_update(
    db: Db, place: tuple[UUID, UUID], number_id: UUID, body: bytes, now: datetime
) -> None:
    """Keep what came, before it is answered."""
    await db.execute(
        """
        INSERT INTO messaging_inbox (book_id, id, number_id, body, due_at, received_at)
        VALUES ($1, $2, $3, $4, $5, $5)
        """,
        *place,
        number_id,
        body,
        now,
    )


async def lock_update(db: Db, now: datetime) -> Record | None:
    """What waits the longest, of any book_id, locked; no two workers get the same."""
    return await db.fetchrow(
        """
        SELECT i.book_id, i.id, i.number_id, i.body, i.attempts, b.business_id, b.environment,
            n.provider_number_id
        FROM messaging_inbox i
        JOIN messaging_numbers n ON n.book_id = i.book_id AND n.id = i.number_id
        JOIN books b ON b.id = i.book_id
        WHERE i.due_at <= $1
        ORDER BY i.due_at LIMIT 1 FOR NO KEY UPDATE OF i SKIP LOCKED
        """,
        now,
    )


async def delete_update(db: Db, place: tuple[UUID, UUID]) -> None:
    """It is processed."""
    await db.execute("DELETE FROM messaging_inbox WHERE book_id = $1 AND id = $2", *place)


async def update_due(db: Db, place: tuple[UUID, UUID], due_at: datetime | None) -> None:
    """It could not be processed: try later, or never."""
    await db.execute(
        """
        UPDATE messaging_inbox SET attempts = attempts + 1, due_at = $3
        WHERE book_id = $1 AND id = $2
        """,
        *place,
        due_at,
    )
