"""Statements on callbacks."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db

Attempt = tuple[UUID, UUID]
"""An attempt by book and id."""


async def find_account(db: Db, book_id: UUID, attempt_id: UUID, provider: str) -> Record | None:
    """The sealed settings of the number that an attempt was made from."""
    return await db.fetchrow(
        """
        SELECT n.id AS number_id, n.settings_sealed, k.business_id
        FROM voice_attempts a
        JOIN voice_calls c ON c.book_id = a.book_id AND c.id = a.call_id
        JOIN voice_numbers n ON n.book_id = c.book_id AND n.id = c.number_id
        JOIN books k ON k.id = a.book_id
        WHERE a.book_id = $1 AND a.id = $2 AND n.provider = $3 AND n.settings_sealed IS NOT NULL
        """,
        book_id,
        attempt_id,
        provider,
    )


async def update_told(db: Db, book_id: UUID, attempt_id: UUID, number: int, body: bytes) -> bool:
    """Keep a callback, unless a later one came, or the attempt is over; whether it was kept."""
    was_kept = await db.execute_one(
        """
        UPDATE voice_attempts SET told = $4, told_number = $3
        WHERE book_id = $1 AND id = $2 AND ended_at IS NULL AND coalesce(told_number, -1) < $3
        """,
        book_id,
        attempt_id,
        number,
        body,
    )
    db.queues_jobs = True
    return was_kept


async def list_told(db: Db, attempts: Sequence[Attempt]) -> Sequence[Record]:
    """The latest that was told of attempts of any book_id, by their ids."""
    return await db.fetch(
        """
        SELECT a.id, a.told
        FROM unnest($1::uuid[], $2::uuid[]) w (book_id, id)
        JOIN voice_attempts a ON a.book_id = w.book_id AND a.id = w.id AND a.told IS NOT NULL
        """,
        [book_id for book_id, _ in attempts],
        [attempt_id for _, attempt_id in attempts],
    )
