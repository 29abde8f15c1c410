"""Statements on what providers have told."""

from datetime import datetime
from typing import LiteralString

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.jobs.store import QUEUE
from tillhouse.kit.ids import BookKey

_INSERT: LiteralString = (
    """
    WITH stored AS (
        INSERT INTO provider_events (book_id, id, provider, fingerprint, body, received_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (book_id, provider, fingerprint) DO NOTHING
        RETURNING book_id, id
    ), queueing AS (
        SELECT book_id, 'provider_event' AS kind, id AS subject_id, '' AS key,
            NULL::bytea AS payload, $6::timestamptz AS due_at, $6::timestamptz AS queued_at
        FROM stored
    ),
    """
    + QUEUE
    + "SELECT id FROM stored"
)


async def insert_event(db: Db, key: BookKey, what: tuple[str, bytes, bytes], now: datetime) -> bool:
    """Store what was told (provider, fingerprint, body), with its job; False: known before."""
    row = await db.fetchrow(_INSERT, *key, *what, now)
    db.queues_jobs = True
    return row is not None


async def record_event(db: Db, key: BookKey, what: tuple[str, bytes, bytes], now: datetime) -> bool:
    """The same as the one statement that is committed by itself."""
    row = await db.write_once(_INSERT, *key, *what, now)
    db.queues_jobs = True
    return row is not None


async def find_event(db: Db, key: BookKey) -> Record | None:
    """An event, with the book that it was told to."""
    return await db.fetchrow(
        """
        SELECT e.provider, e.body, e.received_at, e.processed_at, e.outcome, b.business_id,
            b.environment
        FROM provider_events e JOIN books b ON b.id = e.book_id
        WHERE e.book_id = $1 AND e.id = $2
        """,
        *key,
    )


async def update_processed(db: Db, key: BookKey, outcome: str, now: datetime) -> None:
    """Note what came of it."""
    await db.execute(
        """
        UPDATE provider_events SET processed_at = $4, outcome = $3
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        outcome,
        now,
    )


async def delete_old_events(db: Db, before: datetime, limit: int) -> int:
    """Forget some processed events, of any book_id, that came before then; how many."""
    done = await db.execute(
        """
        DELETE FROM provider_events WHERE (book_id, id) IN (
            SELECT book_id, id FROM provider_events
            WHERE received_at < $1 AND processed_at IS NOT NULL
            ORDER BY received_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        """,
        before,
        limit,
    )
    return int(done.rpartition(" ")[2])
