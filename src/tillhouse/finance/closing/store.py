"""Statements on how far the books of a business are closed."""

from datetime import datetime

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId


async def find_closed_until(db: Db, book_id: BookId) -> datetime | None:
    """The moment before which nothing changes any more."""
    return await db.fetchval("SELECT closed_until FROM books WHERE id = $1", book_id)


async def lock_closed_until(db: Db, book_id: BookId) -> datetime | None:
    """The same, once changes of the past that are under way are over."""
    return await db.fetchval(
        "SELECT closed_until FROM books WHERE id = $1 FOR NO KEY UPDATE", book_id
    )


async def update_closed_until(db: Db, book_id: BookId, ends: datetime | None) -> None:
    """Close everything before a moment, and open the time after it."""
    await db.execute("UPDATE books SET closed_until = $2 WHERE id = $1", book_id, ends)
