"""Statements that count messages: each is read once, soon after it was kept."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.access.storage import StorageLimits, StorageUse, StoredInBook
from tillhouse.db.pool import Db

# The bytes of a message m, as they are counted.
_BYTES: LiteralString = """
    300 + pg_column_size(m.text) + coalesce(pg_column_size(m.template), 0) AS bytes
"""


class DeletedMessage(msgspec.Struct, frozen=True):
    """A message that was forgotten, and the file that it named."""

    book_id: UUID
    attachment_id: UUID | None


async def add_new_messages(db: Db, books: Sequence[UUID], before: datetime, limit: int) -> int:
    """Count some messages of these books, by book_id, that were kept before then; how many.

    Bytes are those of the rows; the first message of a customer brings along a conversation.
    """
    return await db.fetchval(
        """
        WITH found AS (
            SELECT b.book_id, m.id, m.bytes
            FROM unnest($1::uuid[]) AS b (book_id)
            LEFT JOIN message_storage s ON s.book_id = b.book_id
            CROSS JOIN LATERAL (
                SELECT m.id,
                """
        + _BYTES
        + """
                FROM messages m
                WHERE m.book_id = b.book_id AND m.id > coalesce(s.counted_to, least_id('epoch'))
                    AND m.id < least_id($2)
                ORDER BY m.id LIMIT $3
            ) m LIMIT $3
        ), counted AS (
            INSERT INTO message_storage AS s (book_id, messages, bytes, counted_to)
            SELECT book_id, count(*), sum(bytes), (array_agg(id ORDER BY id DESC))[1]
            FROM found GROUP BY book_id
            ON CONFLICT (book_id) DO UPDATE SET messages = s.messages + excluded.messages,
                bytes = s.bytes + excluded.bytes, counted_to = excluded.counted_to
        )
        SELECT count(*) FROM found
        """,
        books,
        before,
        limit,
    )


async def show_messages_stored(db: Db, limits: StorageLimits) -> StorageUse:
    """The messages of all books, and the books, by book_id, that hold as many as they may."""
    row = await db.fetchrow(
        """
        SELECT coalesce(sum(messages), 0)::bigint AS rows,
            coalesce(sum(bytes), 0)::bigint AS bytes,
            coalesce(array_agg(book_id) FILTER (WHERE messages >= $1 AND $1 > 0), '{}')
                AS full_by_rows,
            coalesce(array_agg(book_id) FILTER (WHERE bytes >= $2 AND $2 > 0), '{}')
                AS full_by_bytes
        FROM message_storage
        """,
        limits.rows,
        limits.bytes,
    )
    assert row is not None, "an aggregate has one row"  # noqa: S101
    return StorageUse(**row)


async def find_waiting(db: Db, book_id: UUID, kind: str, limit: int) -> tuple[int, int]:
    """The jobs of a kind that a book has waiting, and their bytes: no more than so many."""
    row = await db.fetchrow(
        """
        SELECT count(*) AS jobs, coalesce(sum(w.bytes), 0)::bigint AS bytes FROM (
            SELECT octet_length(payload) AS bytes FROM jobs
            WHERE book_id = $1 AND kind = $2 LIMIT $3
        ) w
        """,
        book_id,
        kind,
        limit,
    )
    assert row is not None, "an aggregate has one row"  # noqa: S101
    return row["jobs"], row["bytes"]


async def list_messages_stored(db: Db, books: Sequence[UUID]) -> list[StoredInBook]:
    """The messages that some books hold, as far as they were counted."""
    rows = await db.fetch(
        """
        SELECT book_id, messages AS rows, bytes
        FROM message_storage WHERE book_id = ANY($1)
        """,
        books,
    )
    return [StoredInBook(**row) for row in rows]


async def delete_old_messages(
    db: Db, books: Sequence[UUID], before: datetime, limit: int
) -> list[DeletedMessage]:
    """Forget some messages of these books that were counted and are older; they count no more.

    Messages that wait to be sent stay until their outcome is known.
    """
    rows = await db.fetch(
        """
        WITH old AS (
            SELECT s.book_id, m.id, m.bytes
            FROM message_storage s CROSS JOIN LATERAL (
                SELECT m.id,
                """
        + _BYTES
        + """
                FROM messages m
                WHERE m.book_id = s.book_id AND m.id < least_id($2) AND m.id <= s.counted_to
                    AND coalesce(m.delivery_status, '') NOT IN ('queued', 'sending')
                ORDER BY m.id LIMIT $3 FOR UPDATE SKIP LOCKED
            ) m WHERE s.book_id = ANY($1) LIMIT $3
        ), deleted AS (
            DELETE FROM messages m USING old WHERE m.book_id = old.book_id AND m.id = old.id
            RETURNING m.book_id, m.attachment_id, old.bytes
        ), uncounted AS (
            UPDATE message_storage s SET messages = s.messages - d.messages,
                bytes = greatest(s.bytes - d.bytes, 0)
            FROM (
                SELECT book_id, count(*) AS messages, sum(bytes) AS bytes
                FROM deleted GROUP BY book_id
            ) d
            WHERE s.book_id = d.book_id
        )
        SELECT book_id, attachment_id FROM deleted
        """,
        books,
        before,
        limit,
    )
    return [DeletedMessage(**row) for row in rows]


async def delete_empty_conversations(
    db: Db, books: Sequence[UUID], before: datetime, limit: int
) -> int:
    """Forget some conversations of these books that ended before and have no message; how many.

    Their notes go with them, and the tallies hear of it.
    """
    return await db.fetchval(
        """
        WITH old AS (
            SELECT b.book_id, c.id
            FROM unnest($1::uuid[]) AS b (book_id) CROSS JOIN LATERAL (
                SELECT c.id FROM conversations c
                WHERE c.book_id = b.book_id AND c.last_message_at < $2 AND NOT EXISTS (
                    SELECT FROM messages m
                    WHERE m.book_id = c.book_id AND m.conversation_id = c.id)
                ORDER BY c.last_message_at, c.id LIMIT $3 FOR UPDATE SKIP LOCKED
            ) c LIMIT $3
        ), notes AS (
            DELETE FROM conversation_notes n USING old
            WHERE n.book_id = old.book_id AND n.conversation_id = old.id
        ), deleted AS (
            DELETE FROM conversations c USING old WHERE c.book_id = old.book_id AND c.id = old.id
            RETURNING c.book_id, c.status, c.assignee_id, c.unread_count > 0 AS is_unread
        ), tallied AS (
            INSERT INTO conversation_tally_changes
                (book_id, status, assignee_id, is_unread, conversations)
            SELECT book_id, status, assignee_id, is_unread, -count(*) FROM deleted
            GROUP BY book_id, status, assignee_id, is_unread
        )
        SELECT count(*) FROM deleted
        """,
        books,
        before,
        limit,
    )
