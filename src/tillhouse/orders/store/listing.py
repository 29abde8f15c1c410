"""Statements on many orders: a page of them, and the figures beside it.

Figures of low-cardinality filters come from the tallies, whatever the number of orders; those of
filters that pick few orders (a customer, a tag, a search) are summed from the orders themselves.
"""

from datetime import UTC, date, datetime, timedelta
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.page import Page
from tillhouse.orders.store.show import ORDER, orders_of
from tillhouse.orders.types import Order

_DAY = timedelta(days=1)
_MILLISECOND = timedelta(milliseconds=1)


class OrderQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on orders; an absent one (None) lets all pass."""

    status: list[str] | None = None
    payment_status: list[str] | None = None
    channel: list[str] | None = None
    service_mode: list[str] | None = None
    payment_method: str | None = None
    store_id: UUID | None = None
    store_ids: list[UUID] | None = None
    is_automated: bool | None = None
    is_fulfilled: bool | None = None
    customer_id: UUID | None = None
    recorded_by_id: UUID | None = None
    staff_id: UUID | None = None
    served_by_id: UUID | None = None
    session_id: UUID | None = None
    term_id: UUID | None = None
    tag_ids: list[UUID] | None = None
    # What a search found.
    ids: list[UUID] | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_tallied(self) -> bool:
        """Whether the tallies know what fits: all but the dates is in their kinds."""
        picky = (
            self.customer_id, self.recorded_by_id, self.staff_id, self.served_by_id,
            self.session_id, self.term_id, self.tag_ids, self.ids,
        )  # fmt: skip
        return picky == (None,) * len(picky)

    @property
    def is_dated(self) -> bool:
        """Whether only some time counts."""
        return self.since is not None or self.until is not None


class Span(msgspec.Struct, frozen=True):
    """A time as whole UTC days, which are tallied, and what is left at its two ends."""

    since: datetime
    first_day: date
    last_day: date
    until: datetime

    @property
    def begins(self) -> datetime:
        """When the first whole day begins."""
        return datetime(self.first_day.year, self.first_day.month, self.first_day.day, tzinfo=UTC)

    @property
    def ends(self) -> datetime:
        """When the last whole day has ended; never before the first begins."""
        after = datetime(self.last_day.year, self.last_day.month, self.last_day.day, tzinfo=UTC)
        return max(after + _DAY, self.begins)


# PostgreSQL's own time begins and ends well outside of these.
_EVER = (datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC))


def span(since: datetime | None, until: datetime | None) -> Span:
    """A time, both ends included, in whole days and remnants."""
    start, end = since or _EVER[0], until or _EVER[1]
    first = start.date() if start == _midnight(start) else start.date() + _DAY
    following = end + _MILLISECOND
    last = following.date() - _DAY
    if first > last:
        # No whole day: everything is a remnant before the first day that doesn't count.
        first, last = following.date() + _DAY, following.date()
        return Span(start, first, last, end)
    return Span(start, first, last, end)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _kinds(where: Where, query: OrderQuery) -> Where:
    """Conditions that the tallies know as well."""
    return (
        where.and_("o.status = ANY($)", query.status)
        .and_("o.payment_status = ANY($)", query.payment_status)
        .and_("o.channel = ANY($)", query.channel)
        .and_("o.service_mode = ANY($)", query.service_mode)
        .and_("o.payment_method = $", query.payment_method)
        .and_("o.store_id = $ OR o.store_id IS NULL", query.store_id)
        .and_("o.store_id = ANY($)", query.store_ids)
        .and_("o.is_automated = $", query.is_automated)
        .and_("o.is_fulfilled = $", query.is_fulfilled)
    )


def _picks(where: Where, query: OrderQuery) -> Where:
    """Conditions that only the orders themselves know."""
    where = (
        where.and_("o.customer_id = $", query.customer_id)
        .and_("o.recorded_by_id = $", query.recorded_by_id)
        .and_("o.recorded_by_id = $ OR o.served_by_id = $", query.staff_id)
        .and_("o.served_by_id = $", query.served_by_id)
        .and_("o.table_session_id = $", query.session_id)
        .and_("o.academic_term_id = $", query.term_id)
        .and_("o.tag_ids <> '{}' AND o.tag_ids && $", query.tag_ids)
    )
    return where.and_("o.id = ANY($)", query.ids)


def _dates(where: Where, query: OrderQuery) -> Where:
    return where.and_("o.occurred_at >= $", query.since).and_("o.occurred_at <= $", query.until)


_ROWS: LiteralString = """
    (SELECT r.*, r.channel_fulfilled_at IS NOT NULL AS is_fulfilled FROM orders r
        WHERE r.book_id = $1 AND r.deleted_at IS NULL) o
