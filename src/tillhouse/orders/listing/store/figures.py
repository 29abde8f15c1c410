"""Statements on the figures beside a list.

Figures of what the tallies know come from them, whatever the number of orders: over all time from
one row of each kind, of a time from its whole months and days and the orders at its two ends.
Those of what picks orders out (a customer, a search) are summed from these orders.
"""

from datetime import datetime
from typing import LiteralString

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.columns import each
from tillhouse.kit.ids import BookId
from tillhouse.kit.spans import span
from tillhouse.orders.columns import DETAILS, KINDS, METHODS, OF_TOTALS, SUMS
from tillhouse.orders.listing.store.query import (
    BUYERS,
    ROWS,
    OrderQuery,
    Reach,
    and_dates,
    and_details,
    and_kinds,
    and_picks,
    and_search,
    found,
    of_one,
)
from tillhouse.stores.store import CLOCK

# Every source gives rows `o` with their number of orders, so that tallies and single orders are
# summed alike. $2 is the store whose day it is, if only one's, $3 now.
ZONE: LiteralString = (
    " zone AS ("
    + CLOCK
    + """
    ), day AS (
        SELECT (d.local + z.cutoff) AT TIME ZONE z.name AS begins,
            (d.local + z.cutoff + interval '1 day') AT TIME ZONE z.name AS ends
        FROM zone z,
            LATERAL (SELECT date_trunc('day', ($3::timestamptz AT TIME ZONE z.name) - z.cutoff)
                AS local) d
    ), """
)
"""The currency, and when the day began that it is now."""

WHOLE: LiteralString = """
    whole AS (
        SELECT coalesce(sum(w.orders), 0)::bigint AS total_orders,
            coalesce(sum(w.orders) FILTER (WHERE w.status = 'pending'), 0)::bigint
                AS pending_orders_count
        FROM ("""
"""Figures of the whole book, from rows `w`."""
_WHOLE_EVER: LiteralString = """
            SELECT t.status, t.orders FROM order_totals t WHERE t.book_id = $1
            UNION ALL
            SELECT c.status, c.orders FROM order_tally_changes c WHERE c.book_id = $1
        ) w
    ), """

_TODAY: LiteralString = """
    today AS (
        SELECT coalesce(sum(o.sign * o.orders)
                FILTER (WHERE o.status <> 'cancelled'), 0)::bigint AS today_orders,
            coalesce(sum(o.sign * o.total_amount)
                FILTER (WHERE o.status IN ('pending', 'completed', 'refunded')), 0)
                AS today_revenue
        FROM ("""
_ORDERS_OF_TODAY: LiteralString = """
            SELECT r.*, 1 AS sign, 1 AS orders,
                r.channel_fulfilled_at IS NOT NULL AS is_fulfilled
            FROM orders r
            WHERE r.book_id = $1 AND r.deleted_at IS NULL
                AND r.occurred_at >= (SELECT begins FROM day)
                AND r.occurred_at < (SELECT ends FROM day)
            -- First the day, then what fits: a day is little, whatever else is asked.
            OFFSET 0) o
        WHERE true"""
BESIDE: LiteralString = ZONE + WHOLE + _WHOLE_EVER + _TODAY + _ORDERS_OF_TODAY
"""Filters that don't depend on dates; conditions on the orders of today follow."""

