"""The statement of a summary: everything from sums that are kept, whatever the number of rows."""

from typing import LiteralString

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.finance.summary.rules import Intervals
from tillhouse.kit.ids import BookId, StoreId

# $1 is the book, $2 one store or null, $3 when each interval begins, $4 when the last has ended, $5
# whether that is over, $7 the hours that are split between intervals: most zones have none, and
# then nothing is read for them.
_SALES: LiteralString = """
    sales AS (
        SELECT width_bucket(s.began_at, $3::timestamptz[]) AS number,
            sum(s.total_amount) AS total, sum(s.tax_amount) AS tax,
            sum(s.discount_amount) AS discount, sum(s.service_charge_amount) AS service
        FROM (
            SELECT h.hour_at AS began_at, h.store_id, h.total_amount, h.tax_amount,
                h.discount_amount, h.service_charge_amount
            FROM sales_by_hour h
            WHERE h.book_id = $1 AND h.hour_at >= ($3::timestamptz[])[1] AND h.hour_at < $4"""
_SALES_SPLIT: LiteralString = """
                AND h.hour_at <> ALL($7::timestamptz[])
            UNION ALL
            SELECT q.quarter_at, q.store_id, q.total_amount, q.tax_amount, q.discount_amount,
                q.service_charge_amount
            FROM unnest($7::timestamptz[]) split (hour_at)
            JOIN sales_by_quarter_hour q ON q.book_id = $1 AND q.quarter_at >= split.hour_at
                AND q.quarter_at < split.hour_at + interval '1 hour'
            WHERE q.quarter_at >= ($3::timestamptz[])[1] AND q.quarter_at < $4"""
_SALES_LATELY: LiteralString = """
            UNION ALL
            SELECT c.quarter_at, c.store_id, c.total_amount, c.tax_amount, c.discount_amount,
                c.service_charge_amount
            FROM order_tally_changes c
            WHERE c.book_id = $1 AND c.quarter_at >= ($3::timestamptz[])[1]
                AND c.quarter_at < $4 AND c.status IN ('pending', 'completed', 'refunded')
        ) s
        WHERE $2::uuid IS NULL OR s.store_id = $2
        GROUP BY 1
    )"""
# The same times, of the transfers on these accounts.
_MONEY: LiteralString = """
    money AS (
        SELECT coalesce(sum(m.amount) FILTER (WHERE m.account_kind = 'cash'), 0) AS cash_expected,
            coalesce(sum(m.amount) FILTER (WHERE m.account_kind = 'refunds'), 0) AS refunds_total,
            -coalesce(sum(m.amount) FILTER (WHERE m.account_kind = 'tips'), 0) AS tips_total,
            coalesce(sum(m.amount) FILTER (WHERE m.account_kind = 'cash' AND NOT m.is_cost), 0)
                AS cash,
            coalesce(sum(m.amount) FILTER (WHERE m.account_kind = 'bank' AND NOT m.is_cost), 0)
                AS transfer,
            coalesce(sum(m.amount) FILTER (WHERE m.account_kind = 'pos' AND NOT m.is_cost), 0)
                AS pos,
            coalesce(sum(m.amount)
                FILTER (WHERE m.account_kind = 'provider_clearing' AND NOT m.is_cost), 0)
                AS cloove_pay,
            coalesce(sum(m.amount)
                FILTER (WHERE m.account_kind = 'other_tender' AND NOT m.is_cost), 0) AS other
        FROM (
            SELECT h.account_kind, h.is_cost, h.store_id, h.amount FROM ledger_tallies h
            WHERE h.book_id = $1 AND h.account_kind IN ('cash', 'bank', 'pos',
                    'provider_clearing', 'other_tender', 'refunds', 'tips')
                AND h.is_cost IN (true, false) AND h.period = 'hour'
                AND h.began_at >= ($3::timestamptz[])[1] AND h.began_at < $4"""
