"""Statements on what a search finds: it is looked for once, for the figures and for the page.

What is found lies all over the book. So the moments at which it was sold are gathered while it is
summed up, four weeks by four weeks: those of the weeks that a page touches tell which orders are
on it. Who changes or adds an order at the page's first moment between the two statements may shift
that page by one, as any page of a list that changes.
"""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.page import Page
from tillhouse.orders.listing.store.figures import ANSWER, BESIDE, FIGURES, FITTING, SINGLE, SUMS
from tillhouse.orders.listing.store.query import (
    BUYERS,
    OrderQuery,
    and_dates,
    and_picks,
    and_search,
    found,
)


class Moments(msgspec.Struct, frozen=True):
    """When the orders of a page were sold; `skipped` that fit come before it in the first."""

    times: list[datetime]
    skipped: int


_GATHERED: LiteralString = (
    """
    ), gathered AS MATERIALIZED (
        SELECT o.status,
            CASE WHEN $8 THEN date_bin('28 days', o.occurred_at, '2001-01-01Z') END AS weeks,
            array_agg(o.occurred_at) FILTER (WHERE $8) AS moments,"""
    + SUMS
    + "FROM ("
    + SINGLE
)
# $6 orders are skipped, $7 shown; $8 is whether it is asked which. Of those of the page's first
# moment, some may be before it.
_MOMENTS: LiteralString = """
    , touched AS (
        SELECT c.weeks, c.before
        FROM (
            SELECT g.weeks, sum(g.orders) AS orders,
                (sum(sum(g.orders)) OVER (ORDER BY g.weeks DESC) - sum(g.orders))::bigint AS before
            FROM gathered g GROUP BY g.weeks
        ) c
        WHERE c.before < $6::bigint + $7::bigint AND c.before + c.orders > $6
    ), placed AS (
        SELECT m.at, (SELECT min(before) FROM touched) + row_number() OVER newest AS place,
            row_number() OVER newest - rank() OVER newest AS skipped
        FROM touched t JOIN gathered g ON g.weeks = t.weeks
        CROSS JOIN LATERAL unnest(g.moments) AS m (at)
        WINDOW newest AS (ORDER BY m.at DESC)
    )"""
_OF_PAGE: LiteralString = """,
        ARRAY(SELECT DISTINCT p.at FROM placed p
            WHERE p.place > $6 AND p.place <= $6::bigint + $7::bigint) AS moments,
        (SELECT p.skipped FROM placed p WHERE p.place = $6::bigint + 1) AS skipped"""


async def find_figures_of_found(
    db: Db, book_id: UUID, query: OrderQuery, now: datetime, page: Page | None
) -> Record | None:
    """Figures of what a search finds, and the moments of a page of it, if they are asked for."""
    place = (page.offset, page.per_page, True) if page else (0, 0, False)
    fixed = Where(book_id, query.store_id, now, query.words, query.code, *place)
    where = and_picks(fixed, query)
    fits = where.sql()
    # What is found was searched for already, and asking again would take more than an index.
    where = and_search(where, query)
    of_today = where.sql()
    where = and_dates(where, query)
    dated = where.sql().removeprefix(of_today)
    return await db.fetchrow(
        "WITH"
        + BUYERS
        + ","
        + BESIDE
        + of_today
        + _GATHERED
        + found(query, dated)
        + ") s) o WHERE true"
        + fits
        + " GROUP BY 1, 2"
        + FITTING
        + "gathered o)"
        + _MOMENTS
        + ANSWER
        + _OF_PAGE
        + FIGURES,
        *where.args,
    )
