"""Statements on when the orders of a page were, by the tallies: no order is read for it.

Months are counted from the newest. Those that the page touches are looked at day by day, so that
a page is as near among a million orders as among a thousand.
"""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import LiteralString, Self

import msgspec

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Page
from tillhouse.kit.spans import midnight, next_month
from tillhouse.orders.listing.store.figures import (
    DAYS,
    ENDS,
    KIND,
    KIND_OF_ONE,
    MONTHS,
    in_days,
    in_months,
)
from tillhouse.orders.listing.store.query import (
    OrderQuery,
    and_details,
    and_kinds,
)

_DAY = timedelta(days=1)


class PageWindows(msgspec.Struct, frozen=True):
    """Times, none with its end, that hold a page and `skipped` orders that fit before it."""

    begins: list[datetime]
    ends: list[datetime]
    skipped: int

    @classmethod
    def of(cls, times: Iterable[tuple[date, date]], skipped: int) -> Self:
        """Days or months, the newest first; adjoining ones become one."""
        made = cls([], [], skipped)
        for first, after in times:
            if made.begins and made.begins[-1] == midnight(after):
                made.begins[-1] = midnight(first)
            else:
                made.begins.append(midnight(first))
                made.ends.append(midnight(after))
        return made


# $2 orders are skipped, $3 shown.
_TOUCHED: LiteralString = """
    WITH touched AS (
        SELECT c.month, c.before
        FROM (
            SELECT m.month, m.orders,
                sum(m.orders) OVER (ORDER BY m.month DESC) - m.orders AS before
            FROM (
                SELECT date_trunc('month', o.day)::date AS month, sum(o.orders) AS orders FROM ("""
_FITS: LiteralString = """) o WHERE true"""
_BY_MONTH: LiteralString = """
                GROUP BY 1 HAVING sum(o.orders) > 0
            ) m
        ) c
        WHERE c.before < $2::bigint + $3::bigint AND c.before + c.orders > $2
    )"""
_DAYS_TOUCHED: LiteralString = (
    "SELECT t.day,"
    + KIND
    + """FROM touched m JOIN order_tallies t ON t.book_id = $1 AND t.period = 'day'
        AND t.day >= m.month AND t.day < (m.month + interval '1 month')::date
    UNION ALL SELECT t.day,"""
    + KIND
    + """FROM touched m JOIN order_tally_changes t ON t.book_id = $1
        AND t.day >= m.month AND t.day < (m.month + interval '1 month')::date"""
)


async def list_days(db: Db, book_id: BookId, query: OrderQuery, page: Page) -> PageWindows:
    """The days that a page lies on, by the columns of all tallies."""
    where = and_kinds(Where(book_id, page.offset, page.per_page, *in_days(query)), query)
    fits = where.sql()
    rows = await db.fetch(
        _TOUCHED
        + DAYS
        + _FITS
        + fits
        + _BY_MONTH
        + """
        SELECT c.day, c.before::bigint
        FROM (
            SELECT d.day, d.orders, sum(d.orders) OVER (ORDER BY d.day DESC) - d.orders
                + (SELECT min(before) FROM touched) AS before
            FROM (
                SELECT o.day, sum(o.orders) AS orders
                FROM (
                    SELECT t.* FROM ("""
        + _DAYS_TOUCHED
        + """) t WHERE t.day >= $8 AND t.day < $9
                    UNION ALL SELECT (r.occurred_at AT TIME ZONE 'UTC')::date AS day,"""
        + KIND_OF_ONE
        + ENDS
        + """
                ) o
                WHERE date_trunc('month', o.day)::date IN (SELECT month FROM touched)"""
        + fits
        + """
                GROUP BY 1 HAVING sum(o.orders) > 0
            ) d
        ) c
        WHERE c.before < $2::bigint + $3::bigint AND c.before + c.orders > $2
        ORDER BY c.day DESC
        """,
        *where.args,
    )
    before = rows[0]["before"] if rows else page.offset
    return PageWindows.of(((r["day"], r["day"] + _DAY) for r in rows), page.offset - before)


async def list_months(db: Db, book_id: BookId, query: OrderQuery, page: Page) -> PageWindows:
    """The months that a page lies in, of people, terms or tags."""
    where = Where(book_id, page.offset, page.per_page, *in_months(query))
    where = and_details(and_kinds(where, query), query)
    rows = await db.fetch(
        _TOUCHED
        + MONTHS
        + _FITS
        + where.sql()
        + _BY_MONTH
        + "SELECT month, before::bigint FROM touched ORDER BY month DESC",
        *where.args,
    )
    before = rows[0]["before"] if rows else page.offset
    months = ((r["month"], next_month(r["month"])) for r in rows)
    return PageWindows.of(months, page.offset - before)


async def list_days_in_months(
    db: Db, book_id: BookId, query: OrderQuery, page: Page
) -> PageWindows:
    """The same by the days of these months on which anybody's orders are of the kinds asked."""
    where = and_kinds(Where(book_id, page.offset, page.per_page, *in_months(query)), query)
    kinds = where.sql()
    rows = await db.fetch(
        _TOUCHED
        + MONTHS
        + _FITS
        + and_details(where, query).sql()
        + _BY_MONTH
        + "SELECT o.day, (SELECT min(before) FROM touched)::bigint AS before FROM ("
        + _DAYS_TOUCHED
        + _FITS
        + kinds
        + " GROUP BY 1 HAVING sum(o.orders) > 0 ORDER BY 1 DESC",
        *where.args,
    )
    before = rows[0]["before"] if rows else page.offset
    return PageWindows.of(((r["day"], r["day"] + _DAY) for r in rows), page.offset - before)
