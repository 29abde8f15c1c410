"""Statements on table sessions."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, TableId
from tillhouse.kit.page import Page
from tillhouse.seating.types import Session, SessionStatus

# The orders, except those cancelled or refunded; and those of them that keep the table
# open: a completed order that is owed is a debt of its customer.
_SESSION = """
    SELECT s.id, s.table_id, t.label AS table_label, t.store_id, s.status, s.covers,
        o.orders_count, o.total_amount, o.unpaid_amount, u.currency,
        iso(s.opened_at) AS opened_at, iso(s.closed_at) AS closed_at,
        iso(s.updated_at) AS updated_at
    FROM table_sessions s
    JOIN dining_tables t ON t.book_id = s.book_id AND t.id = s.table_id
    JOIN books b ON b.id = s.book_id
    JOIN businesses u ON u.id = b.business_id
    CROSS JOIN LATERAL (
        SELECT count(*) AS orders_count, coalesce(sum(r.total_amount), 0) AS total_amount,
            coalesce(sum(r.remaining_amount) FILTER (WHERE r.status IN ('scheduled', 'pending')),
                0) AS unpaid_amount
        FROM orders r
        WHERE r.book_id = s.book_id AND r.table_session_id = s.id AND r.deleted_at IS NULL
            AND r.status NOT IN ('cancelled', 'refunded')) o
    WHERE s.book_id = $1
"""


async def insert_session(
    db: Db, book_id: BookId, session_id: UUID, table_id: TableId, covers: int | None, now: datetime
) -> bool:
    """An open session; False when the table has one already."""
    return await db.execute_one(
        """
        INSERT INTO table_sessions (book_id, id, table_id, status, covers, opened_at, updated_at)
        VALUES ($1, $2, $3, 'open', $4, $5, $5)
        ON CONFLICT (book_id, table_id) WHERE status = 'open' DO NOTHING
        """,
        book_id,
        session_id,
        table_id,
        covers,
        now,
    )


async def find_open_session(db: Db, book_id: BookId, table_id: TableId) -> UUID | None:
    """The open session of a table."""
    return await db.fetchval(
        """
        SELECT id FROM table_sessions WHERE book_id = $1 AND table_id = $2 AND status = 'open'
        """,
        book_id,
        table_id,
    )


async def count_sessions(db: Db, book_id: BookId, table_id: TableId | None) -> Record | None:
    """How many sessions there ever were, and how many are open: no session is counted singly."""
    where = Where(book_id).and_("t.id = $", table_id)
    return await db.fetchrow(
        """
        SELECT coalesce(sum(t.sessions), 0)::bigint AS all_sessions,
            count(o.id) AS open_sessions
        FROM dining_tables t
        LEFT JOIN table_sessions o
            ON o.book_id = t.book_id AND o.table_id = t.id AND o.status = 'open'
        WHERE t.book_id = $1
        """
        + where.sql(),
        *where.args,
    )


_NEWEST: LiteralString = " ORDER BY s.opened_at DESC, s.id DESC LIMIT "


async def list_sessions(
    db: Db, book_id: BookId, status: SessionStatus | None, table_id: TableId | None, page: Page
) -> list[Session]:
    """One page of the sessions, the last opened first."""
    where = Where(book_id).and_("s.status = $", status).and_("s.table_id = $", table_id)
    rows = await db.fetch(
        _SESSION + where.sql() + _NEWEST + where.window(page),
        *where.args,
    )
    return [Session(**row) for row in rows]


async def list_open_sessions(
    db: Db, book_id: BookId, table_id: TableId | None, page: Page
) -> list[Session]:
    """One page of the open sessions: there is at most one for each table."""
    where = Where(book_id).and_("s.table_id = $", table_id)
    rows = await db.fetch(
        _SESSION + " AND s.status = 'open'" + where.sql() + _NEWEST + where.window(page),
        *where.args,
    )
    return [Session(**row) for row in rows]


async def show_session(db: Db, book_id: BookId, session_id: UUID) -> Session | None:
    """One session."""
    row = await db.fetchrow(_SESSION + " AND s.id = $2", book_id, session_id)
    return Session(**row) if row else None


async def lock_session(db: Db, book_id: BookId, session_id: UUID) -> SessionStatus | None:
    """Keep orders from coming to a session meanwhile; how it stands, None if there is none."""
    return await db.fetchval(
        "SELECT status FROM table_sessions WHERE book_id = $1 AND id = $2 FOR UPDATE",
        book_id,
        session_id,
    )


async def count_unpaid(db: Db, book_id: BookId, session_id: UUID) -> int:
    """How many orders of a session wait for money."""
    return await db.fetchval(
        """
        SELECT count(*) FROM orders
        WHERE book_id = $1 AND table_session_id = $2 AND deleted_at IS NULL
            AND status IN ('scheduled', 'pending') AND payment_status <> 'paid'
        """,
        book_id,
        session_id,
    )


async def update_covers(
    db: Db, book_id: BookId, session_id: UUID, covers: int | None, now: datetime
) -> None:
    """How many guests there are."""
    await db.execute(
        """
        UPDATE table_sessions SET covers = $3, updated_at = $4 WHERE book_id = $1 AND id = $2
        """,
        book_id,
        session_id,
        covers,
        now,
    )


async def end_session(db: Db, book_id: BookId, session_id: UUID, now: datetime) -> None:
    """Close a session."""
    await db.execute(
        """
        UPDATE table_sessions SET status = 'closed', closed_at = $3, updated_at = $3
        WHERE book_id = $1 AND id = $2
        """,
        book_id,
        session_id,
        now,
    )