FITTING: LiteralString = (
    """
    ), fitting AS (
        SELECT coalesce(sum(o.orders), 0)::bigint AS filtered_orders,
            coalesce(sum(o.total_amount)
                FILTER (WHERE o.status IN ('pending', 'completed', 'refunded')), 0)
                AS total_revenue,
            coalesce(sum(o.orders)
                FILTER (WHERE o.status IN ('pending', 'completed', 'refunded')), 0)::bigint
                AS revenue_orders,
            coalesce(sum(o.refunded_amount)
                FILTER (WHERE o.status IN ('pending', 'completed', 'refunded')), 0)
                AS refunded_amount,
            coalesce(sum(o.remaining_amount) FILTER (WHERE o.status = 'pending'), 0)
                AS pending_outstanding_amount,
            coalesce(sum(o.orders) FILTER (WHERE o.status = 'completed'), 0)::bigint
                AS completed_orders_count,
            coalesce(sum(o.total_amount) FILTER (WHERE o.status IN ('completed', 'refunded')), 0)
                AS completed_revenue,
            coalesce(sum(o.orders) FILTER (WHERE o.status = 'cancelled'), 0)::bigint
                AS cancelled_orders_count,
            coalesce(sum(o.total_amount) FILTER (WHERE o.status = 'cancelled'), 0)
                AS cancelled_revenue,
            """
    + each("coalesce(sum(o.paid_by_{0}), 0) AS {0}", METHODS)
    + """
        FROM """
)
"""The sums of the orders that fit, from rows `o` that are few."""
_SUM: LiteralString = "sum(o.{0}) AS {0}"
_REST: LiteralString = _SUM.replace(" AS", " FILTER (WHERE o.status = 'pending') AS")
# By status first: a hundred thousand rows are then added up three times, not eight. Only the
# rest of pending orders is a figure.
OF_STATUS: LiteralString = (
    " "
    + ", ".join((_REST if name == "remaining_amount" else _SUM).format(name) for name in SUMS)
    + " "
)
"""The figures of one status, from many rows `o`."""
_FITTING: LiteralString = FITTING + "(SELECT o.status," + OF_STATUS + "FROM ("
_END: LiteralString = """
        ) o WHERE true"""
ANSWER: LiteralString = " SELECT *, (SELECT currency FROM zone) AS currency"
FIGURES: LiteralString = " FROM whole, today, fitting"
_ANSWER: LiteralString = " GROUP BY 1) o)" + ANSWER + FIGURES
SINGLE: LiteralString = "SELECT 1 AS orders, s.* FROM ("

KIND: LiteralString = " " + each("t.{0}", (*KINDS, *SUMS)) + " "
KIND_OF_ONE: LiteralString = " " + of_one("r", (*KINDS, *SUMS)) + " "
_DETAIL: LiteralString = " " + each("t.{0}", (*KINDS, *SUMS, *DETAILS)) + " "
_DETAIL_OF_ONE: LiteralString = " " + of_one("r", (*KINDS, *SUMS, *DETAILS)) + " "

_TOTAL: LiteralString = " " + each("t.{0}", (*OF_TOTALS, *SUMS)) + " "
_TOTALS: LiteralString = (
    "SELECT"
    + _TOTAL
    + "FROM order_totals t WHERE t.book_id = $1 UNION ALL SELECT"
    + _TOTAL
    + "FROM order_tally_changes t WHERE t.book_id = $1"
)
_EVER: LiteralString = (
    "SELECT"
    + KIND
    + "FROM order_tallies t WHERE t.book_id = $1 AND t.period = 'ever' UNION ALL SELECT"
    + KIND
    + "FROM order_tally_changes t WHERE t.book_id = $1"
)
_EVER_IN_DETAIL: LiteralString = (
    "SELECT"
    + _DETAIL
    + "FROM order_tallies_in_detail t WHERE t.book_id = $1 AND t.day IS NULL UNION ALL SELECT"
    + _DETAIL
    + "FROM order_tally_changes t WHERE t.book_id = $1"
)
# The orders at both ends, with $4 to $7 as below.
ENDS: LiteralString = """
    FROM orders r WHERE r.book_id = $1 AND r.deleted_at IS NULL
        AND (r.occurred_at >= $4::timestamptz AND r.occurred_at < least($5::timestamptz, $7)
            OR r.occurred_at >= $6::timestamptz AND r.occurred_at < $7::timestamptz)
"""
# $4 is since, $5 when the first whole day (or month) begins, $6 when the last has ended, $7 until;
# $8 is the first whole day and $9 the one after the last; whole months are from $10 to before $11.
DAYS: LiteralString = (
    "SELECT t.day,"
    + KIND
    + """FROM order_tallies t
    WHERE t.book_id = $1 AND t.period = 'month' AND t.day >= $10::date AND t.day < $11::date
    UNION ALL SELECT t.day,"""
    + KIND
    + """FROM order_tallies t
    WHERE t.book_id = $1 AND t.period = 'day' AND t.day >= $8::date AND t.day < $10::date
    UNION ALL SELECT t.day,"""
    + KIND
    + """FROM order_tallies t
    WHERE t.book_id = $1 AND t.period = 'day' AND t.day >= $11::date AND t.day < $9::date
    UNION ALL SELECT t.day,"""
    + KIND
    + """FROM order_tally_changes t
    WHERE t.book_id = $1 AND t.day >= $8::date AND t.day < $9::date
    UNION ALL SELECT (r.occurred_at AT TIME ZONE 'UTC')::date AS day,"""
    + KIND_OF_ONE
    + ENDS
)
"""A time by whole months, days, changes and the orders at its ends, each with its (first) day."""

