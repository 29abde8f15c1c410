"""Statements on idempotency keys."""

from datetime import datetime
from typing import LiteralString

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.storage_table import StorageTable
from tillhouse.db.sweep import Sweep
from tillhouse.kit.ids import BookId

# The key of a request with its answer: a fragment for statements that write both together with the
# effect. It reads the CTE `keeping` of the statement around it, with the columns (surface, key,
# fingerprint, answer), and $1 = book_id and $2 = now. A key that is used violates its index.
KEEP: LiteralString = """
    kept AS (
        INSERT INTO idempotency_keys (book_id, surface, key, fingerprint, answer, created_at)
        SELECT $1, surface, key, fingerprint, answer, $2 FROM keeping
    )
"""
ANSWER_STORAGE = StorageTable("answer_storage", rows="answers")

# Keys that are older than the promise.
delete_old_keys = Sweep("idempotency_keys", by="created_at")
# Counts of days whose answers are gone.
delete_old_days = Sweep("answer_storage", by="day")


async def claim_key(
    db: Db, book_id: BookId, surface: str, key: str, fingerprint: bytes, now: datetime
) -> bool:
    """Take the key for this transaction; waits while another one holds it. False: it is used."""
    return bool(
        await db.fetchval(
            """
            INSERT INTO idempotency_keys (book_id, surface, key, fingerprint, created_at)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING true
            """,
            book_id,
            surface,
            key,
            fingerprint,
            now,
        )
    )


async def find_answer(db: Db, book_id: BookId, surface: str, key: str) -> Record | None:
    """The first use of the key, and its answer."""
    return await db.fetchrow(
        """
        SELECT fingerprint, answer FROM idempotency_keys
        WHERE book_id = $1 AND surface = $2 AND key = $3
        """,
        book_id,
        surface,
        key,
    )


async def insert_answer(
    db: Db,
    book_now: tuple[BookId, datetime],
    used: tuple[str, str, bytes],
    answer: bytes,
) -> None:
    """Keep an unclaimed key (surface, key, fingerprint) with the answer."""
    await db.execute(
        """
        WITH keeping AS (
            SELECT $3::text AS surface, $4::text AS key, $5::bytea AS fingerprint,
                $6::bytea AS answer
        ),
        """
        + KEEP
        + "SELECT",
        *book_now,
        *used,
        answer,
    )


async def update_answer(db: Db, book_id: BookId, surface: str, key: str, answer: bytes) -> None:
    """Keep the answer with the effect, in one transaction."""
    await db.execute(
        """
        UPDATE idempotency_keys SET answer = $4
        WHERE book_id = $1 AND surface = $2 AND key = $3
        """,
        book_id,
        surface,
        key,
        answer,
    )


async def add_new_answers(db: Db, before: datetime, limit: int) -> int:
    """Count some answers, of every book_id, that were kept before then; how many.

    All of one moment are counted together, so that the next count begins after it.
    """
    return await db.fetchval(
        """
        WITH mark AS (
            SELECT coalesce((SELECT latest_at FROM answer_storage
                ORDER BY latest_at DESC LIMIT 1), 'epoch') AS after
        ), until AS (
            SELECT max(created_at) AS until FROM (
                SELECT created_at FROM idempotency_keys
                WHERE created_at > (SELECT after FROM mark) AND created_at < $1
                ORDER BY created_at LIMIT $2
            ) next
        ), found AS (
            SELECT book_id, (created_at AT TIME ZONE 'UTC')::date AS day,
                100 + pg_column_size(key) + coalesce(pg_column_size(answer), 0) AS bytes
            FROM idempotency_keys
            WHERE created_at > (SELECT after FROM mark)
                AND created_at <= (SELECT until FROM until)
        ), counted AS (
            INSERT INTO answer_storage AS s (book_id, day, answers, bytes, latest_at)
            SELECT book_id, day, count(*), sum(bytes), (SELECT until FROM until)
            FROM found GROUP BY book_id, day
            ON CONFLICT (book_id, day) DO UPDATE SET answers = s.answers + excluded.answers,
                bytes = s.bytes + excluded.bytes, latest_at = excluded.latest_at
        )
        SELECT count(*) FROM found
        """,
        before,
        limit,
    )
