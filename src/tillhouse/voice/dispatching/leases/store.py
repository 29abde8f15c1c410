"""Statements on the calls that a dispatcher holds."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db

Held = tuple[UUID, UUID, int]
"""A call by book and id, and the generation that holds it."""


async def update_leases(db: Db, held: Sequence[Held], until: datetime) -> Sequence[Record]:
    """Hold calls of any book_id on; those that are still held so, with their status."""
    return await db.fetch(
        """
        UPDATE voice_calls c SET lease_until = $4
        FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) h (book_id, id, generation)
        WHERE c.book_id = h.book_id AND c.id = h.id AND c.generation = h.generation
            AND c.lease_until IS NOT NULL
        RETURNING c.id, c.status
        """,
        *_columns(held),
        until,
    )


async def list_held(db: Db, held: Sequence[Held]) -> Sequence[Record]:
    """Those of any book_id that are still held by these generations, with their status."""
    return await db.fetch(
        """
        SELECT c.id, c.status
        FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) h (book_id, id, generation)
        JOIN voice_calls c ON c.book_id = h.book_id AND c.id = h.id
            AND c.generation = h.generation AND c.lease_until IS NOT NULL
        """,
        *_columns(held),
    )


def _columns(held: Sequence[Held]) -> tuple[list[UUID], list[UUID], list[int]]:
    return (
        [book_id for book_id, _, _ in held],
        [call_id for _, call_id, _ in held],
        [generation for _, _, generation in held],
    )
