"""Statements on books."""

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId


async def lock_book(db: Db, book_id: BookId) -> None:
    """Put those in line who count before they add, so that no limit is passed together."""
    await db.execute("SELECT FROM books WHERE id = $1 FOR NO KEY UPDATE", book_id)
