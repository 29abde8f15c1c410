"""Statements on developer apps."""

from datetime import datetime
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.developer.types import App
from tillhouse.kit.ids import AppId, BookId

_APP = """
    SELECT a.id, b.business_id, a.name, b.environment, a.status, a.is_default,
        iso(a.created_at) AS created_at, iso(a.updated_at) AS updated_at
    FROM developer_apps a JOIN books b ON b.id = a.book_id
"""


async def insert_app(
    db: Db, book_id: BookId, app_id: AppId, name: str, now: datetime, *, is_default: bool
) -> None:
    """An app of a book."""
    await db.execute(
        """
        INSERT INTO developer_apps (book_id, id, name, is_default, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $5)
        """,
        book_id,
        app_id,
        name,
        is_default,
        now,
    )


async def list_apps(db: Db, books: list[BookId]) -> list[App]:
    """The apps of a business, the oldest first."""
    rows = await db.fetch(
        _APP + "WHERE a.book_id = ANY($1) ORDER BY a.created_at, a.id LIMIT 1000", books
    )
    return [App(**row) for row in rows]


async def show_app(db: Db, book_id: BookId, app_id: AppId) -> App | None:
    """One app."""
    row = await db.fetchrow(_APP + "WHERE a.book_id = $1 AND a.id = $2", book_id, app_id)
    return App(**row) if row else None


async def find_default_app(db: Db, book_id: BookId) -> UUID:
    """The app of rows that are made without one."""
    return await db.fetchval(
        "SELECT id FROM developer_apps WHERE book_id = $1 AND is_default", book_id
    )


async def count_apps(db: Db, book_id: BookId) -> int:
    """How many apps a book has."""
    return await db.fetchval("SELECT count(*) FROM developer_apps WHERE book_id = $1", book_id)
