"""Statements on idempotency keys."""

from datetime import datetime
from typing import LiteralString

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId

# The key of a request with its answer: a brick for whoever writes both in one statement with the
# effect. It reads the CTE `keeping` of the statement around it, with the columns (surface, key,
# fingerprint, answer), and $1 = book_id and $2 = now. A key that is used violates its index.
KEEP: LiteralString = """
    kept AS (
        INSERT INTO idempotency_keys (book_id, surface, key, fingerprint, answer, created_at)
        SELECT $1, surface, key, fingerprint, answer, $2 FROM keeping
    )
"""


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
    """Keep a key (surface, key, fingerprint) that nobody claimed, with the answer."""
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


async def delete_old_keys(db: Db, before: datetime, limit: int) -> int:
    """Forget some keys older than the promise; how many."""
    done = await db.execute(
        """
        DELETE FROM idempotency_keys
        WHERE (book_id, surface, key) IN (
            SELECT book_id, surface, key FROM idempotency_keys
            WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        """,
        before,
        limit,
    )
    return int(done.rpartition(" ")[2])
