"""Statements on one page of orders.

A page that lies near the newest is scanned to. Of one that lies deep, or among few that fit, the
tallies tell when its orders were (page_windows.py): only these times are read. A search's finds
are looked up and sorted.
"""

from collections.abc import Sequence
from typing import LiteralString

from asyncpg import Record

from tillhouse.db.changes import and_after
from tillhouse.db.pool import Db
from tillhouse.db.where import NEAR, Where, is_near, weighed
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Page, Position
from tillhouse.orders.listing.store.page_windows import PageWindows
from tillhouse.orders.listing.store.query import (
    BUYERS,
    ROWS,
    OrderQuery,
    and_dates,
    and_details,
    and_kinds,
    and_picks,
    and_search,
    found,
)
from tillhouse.orders.store import ORDER

_BY_TIME: LiteralString = " ORDER BY o.occurred_at DESC, o.id DESC"
_BY_CHANGE: LiteralString = " ORDER BY o.updated_at, o.id"
_BY_SCHEDULE: LiteralString = " ORDER BY o.scheduled_at, o.id"
_NEWEST: LiteralString = _BY_TIME + " LIMIT $2 OFFSET $3"


def _shown(page: LiteralString, by: LiteralString = _BY_TIME) -> LiteralString:
    """The orders of a page: no row of it where what hangs on them is too many bytes to answer."""
    of_page = ") page ON page.id = o.id WHERE o.book_id = $1"
    rows: LiteralString = ORDER + "JOIN (SELECT o.id FROM (" + page + of_page + by + " LIMIT $2"
    return weighed(rows, "items", "payments", "refunds")


async def list_newest(db: Db, book_id: BookId, query: OrderQuery, page: Page) -> Sequence[Record]:
    """One page, the newest first."""
    where = and_dates(and_picks(Where(book_id, page.per_page, page.offset), query), query)
    rows: LiteralString = ROWS + ") o WHERE true" + where.sql()
    if is_near(page) and not where.sql():
        rows = "SELECT o.* FROM (" + rows + _BY_TIME + NEAR + ") o"
    return await db.fetch(_shown(rows + _NEWEST), *where.args)


async def list_near(
    db: Db, book_id: BookId, query: OrderQuery, page: Page, most: int
) -> Sequence[Record]:
    """As much of a page as is found among so many of the newest, looked at one after the other."""
    fixed = Where(book_id, page.per_page, page.offset, query.words, most)
    where = and_dates(fixed, query)
    dated = where.sql()
    fits = and_search(and_picks(where, query), query).sql().removeprefix(dated)
    return await db.fetch(
        "WITH"
        + BUYERS
        + _shown(
            "SELECT o.* FROM ("
            + ROWS
            + ") o WHERE true"
            + dated
            + _BY_TIME
            + " LIMIT $5) o WHERE true"
            + fits
            + _NEWEST
        ),
        *where.args,
    )


async def list_few(db: Db, book_id: BookId, query: OrderQuery, page: Page) -> Sequence[Record]:
    """The same where few fit: all are fetched by the narrow filter, and then sorted."""
    fixed = Where(book_id, page.per_page, page.offset, query.words)
    where = and_dates(and_search(and_picks(fixed, query), query), query)
    return await db.fetch(
        "WITH"
        + BUYERS
        + _shown(
            "SELECT o.id, o.occurred_at FROM ("
            + ROWS
            + ") o WHERE true"
            + where.sql()
            + " OFFSET 0) o"
            + _NEWEST
        ),
        *where.args,
    )


async def list_found(db: Db, book_id: BookId, query: OrderQuery, page: Page) -> Sequence[Record]:
    """One page of the orders that a search finds."""
    fixed = Where(book_id, page.per_page, page.offset, query.words, query.code)
    where = and_picks(fixed, query)
    fits = where.sql()
    where = and_dates(where, query)
    dated = where.sql().removeprefix(fits)
    return await db.fetch(
        "WITH" + BUYERS + _shown(found(dated) + ") o WHERE true" + fits + _NEWEST),
        *where.args,
    )


async def list_within(
    db: Db, book_id: BookId, query: OrderQuery, page: Page, page_windows: PageWindows
) -> Sequence[Record]:
    """One page of which the windows of time are known that hold it."""
    fixed = Where(
        book_id, page.per_page, page_windows.skipped, page_windows.begins, page_windows.ends
    )
    where = and_dates(and_details(and_kinds(fixed, query), query), query)
    return await db.fetch(
        _shown(
            """
            SELECT w.id, w.occurred_at
            FROM unnest($4::timestamptz[], $5::timestamptz[]) AS s (begins, ends)
            CROSS JOIN LATERAL (SELECT o.id, o.occurred_at FROM ("""
            + ROWS
            + "AND r.occurred_at >= s.begins AND r.occurred_at < s.ends) o WHERE true"
            + where.sql()
            # Each window by itself: else all orders might be scanned for it.
            + " OFFSET 0) w) o"
            + _NEWEST
        ),
        *where.args,
    )


async def count_changed(db: Db, book_id: BookId, query: OrderQuery) -> int:
    """How many changed since a moment."""
    fixed = Where(book_id, None, 0, query.words)
    where = and_dates(and_search(and_picks(fixed, query), query), query)
    return await db.fetchval(
        "WITH"
        + BUYERS
        + "SELECT count(*) FROM (SELECT FROM ("
        + ROWS
        + ") o WHERE true"
        + where.sql()
        + " LIMIT $2::bigint OFFSET $3::bigint) fitting",
        *where.args,
    )


async def list_changed(
    db: Db, book_id: BookId, query: OrderQuery, position: Position | None, count: int
) -> Sequence[Record]:
    """So many orders that changed since a moment and after a place, the oldest change first."""
    fixed = Where(book_id, count, 0, query.words)
    where = and_dates(and_search(and_picks(fixed, query), query), query)
    where = and_after(where, "o.updated_at, o.id", position)
    return await db.fetch(
        "WITH"
        + BUYERS
        + _shown(
            ROWS + ") o WHERE true" + where.sql() + _BY_CHANGE + " LIMIT $2 OFFSET $3", _BY_CHANGE
        ),
        *where.args,
    )


async def list_scheduled(
    db: Db, book_id: BookId, query: OrderQuery, page: Page
) -> Sequence[Record]:
    """One page of scheduled orders, the next to be fulfilled first."""
    fixed = Where(book_id, page.per_page, page.offset, query.words)
    where = and_dates(and_search(and_picks(fixed, query), query), query)
    return await db.fetch(
        "WITH"
        + BUYERS
        + _shown(
            ROWS
            + ") o WHERE o.status = 'scheduled'"
            + where.sql()
            + _BY_SCHEDULE
            + " LIMIT $2 OFFSET $3",
            _BY_SCHEDULE,
        ),
        *where.args,
    )
