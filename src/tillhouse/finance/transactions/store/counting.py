"""Statements on how many transactions fit, and on which days: by the tallies, whatever the number.

Of dates the whole days in UTC are tallied; the rest at the two ends is counted itself.
"""

from datetime import datetime, timedelta
from typing import LiteralString

import msgspec

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.finance.transactions.store.query import (
    TransactionQuery,
    and_dates,
    and_kinds,
    fixed,
    picked,
)
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Page
from tillhouse.kit.spans import midnight, span

_DAY = timedelta(days=1)

_KIND: LiteralString = " t.type, t.status, t.method, t.store_id, t.transactions "
_EVER: LiteralString = (
    "SELECT"
    + _KIND
    + "FROM transaction_tallies t WHERE t.book_id = $1 AND t.day IS NULL UNION ALL SELECT"
    + _KIND
    + "FROM transaction_tally_changes t WHERE t.book_id = $1"
)
# $2 is since, $3 when the first whole day begins, $4 when the last has ended, $5 until; $6 is the
# first whole day and $7 the one after the last.
_DAYS: LiteralString = (
    "SELECT t.day,"
    + _KIND
    + "FROM transaction_tallies t WHERE t.book_id = $1 AND t.day >= $6::date AND t.day < $7::date"
    + " UNION ALL SELECT t.day,"
    + _KIND
    + """FROM transaction_tally_changes t
    WHERE t.book_id = $1 AND t.day >= $6::date AND t.day < $7::date
    UNION ALL SELECT (r.happened_at AT TIME ZONE 'UTC')::date AS day, r.type, r.status, r.method,
        r.store_id, 1 AS transactions
    FROM transactions r
    WHERE r.book_id = $1 AND r.is_told
        AND (r.happened_at >= $2::timestamptz AND r.happened_at < least($3::timestamptz, $5)
            OR r.happened_at >= $4::timestamptz AND r.happened_at < $5::timestamptz)"""
)


class Days(msgspec.Struct, frozen=True):
    """Times, none with its end, that hold a page and `skipped` transactions that fit before it."""

    begins: list[datetime]
    ends: list[datetime]
    skipped: int


async def count_kinds(db: Db, book_id: BookId, query: TransactionQuery) -> int:
    """How many there are of these kinds, over all time."""
    where = and_kinds(Where(book_id), query)
    return await db.fetchval(
        "SELECT coalesce(sum(o.transactions), 0)::bigint FROM ("
        + _EVER
        + ") o WHERE true"
        + where.sql(),
        *where.args,
    )


async def count_kinds_between(db: Db, book_id: BookId, query: TransactionQuery) -> int:
    """How many there are of these kinds, within some time."""
    where = and_kinds(_spanned(book_id, query), query)
    return await db.fetchval(
        "SELECT coalesce(sum(o.transactions), 0)::bigint FROM ("
        + _DAYS
        + ") o WHERE true"
        + where.sql(),
        *where.args,
    )


async def count_found(db: Db, book_id: BookId, query: TransactionQuery) -> int:
    """How many of those of a customer, or that a search finds, fit."""
    where = and_dates(and_kinds(fixed(book_id, query), query), query)
    return await db.fetchval(
        picked(query) + " SELECT count(*) FROM picked o WHERE o.is_told" + where.sql(),
        *where.args,
    )


async def list_days(db: Db, book_id: BookId, query: TransactionQuery, page: Page) -> Days:
    """The days that a page lies on, counted from the newest."""
    where = and_kinds(_spanned(book_id, query), query)
    fits = where.sql()
    offset, limit = where.slot(page.offset), where.slot(page.per_page)
    rows = await db.fetch(
        """
        SELECT c.day, c.before::bigint
        FROM (
            SELECT d.day, d.transactions,
                sum(d.transactions) OVER (ORDER BY d.day DESC) - d.transactions AS before
            FROM (
                SELECT o.day, sum(o.transactions) AS transactions FROM ("""
        + _DAYS
        + ") o WHERE true"
        + fits
        + """
                GROUP BY 1 HAVING sum(o.transactions) > 0
            ) d
        ) c
        WHERE c.before < """
        + offset
        + "::bigint + "
        + limit
        + "::bigint AND c.before + c.transactions > "
        + offset
        + " ORDER BY c.day DESC",
        *where.args,
    )
    before = rows[0]["before"] if rows else page.offset
    begins = [midnight(row["day"]) for row in rows]
    return Days(begins, [midnight(row["day"] + _DAY) for row in rows], page.offset - before)


def _spanned(book_id: BookId, query: TransactionQuery) -> Where:
    time = span(query.since, query.until)
    return Where(book_id, time.since, time.begins, time.ends, time.until, time.first, time.after)
