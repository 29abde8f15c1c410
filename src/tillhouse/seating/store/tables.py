"""Statements on tables."""

from datetime import datetime
from typing import Any

import msgspec

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, StoreId, TableId
from tillhouse.kit.page import Page
from tillhouse.seating.rules import TableFacts
from tillhouse.seating.types import OpenSession, Table

_TABLE = """
    SELECT t.id, t.store_id, t.label, t.area, t.seats, t.is_active,
        (SELECT json_build_object('id', o.id, 'covers', o.covers, 'openedAt', iso(o.opened_at))
         FROM table_sessions o
         WHERE o.book_id = t.book_id AND o.table_id = t.id AND o.status = 'open') AS open_session,
        iso(t.created_at) AS created_at, iso(t.updated_at) AS updated_at
    FROM dining_tables t WHERE t.book_id = $1 AND t.deleted_at IS NULL
"""


def _open(session: str | None) -> Any:
    return msgspec.json.decode(session, type=OpenSession) if session else None


async def insert_table(
    db: Db, book_id: BookId, table_id: TableId, table: TableFacts, now: datetime
) -> None:
    """A table."""
    await db.execute(
        """
        INSERT INTO dining_tables (book_id, id, store_id, label, area, seats, is_active,
            created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
        """,
        book_id,
        table_id,
        *msgspec.structs.astuple(table),
        now,
    )


async def count_tables(db: Db, book_id: BookId, store_id: StoreId | None) -> int:
    """How many tables there are."""
    where = Where(book_id).and_("store_id = $", store_id)
    return await db.fetchval(
        "SELECT count(*) FROM dining_tables WHERE book_id = $1 AND deleted_at IS NULL"
        + where.sql(),
        *where.args,
    )


async def list_tables(db: Db, book_id: BookId, store_id: StoreId | None, page: Page) -> list[Table]:
    """One page of the tables, by label."""
    where = Where(book_id).and_("t.store_id = $", store_id)
    rows = await db.fetch(
        _TABLE
        + where.sql()
        + " ORDER BY lower(t.label), t.id LIMIT "
        + where.slot(page.per_page)
        + " OFFSET "
        + where.slot(page.offset),
        *where.args,
    )
    return [Table(**{**row, "open_session": _open(row["open_session"])}) for row in rows]


async def show_table(db: Db, book_id: BookId, table_id: TableId) -> Table | None:
    """One table."""
    row = await db.fetchrow(_TABLE + " AND t.id = $2", book_id, table_id)
    return Table(**{**row, "open_session": _open(row["open_session"])}) if row else None


async def has_table(db: Db, book_id: BookId, table_id: TableId) -> bool:
    """Whether the book has the table."""
    return await db.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM dining_tables WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL)
        """,
        book_id,
        table_id,
    )


async def lock_table(db: Db, book_id: BookId, table_id: TableId) -> Table | None:
    """One table, which nobody changes and at which nobody sits down meanwhile."""
    row = await db.fetchrow(_TABLE + " AND t.id = $2 FOR UPDATE OF t", book_id, table_id)
    return Table(**{**row, "open_session": _open(row["open_session"])}) if row else None


async def update_table(
    db: Db, book_id: BookId, table_id: TableId, table: TableFacts, now: datetime
) -> None:
    """The stored fields of a table."""
    await db.execute(
        """
        UPDATE dining_tables SET store_id = $3, label = $4, area = $5, seats = $6, is_active = $7,
            updated_at = $8
        WHERE book_id = $1 AND id = $2
        """,
        book_id,
        table_id,
        *msgspec.structs.astuple(table),
        now,
    )


async def update_table_sessions(db: Db, book_id: BookId, table_id: TableId) -> bool | None:
    """Count a session more; whether the table is in use, None when there is no such table."""
    return await db.fetchval(
        """
        UPDATE dining_tables SET sessions = sessions + 1
        WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING is_active
        """,
        book_id,
        table_id,
    )


async def delete_table(db: Db, book_id: BookId, table_id: TableId, now: datetime) -> None:
    """Take a table out of the list; its sessions stay."""
    await db.execute(
        "UPDATE dining_tables SET deleted_at = $3, updated_at = $3 WHERE book_id = $1 AND id = $2",
        book_id,
        table_id,
        now,
    )
