"""Statements on the notes about conversations."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, ConversationId, UserId
from tillhouse.kit.page import Page

_NOTE: LiteralString = """
    SELECT n.id, n.conversation_id, n.text, n.author_id, u.name AS author_name,
        iso(n.created_at) AS created_at
    FROM conversation_notes n LEFT JOIN users u ON u.id = n.author_id
    WHERE n.book_id = $1
"""


async def insert_note(
    db: Db,
    key: BookKey,
    conversation_id: ConversationId,
    text: str,
    author_id: UserId | None,
    now: datetime,
) -> bool:
    """Keep a note; False when there is no such conversation."""
    return await db.execute_one(
        """
        INSERT INTO conversation_notes (book_id, id, conversation_id, text, author_id, created_at)
        SELECT c.book_id, $2, c.id, $4, $5, $6 FROM conversations c
        WHERE c.book_id = $1 AND c.id = $3
        """,
        *key,
        conversation_id,
        text,
        author_id,
        now,
    )


async def show_note(db: Db, book_id: BookId, note_id: UUID) -> Record | None:
    """One note."""
    return await db.fetchrow(_NOTE + " AND n.id = $2", book_id, note_id)


async def list_notes(
    db: Db, book_id: BookId, conversation_id: ConversationId, page: Page
) -> Sequence[Record]:
    """One page of the notes about a conversation, the latest first."""
    return await db.fetch(
        _NOTE + " AND n.conversation_id = $2 ORDER BY n.id DESC LIMIT $3 OFFSET $4",
        book_id,
        conversation_id,
        page.per_page,
        page.offset,
    )


async def count_notes(db: Db, book_id: BookId, conversation_id: ConversationId) -> int | None:
    """How many notes a conversation has; None when there is no such conversation."""
    return await db.fetchval(
        """
        SELECT (SELECT count(*) FROM conversation_notes n
            WHERE n.book_id = $1 AND n.conversation_id = $2)
        FROM conversations c WHERE c.book_id = $1 AND c.id = $2
        """,
        book_id,
        conversation_id,
    )
