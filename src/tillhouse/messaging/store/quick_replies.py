"""Statements on quick replies."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.page import Page
from tillhouse.messaging.types import QuickReply

_REPLY: LiteralString = """
    SELECT id, shortcut, text, iso(created_at) AS created_at, iso(updated_at) AS updated_at
    FROM quick_replies WHERE book_id = $1
"""


async def insert_quick_reply(
    db: Db, key: BookKey, what: tuple[str, str], most: int, now: datetime
) -> bool:
    """Keep (shortcut, text); False when the book has as many as it may have."""
    done = await db.execute(
        """
        INSERT INTO quick_replies (book_id, id, shortcut, text, created_at, updated_at)
        SELECT $1, $2, $3, $4, $6, $6
        WHERE (SELECT count(*) FROM quick_replies WHERE book_id = $1) < $5
        """,
        *key,
        *what,
        most,
        now,
    )
    return done.endswith(" 1")


async def update_quick_reply(
    db: Db, key: BookKey, what: tuple[str | None, str | None], now: datetime
) -> bool:
    """Change (shortcut, text), each unless it is None; whether there is such a reply."""
    done = await db.execute(
        """
        UPDATE quick_replies SET shortcut = coalesce($3, shortcut), text = coalesce($4, text),
            updated_at = $5
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *what,
        now,
    )
    return done.endswith(" 1")


async def delete_quick_reply(db: Db, book_id: BookId, reply_id: UUID) -> bool:
    """Forget one; whether there was one."""
    done = await db.execute(
        "DELETE FROM quick_replies WHERE book_id = $1 AND id = $2", book_id, reply_id
    )
    return done.endswith(" 1")


async def show_quick_reply(db: Db, book_id: BookId, reply_id: UUID) -> QuickReply | None:
    """One quick reply."""
    row = await db.fetchrow(_REPLY + " AND id = $2", book_id, reply_id)
    return QuickReply(**row) if row else None


async def find_by_shortcut(db: Db, book_id: BookId, shortcut: str) -> str | None:
    """The text of a shortcut."""
    return await db.fetchval(
        "SELECT text FROM quick_replies WHERE book_id = $1 AND shortcut = $2", book_id, shortcut
    )


async def list_quick_replies(db: Db, book_id: BookId, page: Page) -> list[QuickReply]:
    """One page of them, by shortcut."""
    rows = await db.fetch(
        _REPLY + " ORDER BY shortcut LIMIT $2 OFFSET $3", book_id, page.per_page, page.offset
    )
    return [QuickReply(**row) for row in rows]


async def count_quick_replies(db: Db, book_id: BookId) -> int:
    """How many a book has."""
    return await db.fetchval("SELECT count(*) FROM quick_replies WHERE book_id = $1", book_id)