MONTHS: LiteralString = (
    "SELECT t.day,"
    + _DETAIL
    + """FROM order_tallies_in_detail t
    WHERE t.book_id = $1 AND t.day >= $8::date AND t.day < $9::date
    UNION ALL SELECT t.day,"""
    + _DETAIL
    + """FROM order_tally_changes t
    WHERE t.book_id = $1 AND t.day >= $8::date AND t.day < $9::date
    UNION ALL SELECT (r.occurred_at AT TIME ZONE 'UTC')::date AS day,"""
    + _DETAIL_OF_ONE
    + ENDS
)
"""The same in detail, where only months are whole."""


# The business's day is the day in UTC that is nearest to it, and the orders at its two ends more or
# less: in most zones those of a few hours.
_UTC: LiteralString = """
    utc AS (
        SELECT d.begins, d.ends, m.midnight, m.midnight + interval '24 hours' AS midnight_after,
            (m.midnight AT TIME ZONE 'UTC')::date AS day
        FROM day d, LATERAL (
            SELECT date_bin('24 hours', d.begins + interval '12 hours', '2001-01-01Z') AS midnight
        ) m
    ), """
_TALLIES_OF_TODAY: LiteralString = (
    "SELECT 1 AS sign,"
    + KIND
    + """FROM order_tallies t
            WHERE t.book_id = $1 AND t.period = 'day' AND t.day = (SELECT day FROM utc)
            UNION ALL SELECT 1,"""
    + KIND
    + """FROM order_tally_changes t
            WHERE t.book_id = $1 AND t.day = (SELECT day FROM utc)
            UNION ALL
            SELECT (SELECT CASE WHEN begins < midnight THEN 1 ELSE -1 END FROM utc),"""
    + KIND_OF_ONE
    + """FROM orders r WHERE r.book_id = $1 AND r.deleted_at IS NULL
                AND r.occurred_at >= (SELECT least(begins, midnight) FROM utc)
                AND r.occurred_at < (SELECT greatest(begins, midnight) FROM utc)
            UNION ALL
            SELECT (SELECT CASE WHEN ends > midnight_after THEN 1 ELSE -1 END FROM utc),"""
    + KIND_OF_ONE
    + """FROM orders r WHERE r.book_id = $1 AND r.deleted_at IS NULL
                AND r.occurred_at >= (SELECT least(ends, midnight_after) FROM utc)
                AND r.occurred_at < (SELECT greatest(ends, midnight_after) FROM utc)"""
)
_TODAY_OF_KINDS: LiteralString = _UTC + _TODAY + _TALLIES_OF_TODAY + _END
# Over all time there are thousands of kinds, where the totals don't tell what fits: they are read
# once, for the book and for what fits.
_KINDS: LiteralString = """
    kinds AS MATERIALIZED (
        SELECT o.status, (true"""
_SUMMED: LiteralString = ") AS is_fitting," + OF_STATUS + " FROM ("
_WHOLE_OF_KINDS: LiteralString = ") o GROUP BY 1, 2), " + WHOLE + "SELECT * FROM kinds) w), "