_MONEY_SPLIT: LiteralString = """
                AND h.began_at <> ALL($7::timestamptz[])
            UNION ALL
            SELECT q.account_kind, q.is_cost, q.store_id, q.amount
            FROM unnest($7::timestamptz[]) split (hour_at)
            JOIN ledger_tallies q ON q.book_id = $1
                AND q.account_kind IN ('cash', 'bank', 'pos', 'provider_clearing', 'other_tender',
                    'refunds', 'tips')
                AND q.is_cost IN (true, false) AND q.period = 'quarter'
                AND q.began_at >= split.hour_at
                AND q.began_at < split.hour_at + interval '1 hour'
            WHERE q.began_at >= ($3::timestamptz[])[1] AND q.began_at < $4"""
_MONEY_LATELY: LiteralString = """
            UNION ALL
            SELECT c.account_kind, c.is_cost, c.store_id, c.amount FROM ledger_tally_changes c
            WHERE c.book_id = $1 AND c.quarter_at >= ($3::timestamptz[])[1] AND c.quarter_at < $4
        ) m
        WHERE $2::uuid IS NULL OR m.store_id = $2
    )"""
# Fees and disputes are the whole business's, whichever store sold.
_CHARGED: LiteralString = """
    charged AS (
        SELECT coalesce(sum(t.amount) FILTER (WHERE t.type = 'fee'), 0) AS fees_total,
            -coalesce(sum(t.amount) FILTER (WHERE t.type = 'reversal'), 0) AS disputes_total
        FROM transactions t
        WHERE t.book_id = $1 AND t.status = 'successful'
            AND (t.type = 'fee' OR t.type = 'reversal' AND t.source_type = 'dispute')
            AND t.happened_at >= ($3::timestamptz[])[1] AND t.happened_at < $4
    )"""
_PENDING: LiteralString = """
    pending AS (
        SELECT coalesce(sum(p.orders), 0)::bigint AS orders,
            coalesce(sum(p.remaining_amount), 0) AS remaining_amount
        FROM (
            SELECT t.status, t.store_id, t.orders, t.remaining_amount FROM order_totals t
            WHERE t.book_id = $1
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
# as they are; transfers are read up to the first of these ($6), and after the last.
_SINCE: LiteralString = """
    summed AS (
        SELECT greatest($6, max(w.day) + 1) AS day FROM wallet_days w WHERE w.book_id = $1
    ), span (first, last) AS (
        SELECT least_id($4), least_id($6::date::timestamp AT TIME ZONE 'UTC')
        UNION ALL
        SELECT least_id(s.day::timestamp AT TIME ZONE 'UTC'), 'ffffffff-ffff-ffff-ffff-ffffffffffff'
        FROM summed s
    ), since AS (
        SELECT coalesce(sum(c.more), 0) AS more FROM (
            SELECT w.change AS more FROM wallet_days w
            WHERE $5::boolean AND w.book_id = $1 AND w.day >= $6
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
        (SELECT coalesce(sum(tax), 0) FROM sales) AS tax_total,
        (SELECT coalesce(sum(discount), 0) FROM sales) AS discounts_total,
        (SELECT coalesce(sum(service), 0) FROM sales) AS service_charges_total,
        m.cash, m.transfer, m.pos, m.cloove_pay, m.other, m.cash_expected, m.refunds_total,
        m.tips_total, f.fees_total, f.disputes_total,
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
    FROM pending p, waiting w, since s, money m, charged f,
        books k JOIN businesses u ON u.id = k.business_id
    WHERE k.id = $1"""


async def find_figures(
    db: Db, book_id: BookId, store_id: StoreId | None, time: Intervals, *, is_over: bool
) -> Record:
    """The figures of a time; `sales` has (number, from 1, sum) of each interval with sales."""
    is_split = bool(time.split_hours)
    sales = _SALES + (_SALES_SPLIT if is_split else "") + _SALES_LATELY
    money = _MONEY + (_MONEY_SPLIT if is_split else "") + _MONEY_LATELY
    [row] = await db.fetch(
        "WITH" + ",".join((sales, money, _CHARGED, _PENDING, _WAITING, _SINCE)) + _SUMMARY,
        book_id,
        store_id,
        time.begins,
        time.ends,
        is_over,
        time.whole_days_from,
        *([time.split_hours] if is_split else []),
    )
    return row
