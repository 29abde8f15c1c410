"""Statements on one page of orders.

A page that lies near the newest is scanned to. Of one that lies deep, or among few that fit, the
tallies tell when its orders were (page_windows.py): only these times are read. A search's finds
are looked up and sorted.
"""

from collections.abc import Sequence
from typing import LiteralString

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Page
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

# A page whose lines come to more bytes than this isn't sent: not a row of it.
_WEIGHED: LiteralString = """
    SELECT * FROM (
        SELECT w.*, coalesce(sum(pg_column_size(w.items)) OVER (), 0) AS page_bytes FROM ("""
_FITS: LiteralString = ") w) w WHERE w.page_bytes <= 8388608"
_PAGE: LiteralString = _WEIGHED + ORDER + "JOIN (SELECT o.id FROM ("
_NEWEST: LiteralString = " ORDER BY o.occurred_at DESC, o.id DESC LIMIT $2 OFFSET $3"
_SHOWN: LiteralString = (
    ") page ON page.id = o.id WHERE o.book_id = $1"
    + _FITS
    + " ORDER BY w.occurred_at DESC, w.id DESC"
)


async def list_newest(db: Db, book_id: BookId, query: OrderQuery, page: Page) -> Sequence[Record]:
    """One page, the newest first."""
    where = and_dates(and_picks(Where(book_id, page.per_page, page.offset), query), query)
    return await db.fetch(
        _PAGE + ROWS + ") o WHERE true" + where.sql() + _NEWEST + _SHOWN, *where.args
    )


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
        + _PAGE
        + "SELECT o.* FROM ("
        + ROWS
        + ") o WHERE true"
        + dated
        + " ORDER BY o.occurred_at DESC, o.id DESC LIMIT $5) o WHERE true"
        + fits
        + _NEWEST
        + _SHOWN,
        *where.args,
    )


async def list_few(db: Db, book_id: BookId, query: OrderQuery, page: Page) -> Sequence[Record]:
    """The same where few fit: all are fetched by what picks them out, and then sorted."""
    fixed = Where(book_id, page.per_page, page.offset, query.words)
    where = and_dates(and_search(and_picks(fixed, query), query), query)
    return await db.fetch(
        "WITH"
        + BUYERS
        + _PAGE
        + "SELECT o.id, o.occurred_at FROM ("
        + ROWS
        + ") o WHERE true"
        + where.sql()
        + " OFFSET 0) o"
        + _NEWEST
        + _SHOWN,
        *where.args,
    )


async def list_found(db: Db, book_id: BookId, query: OrderQuery, page: Page) -> Sequence[Record]:
    """One page of what a search finds."""
    fixed = Where(book_id, page.per_page, page.offset, query.words, query.code)
    where = and_picks(fixed, query)
    fits = where.sql()
    where = and_dates(where, query)
    dated = where.sql().removeprefix(fits)
    return await db.fetch(
        "WITH" + BUYERS + _PAGE + found(dated) + ") o WHERE true" + fits + _NEWEST + _SHOWN,
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
        _PAGE
        + """
            SELECT w.id, w.occurred_at
            FROM unnest($4::timestamptz[], $5::timestamptz[]) AS s (begins, ends)
            CROSS JOIN LATERAL (SELECT o.id, o.occurred_at FROM ("""
        + ROWS
        + "AND r.occurred_at >= s.begins AND r.occurred_at < s.ends) o WHERE true"
        + where.sql()
        # Each window by itself: else all orders might be scanned for it.
        + " OFFSET 0) w) o"
        + _NEWEST
        + _SHOWN,
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
        + _PAGE
        + ROWS
        + ") o WHERE o.status = 'scheduled'"
        + where.sql()
        + " ORDER BY o.scheduled_at, o.id LIMIT $2 OFFSET $3"
        + ") page ON page.id = o.id WHERE o.book_id = $1"
        + _FITS
        + " ORDER BY w.scheduled_for, w.id",
        *where.args,
    )
