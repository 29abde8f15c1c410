"""Statements on the calls that a dispatcher holds, and on those whose lease expired."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey
from tillhouse.voice.dispatching.store.claiming import CLAIMED, Claimed

Held = tuple[UUID, UUID, int]
"""A call by book and id, and the generation that holds it."""


async def update_leases(db: Db, held: Sequence[Held], until: datetime) -> Sequence[Record]:
    """Hold calls of any book_id on; those that are still held so, and whether they are to end."""
    return await db.fetch(
        """
        UPDATE voice_calls c SET lease_until = $4
        FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) h (book_id, id, generation)
        WHERE c.book_id = h.book_id AND c.id = h.id AND c.generation = h.generation
            AND c.lease_until IS NOT NULL
        RETURNING c.id, c.status = 'cancelled' OR c.hang_up_at IS NOT NULL AS is_to_end
        """,
        *_columns(held),
        until,
    )


async def list_held(db: Db, held: Sequence[Held]) -> Sequence[Record]:
    """Calls of any book_id still held by these generations, and whether they are to end."""
    return await db.fetch(
        """
        SELECT c.id, c.status = 'cancelled' OR c.hang_up_at IS NOT NULL AS is_to_end
        FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) h (book_id, id, generation)
        JOIN voice_calls c ON c.book_id = h.book_id AND c.id = h.id
            AND c.generation = h.generation AND c.lease_until IS NOT NULL
        """,
        *_columns(held),
    )


async def has_left_behind(db: Db, now: datetime) -> bool:
    """Whether a call of any book waited too long, or has lost its worker."""
    return await db.fetchval(
        """
        SELECT EXISTS (SELECT FROM voice_calls WHERE lease_until <= $1)
            OR EXISTS (SELECT FROM voice_calls WHERE status = 'queued' AND expires_at <= $1)
        """,
        now,
    )


async def lock_lapsed(db: Db, now: datetime) -> Claimed | None:
    """A call of any book_id whose worker has gone, locked."""
    row = await db.fetchrow(
        CLAIMED
        + """
        WHERE c.book_id = k.id AND c.lease_until <= $1
        ORDER BY c.lease_until LIMIT 1 FOR NO KEY UPDATE OF c SKIP LOCKED
        """,
        now,
    )
    return Claimed(**row) if row else None


async def take_lease(db: Db, key: BookKey, until: datetime) -> None:
    """Hold a call in the place of a worker that has gone: a new generation."""
    await db.execute(
        """
        UPDATE voice_calls SET generation = generation + 1, lease_until = $3
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        until,
    )


async def lock_expired(db: Db, now: datetime) -> Claimed | None:
    """A call of any book_id that waited too long, locked."""
    row = await db.fetchrow(
        CLAIMED
        + """
        WHERE c.book_id = k.id AND c.status = 'queued' AND c.expires_at <= $1
        ORDER BY c.expires_at LIMIT 1 FOR NO KEY UPDATE OF c SKIP LOCKED
        """,
        now,
    )
    return Claimed(**row) if row else None


async def find_attempt_id(db: Db, key: BookKey, number: int) -> UUID | None:
    """The id of an attempt whose end isn't written yet."""
    return await db.fetchval(
        """
        SELECT id FROM voice_attempts
        WHERE book_id = $1 AND call_id = $2 AND number = $3 AND ended_at IS NULL
        """,
        *key,
        number,
    )


async def has_calls(db: Db) -> bool:
    """Whether a call of any book waits, is under way, or was left behind."""
    return await db.fetchval(
        """
        SELECT EXISTS (SELECT FROM voice_calls
                WHERE status = 'queued' AND expires_at > '-infinity')
            OR EXISTS (SELECT FROM voice_calls WHERE lease_until > '-infinity')
        """
    )


def _columns(held: Sequence[Held]) -> tuple[list[UUID], list[UUID], list[int]]:
    return (
        [book_id for book_id, _, _ in held],
        [call_id for _, call_id, _ in held],
        [generation for _, _, generation in held],
    )
