"""Statements on the hooks of providers."""

from datetime import datetime
from typing import LiteralString

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.sweep import Sweep
from tillhouse.jobs.store import QUEUE
from tillhouse.kit.ids import BookKey

# Nothing more is stored while so many events of a book, or so many bytes of theirs, wait: $7, $8.
_INSERT: LiteralString = (
    """
    WITH waiting AS (
        SELECT count(*) >= $7 OR coalesce(sum(w.bytes), 0) >= $8 AS is_full FROM (
            SELECT octet_length(body) AS bytes FROM provider_events
            WHERE book_id = $1 AND processed_at IS NULL LIMIT $7
        ) w
    ), stored AS (
        INSERT INTO provider_events (book_id, id, provider, fingerprint, body, received_at)
        SELECT $1, $2, $3, $4, $5, $6 FROM waiting WHERE NOT is_full
        ON CONFLICT (book_id, provider, fingerprint) DO NOTHING
        RETURNING book_id, id
    ), queueing AS (
        SELECT book_id, 'provider_event' AS kind, id AS subject_id, '' AS key,
            NULL::bytea AS payload, $6::timestamptz AS due_at, $6::timestamptz AS queued_at
        FROM stored
    ),
    """
    + QUEUE
    + "SELECT is_full, EXISTS (SELECT FROM stored) AS is_new FROM waiting"
)

# Events that were processed long ago.
delete_old_events = Sweep("provider_events", by="received_at", only="processed_at IS NOT NULL")


class StoredEvent(msgspec.Struct, frozen=True):
    """Whether an event is new, and whether it was not stored since too much of its book waits."""

    is_full: bool
    is_new: bool


class NewEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event as a provider told it."""

    provider: str
    fingerprint: bytes
    body: bytes


async def insert_event(
    db: Db, key: BookKey, new: NewEvent, waiting_max: tuple[int, int], now: datetime
) -> StoredEvent:
    """Store an event with its job."""
    row = await db.fetchrow(_INSERT, *key, *msgspec.structs.astuple(new), now, *waiting_max)
    db.queues_jobs = True
    assert row is not None, "an aggregate has one row"  # noqa: S101
    return StoredEvent(**row)


async def record_event(
    db: Db, key: BookKey, new: NewEvent, waiting_max: tuple[int, int], now: datetime
) -> StoredEvent:
    """The same as the one statement that is committed by itself."""
    row = await db.write_once(_INSERT, *key, *msgspec.structs.astuple(new), now, *waiting_max)
    db.queues_jobs = True
    assert row is not None, "an aggregate has one row"  # noqa: S101
    return StoredEvent(**row)


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
    """Note the result; the bytes are of no more use, and their fingerprint stays."""
    await db.execute(
        """
        UPDATE provider_events SET processed_at = $4, outcome = $3, body = ''
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        outcome,
        now,
    )