def in_days(query: OrderQuery) -> tuple[object, ...]:
    """The values of DAYS, from $4 on."""
    time = span(query.since, query.until)
    months = time.months
    first, after = months.first, months.after
    if first == after:
        # No whole month: all days are before the first.
        first = after = time.after
    ends = (time.since, time.begins, time.ends, time.until)
    return (*ends, time.first, time.after, first, after)


def in_months(query: OrderQuery) -> tuple[object, ...]:
    """The values of MONTHS, from $4 on."""
    time = span(query.since, query.until).months
    return (time.since, time.begins, time.ends, time.until, time.first, time.after)


async def find_figures(db: Db, book_id: BookId, query: OrderQuery, now: datetime) -> Record | None:
    """Figures over all time."""
    where = and_kinds(Where(book_id, query.store_id, now), query)
    fits = where.sql()
    return await db.fetchrow(
        "WITH"
        + ZONE
        + _KINDS
        + fits
        + _SUMMED
        + (_EVER if query.reaches(Reach.KIND) else _TOTALS)
        + _WHOLE_OF_KINDS
        + _TODAY_OF_KINDS
        + fits
        + FITTING
        + "kinds o WHERE o.is_fitting)"
        + ANSWER
        + FIGURES,
        *where.args,
    )


async def find_figures_in_detail(
    db: Db, book_id: BookId, query: OrderQuery, now: datetime
) -> Record | None:
    """Figures over all time, of people, terms or tags."""
    where = and_details(and_kinds(Where(book_id, query.store_id, now), query), query)
    fits = where.sql()
    return await db.fetchrow(
        "WITH" + BESIDE + fits + _FITTING + _EVER_IN_DETAIL + _END + fits + _ANSWER, *where.args
    )


async def find_figures_between(
    db: Db, book_id: BookId, query: OrderQuery, now: datetime
) -> Record | None:
    """Figures of a time."""
    where = and_kinds(Where(book_id, query.store_id, now, *in_days(query)), query)
    fits = where.sql()
    return await db.fetchrow(
        "WITH"
        + ZONE
        + WHOLE
        + _WHOLE_EVER
        + _TODAY_OF_KINDS
        + fits
        + _FITTING
        + DAYS
        + _END
        + fits
        + _ANSWER,
        *where.args,
    )


async def find_figures_in_detail_between(
    db: Db, book_id: BookId, query: OrderQuery, now: datetime
) -> Record | None:
    """Figures of a time, of people, terms or tags."""
    where = and_kinds(Where(book_id, query.store_id, now, *in_months(query)), query)
    fits = and_details(where, query).sql()
    return await db.fetchrow(
        "WITH" + BESIDE + fits + _FITTING + MONTHS + _END + fits + _ANSWER, *where.args
    )


async def find_figures_of_found(
    db: Db, book_id: BookId, query: OrderQuery, now: datetime
) -> Record | None:
    """Figures of the orders that a search finds."""
    fixed = Where(book_id, query.store_id, now, query.words, query.code)
    where = and_picks(fixed, query)
    fits = where.sql()
    # Only the orders of today are asked whether the search finds them: the others are looked up.
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
        + _FITTING
        + SINGLE
        + found(dated)
        + ") s"
        + _END
        + fits
        + _ANSWER,
        *where.args,
    )


async def find_figures_of_few(
    db: Db, book_id: BookId, query: OrderQuery, now: datetime
) -> Record | None:
    """Figures by an index of its own: a customer's orders, a session's, those of tags."""
    fixed = Where(book_id, query.store_id, now, query.words)
    where = and_search(and_picks(fixed, query), query)
    undated = where.sql()
    dated = and_dates(where, query).sql()
    return await db.fetchrow(
        "WITH"
        + BUYERS
        + ","
        + BESIDE
        + undated
        + _FITTING
        + SINGLE
        + ROWS
        + ") s"
        + _END
        + dated
        + _ANSWER,
        *where.args,
    )