"""


async def list_newest(db: Db, book_id: UUID, query: OrderQuery, page: Page) -> list[Order]:
    """One page, the newest first."""
    where = _dates(_picks(_kinds(Where(book_id), query), query), query)
    rows = await db.fetch(
        ORDER
        + "JOIN (SELECT o.id FROM "
        + _ROWS
        + "WHERE true"
        + where.sql()
        + " ORDER BY o.occurred_at DESC, o.id DESC LIMIT "
        + where.slot(page.per_page)
        + " OFFSET "
        + where.slot(page.offset)
        + ") page ON page.id = o.id WHERE o.book_id = $1 ORDER BY o.occurred_at DESC, o.id DESC",
        *where.args,
    )
    return orders_of(rows)


async def list_oldest(
    db: Db, book_id: UUID, query: OrderQuery, limit: int, offset: int
) -> list[Order]:
    """A page counted from the end, for pages that lie nearer to it; still the newest first."""
    where = _dates(_picks(_kinds(Where(book_id), query), query), query)
    rows = await db.fetch(
        ORDER
        + "JOIN (SELECT o.id FROM "
        + _ROWS
        + "WHERE true"
        + where.sql()
        + " ORDER BY o.occurred_at, o.id LIMIT "
        + where.slot(limit)
        + " OFFSET "
        + where.slot(offset)
        + ") page ON page.id = o.id WHERE o.book_id = $1 ORDER BY o.occurred_at DESC, o.id DESC",
        *where.args,
    )
    return orders_of(rows)


async def list_scheduled(db: Db, book_id: UUID, query: OrderQuery, page: Page) -> list[Order]:
    """One page of scheduled orders, the next to be fulfilled first."""
    where = _dates(_picks(_kinds(Where(book_id), query), query), query)
    rows = await db.fetch(
        ORDER
        + "JOIN (SELECT o.id FROM "
        + _ROWS
        + "WHERE o.status = 'scheduled'"
        + where.sql()
        + " ORDER BY o.scheduled_at, o.id LIMIT "
        + where.slot(page.per_page)
        + " OFFSET "
        + where.slot(page.offset)
        + ") page ON page.id = o.id WHERE o.book_id = $1 ORDER BY o.scheduled_at, o.id",
        *where.args,
    )
    return orders_of(rows)


# $2 is now, $3 the store whose day it is, if only one's. Every source gives rows `o` with their
# number of orders, so that tallies and single orders are summed alike.
_WHOLE: LiteralString = """
    WITH whole AS (
        SELECT coalesce(sum(w.orders), 0)::bigint AS total_orders,
            coalesce(sum(w.orders) FILTER (WHERE w.status = 'pending'), 0)::bigint
                AS pending_orders_count
        FROM (
            SELECT t.status, t.orders FROM order_tallies t
            WHERE t.book_id = $1 AND t.day IS NULL
            UNION ALL
            SELECT c.status, c.orders FROM order_tally_changes c WHERE c.book_id = $1
        ) w
    ), zone AS (
        SELECT b.currency, coalesce(s.time_zone, b.time_zone) AS name,
            make_interval(mins => coalesce(s.day_cutoff_minutes, 0)) AS cutoff
        FROM books k JOIN businesses b ON b.id = k.business_id
        LEFT JOIN stores s ON s.book_id = $1 AND s.id = $3
        WHERE k.id = $1
    ), day AS (
        SELECT (d.local + z.cutoff) AT TIME ZONE z.name AS begins,
            (d.local + z.cutoff + interval '1 day') AT TIME ZONE z.name AS ends
        FROM zone z,
            LATERAL (SELECT date_trunc('day', ($2::timestamptz AT TIME ZONE z.name) - z.cutoff)
                AS local) d
    ), today AS (
        SELECT count(*) FILTER (WHERE o.status NOT IN ('cancelled', 'refunded')) AS today_orders,
            coalesce(sum(o.total_amount) FILTER (WHERE o.status IN ('pending', 'completed')), 0)
                AS today_revenue
        FROM (SELECT r.*, r.channel_fulfilled_at IS NOT NULL AS is_fulfilled
            FROM orders r
            WHERE r.book_id = $1 AND r.deleted_at IS NULL
                AND r.occurred_at >= (SELECT begins FROM day)
                AND r.occurred_at < (SELECT ends FROM day)
            -- First the day, then what fits: a day is little, whatever else is asked.
            OFFSET 0) o
        WHERE true"""
_FITTING: LiteralString = """
    ), fitting AS (
        SELECT coalesce(sum(o.orders), 0)::bigint AS filtered_orders,
            coalesce(sum(o.total_amount) FILTER (WHERE o.status IN ('pending', 'completed')), 0)
                AS total_revenue,
            coalesce(sum(o.orders) FILTER (WHERE o.status IN ('pending', 'completed')), 0)::bigint
                AS revenue_orders,
            coalesce(sum(o.remaining_amount) FILTER (WHERE o.status = 'pending'), 0)
                AS pending_outstanding_amount,
            coalesce(sum(o.orders) FILTER (WHERE o.status = 'completed'), 0)::bigint
                AS completed_orders_count,
            coalesce(sum(o.total_amount) FILTER (WHERE o.status = 'completed'), 0)
                AS completed_revenue,
            coalesce(sum(o.orders) FILTER (WHERE o.status = 'cancelled'), 0)::bigint
                AS cancelled_orders_count,
            coalesce(sum(o.total_amount) FILTER (WHERE o.status = 'cancelled'), 0)
                AS cancelled_revenue
        FROM ("""
_END: LiteralString = """
    )
    SELECT *, (SELECT currency FROM zone) AS currency FROM whole, today, fitting
"""
_ALL_TIME: LiteralString = """
            SELECT t.status, t.payment_status, t.channel, t.payment_method, t.service_mode,
                t.store_id, t.is_automated, t.is_fulfilled, t.orders, t.total_amount,
                t.remaining_amount
            FROM order_tallies t WHERE t.book_id = $1 AND t.day IS NULL
            UNION ALL
            SELECT c.status, c.payment_status, c.channel, c.payment_method, c.service_mode,
                c.store_id, c.is_automated, c.is_fulfilled, c.orders, c.total_amount,
                c.remaining_amount
            FROM order_tally_changes c WHERE c.book_id = $1
        ) o WHERE true"""
_DAYS: LiteralString = """
            SELECT t.status, t.payment_status, t.channel, t.payment_method, t.service_mode,
                t.store_id, t.is_automated, t.is_fulfilled, t.orders, t.total_amount,
                t.remaining_amount
            FROM order_tallies t WHERE t.book_id = $1 AND t.day BETWEEN $4::date AND $5::date
            UNION ALL
            SELECT c.status, c.payment_status, c.channel, c.payment_method, c.service_mode,
                c.store_id, c.is_automated, c.is_fulfilled, c.orders, c.total_amount,
                c.remaining_amount
            FROM order_tally_changes c WHERE c.book_id = $1 AND c.day BETWEEN $4::date AND $5::date
            UNION ALL
            SELECT r.status, r.payment_status, r.channel, r.payment_method, r.service_mode,
                r.store_id, r.is_automated, r.channel_fulfilled_at IS NOT NULL, 1,
                r.total_amount, r.remaining_amount
            FROM orders r WHERE r.book_id = $1 AND r.deleted_at IS NULL
                AND r.occurred_at >= $6::timestamptz
                AND r.occurred_at < least($7::timestamptz, $9::timestamptz)
            UNION ALL
            SELECT r.status, r.payment_status, r.channel, r.payment_method, r.service_mode,
                r.store_id, r.is_automated, r.channel_fulfilled_at IS NOT NULL, 1,
                r.total_amount, r.remaining_amount
            FROM orders r WHERE r.book_id = $1 AND r.deleted_at IS NULL
                AND r.occurred_at >= $8::timestamptz AND r.occurred_at < $9::timestamptz
        ) o WHERE true"""
_SINGLE: LiteralString = """
            SELECT r.*, r.channel_fulfilled_at IS NOT NULL AS is_fulfilled, 1 AS orders
            FROM orders r WHERE r.book_id = $1 AND r.deleted_at IS NULL
        ) o WHERE true"""


async def list_found(db: Db, book_id: UUID, code: str, words: str | None) -> list[UUID]:
    """Orders whose short code begins so, or whose customer has these words in the name."""
    rows = await db.fetch(
        """
        SELECT s.id FROM orders s
        WHERE s.book_id = $1 AND s.short_code >= $2 AND s.short_code < $2 || '~'
            AND s.deleted_at IS NULL
        UNION
        SELECT s.id FROM customers c
        JOIN orders s ON s.book_id = $1 AND s.customer_id = c.id AND s.deleted_at IS NULL
        WHERE c.book_id = $1 AND c.deleted_at IS NULL
            AND customer_words(c.book_id, c.name) @@ customer_query($1, $3)
        """,
        book_id,
        code,
        words,
    )
    return [row["id"] for row in rows]


async def find_figures(db: Db, book_id: UUID, query: OrderQuery, now: datetime) -> Record | None:
    """Figures over all time, from the tallies."""
    where = _kinds(Where(book_id, now, query.store_id), query)
    kinds = where.sql()
    return await db.fetchrow(_WHOLE + kinds + _FITTING + _ALL_TIME + kinds + _END, *where.args)


async def find_figures_between(
    db: Db, book_id: UUID, query: OrderQuery, now: datetime
) -> Record | None:
    """Figures of a time, from the tallies of its whole days and the orders at its ends."""
    time = span(query.since, query.until)
    where = _kinds(
        Where(
            book_id, now, query.store_id, time.first_day, time.last_day, time.since, time.begins,
            time.ends, time.until + _MILLISECOND,
        ),
        query,
    )  # fmt: skip
    kinds = where.sql()
    return await db.fetchrow(_WHOLE + kinds + _FITTING + _DAYS + kinds + _END, *where.args)


async def find_figures_of_few(
    db: Db, book_id: UUID, query: OrderQuery, now: datetime
) -> Record | None:
    """Figures of orders that a filter picks out one by one."""
    where = _picks(_kinds(Where(book_id, now, query.store_id), query), query)
    undated = where.sql()
    dated = _dates(where, query).sql()
    return await db.fetchrow(_WHOLE + undated + _FITTING + _SINGLE + dated + _END, *where.args)


async def update_tallies(db: Db, limit: int) -> int:
    """Fold some changes into the tallies of their kinds; how many."""
    return await db.fetchval(
        """
        WITH folding AS (
            SELECT pg_try_advisory_xact_lock(hashtextextended('order tallies', 0)) AS is_mine
        ), gone AS (
            -- By their places in the table: as a join it may be planned to look again for each row.
            DELETE FROM order_tally_changes
            WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM order_tally_changes
                WHERE (SELECT is_mine FROM folding) LIMIT $1))
            RETURNING *
        ), summed AS (
            SELECT book_id, d.day, status, payment_status, channel, payment_method, service_mode,
                store_id, is_automated, is_fulfilled, sum(orders) AS orders,
                sum(total_amount) AS total_amount, sum(remaining_amount) AS remaining_amount
            FROM gone, LATERAL (VALUES (gone.day), (NULL::date)) AS d (day)
            GROUP BY book_id, d.day, status, payment_status, channel, payment_method,
                service_mode, store_id, is_automated, is_fulfilled
        ), kept AS (
            INSERT INTO order_tallies AS t (book_id, day, status, payment_status, channel,
                payment_method, service_mode, store_id, is_automated, is_fulfilled, orders,
                total_amount, remaining_amount)
            SELECT * FROM summed
            ON CONFLICT ON CONSTRAINT order_tallies_kind_key DO UPDATE SET
                orders = t.orders + excluded.orders,
                total_amount = t.total_amount + excluded.total_amount,
                remaining_amount = t.remaining_amount + excluded.remaining_amount
        )
        SELECT count(*) FROM gone
        """,
        limit,
    )
