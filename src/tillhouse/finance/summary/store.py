"""The statement of a summary: everything from sums that are kept, whatever the number of rows."""

from datetime import date, datetime
from typing import LiteralString

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, StoreId


class Time(msgspec.Struct, frozen=True):
    """When each interval begins, when the last ends, and the hours and days of UTC around that."""

    begins: list[datetime]
    ends: datetime
    is_over: bool
    # The hours in UTC that begin before an interval does, and end after that.
    split_hours: list[datetime]
    # The first day in UTC that begins no earlier than the end.
    whole_days_from: date


# $1 is the book, $2 one store or null, $3 when each interval begins, $4 when the last has ended, $5
# whether that is over, $6 the hours that are split between intervals.
_SALES: LiteralString = """
    sales AS (
        SELECT width_bucket(s.began_at, $3::timestamptz[]) AS number,
            sum(s.total_amount) AS total
        FROM (
            SELECT h.hour_at AS began_at, h.store_id, h.total_amount FROM sales_by_hour h
            WHERE h.book_id = $1 AND h.hour_at >= ($3::timestamptz[])[1] AND h.hour_at < $4
                AND h.hour_at <> ALL($6::timestamptz[])
            UNION ALL
            SELECT q.quarter_at, q.store_id, q.total_amount
            FROM unnest($6::timestamptz[]) split (hour_at)
            JOIN sales_by_quarter_hour q ON q.book_id = $1 AND q.quarter_at >= split.hour_at
                AND q.quarter_at < split.hour_at + interval '1 hour'
            WHERE q.quarter_at >= ($3::timestamptz[])[1] AND q.quarter_at < $4
            UNION ALL
            SELECT c.quarter_at, c.store_id, c.total_amount FROM order_tally_changes c
            WHERE c.book_id = $1 AND c.quarter_at >= ($3::timestamptz[])[1]
                AND c.quarter_at < $4 AND c.status <> 'cancelled'
        ) s
        WHERE $2::uuid IS NULL OR s.store_id = $2
        GROUP BY 1
    )"""
_PENDING: LiteralString = """
    pending AS (
        SELECT coalesce(sum(p.orders), 0)::bigint AS orders,
            coalesce(sum(p.remaining_amount), 0) AS remaining_amount
        FROM (
            SELECT t.status, t.store_id, t.orders, t.remaining_amount FROM order_tallies t
            WHERE t.book_id = $1 AND t.period = 'ever'
            UNION ALL
            SELECT c.status, c.store_id, c.orders, c.remaining_amount
            FROM order_tally_changes c WHERE c.book_id = $1
        ) p
        WHERE p.status IN ('pending', 'scheduled') AND ($2::uuid IS NULL OR p.store_id = $2)
    )"""
_WAITING: LiteralString = """
    waiting AS (
        SELECT coalesce(sum(w.transactions), 0)::bigint AS transactions
        FROM (
            SELECT t.status, t.store_id, t.transactions FROM transaction_tallies t
            WHERE t.book_id = $1 AND t.day IS NULL
            UNION ALL
            SELECT c.status, c.store_id, c.transactions FROM transaction_tally_changes c
            WHERE c.book_id = $1
        ) w
        WHERE w.status IN ('pending', 'processing') AND ($2::uuid IS NULL OR w.store_id = $2)
    )"""
# Of a time that is over: what the wallet got and gave since. Whole days in UTC are summed up as far
# as they are; transfers are read up to the first of these ($7), and after the last.
_SINCE: LiteralString = """
    summed AS (
        SELECT greatest($7, max(w.day) + 1) AS day FROM wallet_days w WHERE w.book_id = $1
    ), span (first, last) AS (
        SELECT least_id($4), least_id($7::date::timestamp AT TIME ZONE 'UTC')
        UNION ALL
        SELECT least_id(s.day::timestamp AT TIME ZONE 'UTC'), 'ffffffff-ffff-ffff-ffff-ffffffffffff'
        FROM summed s
    ), since AS (
        SELECT coalesce(sum(c.more), 0) AS more FROM (
            SELECT w.change AS more FROM wallet_days w
            WHERE $5::boolean AND w.book_id = $1 AND w.day >= $7
            UNION ALL
            SELECT t.amount FROM span p JOIN ledger_transfers t ON t.book_id = $1
                AND t.credit_kind = 'wallet'
                AND t.credit_owner = '00000000-0000-0000-0000-000000000000'
                AND t.id >= p.first AND t.id < p.last
            WHERE $5::boolean
            UNION ALL
            SELECT -t.amount FROM span p JOIN ledger_transfers t ON t.book_id = $1
                AND t.debit_kind = 'wallet'
                AND t.debit_owner = '00000000-0000-0000-0000-000000000000'
                AND t.id >= p.first AND t.id < p.last
            WHERE $5::boolean
        ) c
    )"""
_SUMMARY: LiteralString = """
    SELECT u.currency,
        (SELECT coalesce(json_agg(json_build_array(number, total::text)), '[]') FROM sales)
            AS sales,
        p.orders AS pending_orders_count, p.remaining_amount AS pending_orders_total,
        w.transactions AS pending_transactions_count,
        coalesce((SELECT sum(t.amount) FROM transactions t
            WHERE t.book_id = $1 AND t.type = 'expense' AND t.status = 'successful'
                AND t.happened_at >= ($3::timestamptz[])[1] AND t.happened_at < $4
                AND ($2::uuid IS NULL OR t.store_id = $2)), 0) AS expenses_total,
        coalesce((SELECT sum(d.balance) FROM debt_tallies d
            WHERE d.book_id = $1 AND d.status = 'active'), 0) AS pending_debt_total,
        coalesce((SELECT sum(c.credit) FROM customer_credit_tallies c
            WHERE c.book_id = $1), 0) AS credits_total,
        coalesce((SELECT b.credits - b.debits - CASE WHEN $5 THEN 0 ELSE b.held END
            FROM ledger_balances b
            WHERE b.book_id = $1 AND b.kind = 'wallet'
                AND b.owner_id = '00000000-0000-0000-0000-000000000000'), 0) - s.more
            AS wallet_balance
    FROM pending p, waiting w, since s, books k JOIN businesses u ON u.id = k.business_id
    WHERE k.id = $1"""


async def find_figures(db: Db, book_id: BookId, store_id: StoreId | None, time: Time) -> Record:
    """The figures of a time; `sales` has (number, from 1, sum) of each interval with sales."""
    row = await db.fetchrow(
        "WITH" + _SALES + "," + _PENDING + "," + _WAITING + "," + _SINCE + _SUMMARY,
        book_id,
        store_id,
        time.begins,
        time.ends,
        time.is_over,
        time.split_hours,
        time.whole_days_from,
    )
    assert row is not None, "every call has a book"  # noqa: S101
    return row
