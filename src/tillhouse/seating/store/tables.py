"""The table of tables, and their sessions as they count them."""

from typing import Any

import msgspec

from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, TableId
from tillhouse.seating.rules import TableFacts
from tillhouse.seating.types import OpenSession, Table


def _table(open_session: str | None, **row: Any) -> Table:
    """A table with its session, which comes as JSON."""
    session = msgspec.json.decode(open_session, type=OpenSession) if open_session else None
    return Table(open_session=session, **row)


# A lock keeps guests from being seated as well; sessions of a deleted table stay.
TABLES = BookTable(
    "dining_tables t",
    _table,
    shown="""t.store_id, t.label, t.area, t.seats, t.is_active,
        (SELECT json_build_object('id', o.id, 'covers', o.covers, 'openedAt', iso(o.opened_at))
         FROM table_sessions o
         WHERE o.book_id = t.book_id AND o.table_id = t.id AND o.status = 'open') AS open_session
    """,
    order="lower(t.label), t.id",
    fields=TableFacts,
    filters={"store_id": "t.store_id = $"},
    lock="UPDATE",
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
