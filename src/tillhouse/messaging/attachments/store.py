"""Statements on attachments."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.access.storage import StorageLimits, StorageUse, StoredInBook
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.messaging.attachments.types import AttachmentFile

# Adds the bytes that the statement made ready to the sum of the book.
_COUNTED: LiteralString = """
    counted AS (
        INSERT INTO messaging_storage (book_id, attachments, bytes)
        SELECT book_id, 1, size_bytes FROM made
        ON CONFLICT (book_id) DO UPDATE SET
            attachments = messaging_storage.attachments + 1,
            bytes = messaging_storage.bytes + excluded.bytes
        RETURNING attachments, bytes
    )
"""
# Takes the bytes that the statement deleted from the sum of the book.
_UNCOUNTED: LiteralString = """
    uncounted AS (
        UPDATE messaging_storage s SET attachments = s.attachments - d.attachments,
            bytes = s.bytes - d.bytes
        FROM (
            SELECT book_id, count(*) AS attachments, sum(size_bytes) AS bytes
            FROM deleted WHERE size_bytes IS NOT NULL GROUP BY book_id
        ) d
        WHERE s.book_id = d.book_id
    )
"""


class HeldFiles(msgspec.Struct, frozen=True):
    """How many files a book holds, and their bytes."""

    attachments: int
    bytes: int


async def insert_uploading(db: Db, key: BookKey, filename: str | None, now: datetime) -> None:
    """A file whose address was given out."""
    await db.execute(
        """
        INSERT INTO messaging_attachments (book_id, id, status, filename, created_at, updated_at)
        VALUES ($1, $2, 'uploading', $3, $4, $4)
        """,
        *key,
        filename,
        now,
    )


async def update_ready(
    db: Db, key: BookKey, status: str, file: AttachmentFile, sha256: bytes, now: datetime
) -> HeldFiles | None:
    """Keep the bytes of a file that stands so; the sum of its book then, None: it doesn't."""
    row = await db.fetchrow(
        """
        WITH made AS (
            UPDATE messaging_attachments SET status = 'ready', kind = $4, content_type = $5,
                filename = $6, content = $7, size_bytes = octet_length($7::bytea), sha256 = $8,
                updated_at = $9
            WHERE book_id = $1 AND id = $2 AND status = $3
            RETURNING book_id, size_bytes
        ),
        """
        + _COUNTED
        + "SELECT attachments, bytes FROM counted",
        *key,
        status,
        file.kind,
        file.content_type,
        file.filename,
        file.content,
        sha256,
        now,
    )
    return HeldFiles(**row) if row else None


async def update_failed(db: Db, key: BookKey, error: str, now: datetime) -> None:
    """A file that can't be had."""
    await db.execute(
        """
        UPDATE messaging_attachments SET status = 'failed', error = $3, updated_at = $4
        WHERE book_id = $1 AND id = $2 AND status = 'fetching'
        """,
        *key,
        error,
        now,
    )


async def show_attachment(db: Db, key: BookKey) -> Record | None:
    """One file, without its bytes."""
    return await db.fetchrow(
        """
        SELECT id, kind, status, filename, content_type, size_bytes, error,
            iso(created_at) AS created_at, iso(updated_at) AS updated_at
        FROM messaging_attachments WHERE book_id = $1 AND id = $2
        """,
        *key,
    )


async def find_file(db: Db, book_id: BookId, attachment_id: UUID) -> AttachmentFile | None:
    """The bytes of a file that is there."""
    row = await db.fetchrow(
        """
        SELECT kind, content_type, filename, content FROM messaging_attachments
        WHERE book_id = $1 AND id = $2 AND status = 'ready'
        """,
        book_id,
        attachment_id,
    )
    return AttachmentFile(**row) if row else None


async def find_content(db: Db, key: BookKey, start: int, length: int) -> bytes | None:
    """Some bytes of a file that is there: nothing else of it is read."""
    return await db.fetchval(
        """
        SELECT substring(content FROM $3::int + 1 FOR $4::int) FROM messaging_attachments
        WHERE book_id = $1 AND id = $2 AND status = 'ready'
        """,
        *key,
        start,
        length,
    )


async def lock_fetching(db: Db, key: BookKey) -> Record | None:
    """A file that is to be fetched: its address, and its announced type."""
    return await db.fetchrow(
        """
        SELECT kind, filename, provider_media_id, provider_sha256, number_id
        FROM messaging_attachments
        WHERE book_id = $1 AND id = $2 AND status = 'fetching' FOR NO KEY UPDATE
        """,
        *key,
    )


async def delete_refused(db: Db, key: BookKey) -> None:
    """Forget a file that was refused when it came; one that is there has a kind."""
    await db.execute(
        "DELETE FROM messaging_attachments WHERE book_id = $1 AND id = $2 AND kind IS NULL",
        *key,
    )


async def delete_unused(db: Db, books: Sequence[UUID], ids: Sequence[UUID]) -> None:
    """Forget those of some files, each of its book_id, that no message names (any more)."""
    await db.execute(
        """
        WITH unused AS (
            SELECT a.book_id, a.id FROM messaging_attachments a
            JOIN unnest($1::uuid[], $2::uuid[]) n (book_id, id)
                ON a.book_id = n.book_id AND a.id = n.id
            WHERE NOT EXISTS (SELECT FROM messages m
                WHERE m.book_id = a.book_id AND m.attachment_id = a.id)
            FOR UPDATE OF a SKIP LOCKED
        ), deleted AS (
            DELETE FROM messaging_attachments a USING unused u
            WHERE a.book_id = u.book_id AND a.id = u.id
            RETURNING a.book_id, a.size_bytes
        ),
        """
        + _UNCOUNTED
        + "SELECT",
        books,
        ids,
    )


async def delete_uploading(db: Db, before: datetime, limit: int) -> int:
    """Forget some files, of any book_id, that never came; how many."""
    done = await db.execute(
        """
        DELETE FROM messaging_attachments WHERE (book_id, id) IN (
            SELECT book_id, id FROM messaging_attachments
            WHERE status = 'uploading' AND created_at < $1
            ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        """,
        before,
        limit,
    )
    return int(done.rpartition(" ")[2])


async def show_stored(db: Db, limits: StorageLimits) -> StorageUse:
    """The files of all books, and the books, by book_id, that hold as many as they may."""
    [row] = await db.fetch(
        """
        SELECT coalesce(sum(attachments), 0)::bigint AS rows,
            coalesce(sum(bytes), 0)::bigint AS bytes,
            coalesce(array_agg(book_id) FILTER (WHERE attachments >= $1 AND $1 > 0), '{}')
                AS full_by_rows,
            coalesce(array_agg(book_id) FILTER (WHERE bytes >= $2 AND $2 > 0), '{}')
                AS full_by_bytes
        FROM messaging_storage
        """,
        limits.rows,
        limits.bytes,
    )
    return StorageUse(**row)


async def list_attachments_stored(db: Db, books: Sequence[UUID]) -> list[StoredInBook]:
    """The files that some books hold, as far as they were counted."""
    rows = await db.fetch(
        """
        SELECT book_id, attachments AS rows, bytes
        FROM messaging_storage WHERE book_id = ANY($1)
        """,
        books,
    )
    return [StoredInBook(**row) for row in rows]
