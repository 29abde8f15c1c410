"""Statements that count messages, notes and conversations: each once, soon after it was kept."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.db.storage_table import StorageTable

# The bytes of a message m and of a note n, as they are counted; those of a conversation are 300.
_BYTES: LiteralString = """
    300 + pg_column_size(m.text) + coalesce(pg_column_size(m.template), 0) AS bytes
"""
_NOTE_BYTES: LiteralString = "150 + pg_column_size(n.text)"
_COUNT: LiteralString = (
    """
    WITH found AS (
        SELECT b.book_id, r.kind, r.id, r.bytes
        FROM unnest($1::uuid[]) AS b (book_id)
        LEFT JOIN message_storage s ON s.book_id = b.book_id
        CROSS JOIN LATERAL (
            (
                SELECT 'message' AS kind, m.id,
                """
    + _BYTES
    + """
                FROM messages m
                WHERE m.book_id = b.book_id AND m.id < least_id($2)
                    AND m.id > coalesce(s.counted_to, least_id('epoch'))
                ORDER BY m.id LIMIT $3
            ) UNION ALL (
                SELECT 'note', n.id,
                """
    + _NOTE_BYTES
    + """
                FROM conversation_notes n
                WHERE n.book_id = b.book_id AND n.id < least_id($2)
                    AND n.id > coalesce(s.notes_counted_to, least_id('epoch'))
                ORDER BY n.id LIMIT $3
            ) UNION ALL (
                SELECT 'conversation', c.id, 300 FROM conversations c
                WHERE c.book_id = b.book_id AND c.id < least_id($2)
                    AND c.id > coalesce(s.conversations_counted_to, least_id('epoch'))
                ORDER BY c.id LIMIT $3
            )
        ) r LIMIT $3
    ), counted AS (
        INSERT INTO message_storage AS s (book_id, messages, bytes, counted_to,
            notes_counted_to, conversations_counted_to)
        SELECT book_id, count(*), sum(bytes),
            (array_agg(id ORDER BY id DESC) FILTER (WHERE kind = 'message'))[1],
            (array_agg(id ORDER BY id DESC) FILTER (WHERE kind = 'note'))[1],
            (array_agg(id ORDER BY id DESC) FILTER (WHERE kind = 'conversation'))[1]
        FROM found GROUP BY book_id
        ON CONFLICT (book_id) DO UPDATE SET messages = s.messages + excluded.messages,
            bytes = s.bytes + excluded.bytes,
            counted_to = coalesce(excluded.counted_to, s.counted_to),
            notes_counted_to = coalesce(excluded.notes_counted_to, s.notes_counted_to),
            conversations_counted_to =
                coalesce(excluded.conversations_counted_to, s.conversations_counted_to)
    )
    SELECT count(*) FROM found
    """
)
_DELETE_EMPTY: LiteralString = (
    """
    WITH old AS (
        SELECT s.book_id, c.id
        FROM message_storage s CROSS JOIN LATERAL (
            SELECT c.id FROM conversations c
            WHERE c.book_id = s.book_id AND c.last_message_at < $2
                AND c.id <= s.conversations_counted_to
                AND NOT EXISTS (SELECT FROM messages m
                    WHERE m.book_id = c.book_id AND m.conversation_id = c.id)
                AND NOT EXISTS (SELECT FROM conversation_notes n
                    WHERE n.book_id = c.book_id AND n.conversation_id = c.id
                        AND n.id > coalesce(s.notes_counted_to, least_id('epoch')))
            ORDER BY c.last_message_at, c.id LIMIT $3 FOR UPDATE SKIP LOCKED
        ) c WHERE s.book_id = ANY($1) LIMIT $3
    ), notes AS (
        DELETE FROM conversation_notes n USING old
        WHERE n.book_id = old.book_id AND n.conversation_id = old.id
        RETURNING n.book_id,
        """
    + _NOTE_BYTES
    + """ AS bytes
    ), deleted AS (
        DELETE FROM conversations c USING old WHERE c.book_id = old.book_id AND c.id = old.id
        RETURNING c.book_id, c.status, c.assignee_id, c.unread_count > 0 AS is_unread
    ), uncounted AS (
        UPDATE message_storage s SET messages = s.messages - d.rows,
            bytes = greatest(s.bytes - d.bytes, 0)
        FROM (
            SELECT r.book_id, count(*) AS rows, sum(r.bytes) AS bytes
            FROM (
                SELECT n.book_id, n.bytes FROM notes n
                UNION ALL
                SELECT c.book_id, 300 FROM deleted c
            ) r GROUP BY r.book_id
        ) d
        WHERE s.book_id = d.book_id
    ), tallied AS (
        INSERT INTO conversation_tally_changes
            (book_id, status, assignee_id, is_unread, conversations)
        SELECT book_id, status, assignee_id, is_unread, -count(*) FROM deleted
        GROUP BY book_id, status, assignee_id, is_unread
    )
    SELECT count(*) FROM deleted
    """
)
MESSAGE_STORAGE = StorageTable("message_storage", rows="messages")


class DeletedMessage(msgspec.Struct, frozen=True):
    """A message that was forgotten, and the file that it named."""

    book_id: UUID
    attachment_id: UUID | None


async def add_new_messages(db: Db, books: Sequence[UUID], before: datetime, limit: int) -> int:
    """Count some messages, notes and conversations of these books, kept before then; how many."""
    return await db.fetchval(_COUNT, books, before, limit)


async def find_waiting(db: Db, book_id: UUID, kind: str, limit: int) -> tuple[int, int]:
    """The jobs of a kind that a book has waiting, and their bytes: no more than so many."""
    [row] = await db.fetch(
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
    return row["jobs"], row["bytes"]


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

    Their notes go with them; both were counted and count no more. The tallies hear of it.
    """
    return await db.fetchval(_DELETE_EMPTY, books, before, limit)
