"""Statements that read events in the order in which they happened."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId


async def list_events_after(
    db: Db, book_id: BookId, after: UUID, types: list[str] | None, known: list[UUID], limit: int
) -> Sequence[Record]:
    """Events with a greater id that are not known yet, the oldest first."""
    return await db.fetch(
        """
        SELECT id, type, payload FROM webhook_events
        WHERE book_id = $1 AND id > $2 AND ($3::text[] IS NULL OR type = ANY($3))
            AND id NOT IN (SELECT unnest($4::uuid[]))
        ORDER BY id LIMIT $5
        """,
        book_id,
        after,
        types,
        known,
        limit,
    )


async def list_event_ids_after(db: Db, book_id: BookId, after: UUID) -> list[UUID]:
    """The ids of events with a greater one."""
    rows = await db.fetch(
        "SELECT id FROM webhook_events WHERE book_id = $1 AND id > $2", book_id, after
    )
    return [row["id"] for row in rows]


async def find_event(db: Db, book_id: BookId, event_id: UUID) -> str | None:
    """The payload of an event."""
    return await db.fetchval(
        "SELECT payload FROM webhook_events WHERE book_id = $1 AND id = $2", book_id, event_id
    )


async def list_latest_events(
    db: Db, book_id: BookId, after: UUID, types: list[str] | None, limit: int
) -> Sequence[Record]:
    """Events with a greater id, the newest first."""
    return await db.fetch(
        """
        SELECT payload FROM webhook_events
        WHERE book_id = $1 AND id > $2 AND ($3::text[] IS NULL OR type = ANY($3))
        ORDER BY id DESC LIMIT $4
        """,
        book_id,
        after,
        types,
        limit,
    )
