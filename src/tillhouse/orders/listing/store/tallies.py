"""Folding: changes of the tallies, gathered as orders changed, become part of the sums.

A statement that holds the advisory lock is alone with the sums.
"""

from typing import LiteralString

from tillhouse.db.pool import Db

_SOLD: LiteralString = """
        sold AS (
            INSERT INTO sales_by_quarter_hour AS t (book_id, quarter_at, store_id, total_amount)
            SELECT book_id, quarter_at, store_id, sum(total_amount) FROM gone
            -- Changes from before there were quarters are part of them already.
            WHERE quarter_at IS NOT NULL AND status <> 'cancelled'
            GROUP BY book_id, quarter_at, store_id
            ON CONFLICT ON CONSTRAINT sales_by_quarter_hour_key
                DO UPDATE SET total_amount = t.total_amount + excluded.total_amount
        ), sold_by_hour AS (
            INSERT INTO sales_by_hour AS t (book_id, hour_at, store_id, total_amount)
            SELECT book_id, date_bin('1 hour', quarter_at, '2001-01-01Z'), store_id,
                sum(total_amount)
            FROM gone WHERE quarter_at IS NOT NULL AND status <> 'cancelled'
            GROUP BY 1, 2, 3
            ON CONFLICT ON CONSTRAINT sales_by_hour_key
                DO UPDATE SET total_amount = t.total_amount + excluded.total_amount
        )"""
_PAID: LiteralString = """
                paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit,
                paid_by_other"""
_SUMMED: LiteralString = """
                sum(orders), sum(total_amount), sum(remaining_amount),
                coalesce(sum(paid_by_cash), 0), coalesce(sum(paid_by_transfer), 0),
                coalesce(sum(paid_by_pos), 0), coalesce(sum(paid_by_cloove_pay), 0),
                coalesce(sum(paid_by_credit), 0), coalesce(sum(paid_by_other), 0)"""
_ADDED: LiteralString = """
                orders = t.orders + excluded.orders,
                total_amount = t.total_amount + excluded.total_amount,
                remaining_amount = t.remaining_amount + excluded.remaining_amount,
                paid_by_cash = t.paid_by_cash + excluded.paid_by_cash,
                paid_by_transfer = t.paid_by_transfer + excluded.paid_by_transfer,
                paid_by_pos = t.paid_by_pos + excluded.paid_by_pos,
                paid_by_cloove_pay = t.paid_by_cloove_pay + excluded.paid_by_cloove_pay,
                paid_by_credit = t.paid_by_credit + excluded.paid_by_credit,
                paid_by_other = t.paid_by_other + excluded.paid_by_other
        ), """
_KEPT: LiteralString = (
    """
        kept AS (
            INSERT INTO order_tallies AS t (book_id, period, day, status, payment_status, channel,
                payment_methods, service_mode, store_id, is_automated, is_fulfilled, orders,
                total_amount, remaining_amount,"""
    + _PAID
    + """)
            SELECT book_id, p.period, p.day, status, payment_status, channel, payment_methods,
                service_mode, store_id, is_automated, is_fulfilled,"""
    + _SUMMED
    + """
            FROM gone, LATERAL (VALUES ('day', gone.day), ('month', gone.month), ('ever', NULL))
                AS p (period, day)
            GROUP BY book_id, p.period, p.day, status, payment_status, channel, payment_methods,
                service_mode, store_id, is_automated, is_fulfilled
            ON CONFLICT ON CONSTRAINT order_tallies_kind_key DO UPDATE SET"""
    + _ADDED
)
_KEPT_IN_DETAIL: LiteralString = (
    """
        kept_in_detail AS (
            INSERT INTO order_tallies_in_detail AS t (book_id, day, status, payment_status,
                channel, payment_methods, service_mode, store_id, is_automated, is_fulfilled,
                recorded_by_id, served_by_id, academic_term_id, tag_ids, orders, total_amount,
                remaining_amount,"""
    + _PAID
    + """)
            SELECT book_id, p.day, status, payment_status, channel, payment_methods,
                service_mode, store_id, is_automated, is_fulfilled, recorded_by_id, served_by_id,
                academic_term_id, tag_ids,"""
    + _SUMMED
    + """
            FROM gone, LATERAL (VALUES (gone.month), (NULL::date)) AS p (day)
            GROUP BY book_id, p.day, status, payment_status, channel, payment_methods,
                service_mode, store_id, is_automated, is_fulfilled, recorded_by_id, served_by_id,
                academic_term_id, tag_ids
            ON CONFLICT ON CONSTRAINT order_tallies_in_detail_kind_key DO UPDATE SET"""
    + _ADDED
)
_IS_EMPTY: LiteralString = (
    "(orders, total_amount, remaining_amount," + _PAID + ") = (0, 0, 0, 0, 0, 0, 0, 0, 0)"
)


async def update_tallies(db: Db, limit: int) -> int:
    """Fold some changes into the tallies of their kinds; how many."""
    row = await db.write_once(
        """
        WITH folding AS (
            SELECT pg_try_advisory_xact_lock(hashtextextended('order tallies', 0)) AS is_mine
        ), gone AS (
            -- By their places in the table: as a join it may be planned to look again for each row.
            DELETE FROM order_tally_changes
            WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM order_tally_changes
                WHERE (SELECT is_mine FROM folding) LIMIT $1))
            RETURNING *, date_trunc('month', day)::date AS month
        ), """
        + _KEPT
        + _KEPT_IN_DETAIL
        + _SOLD
        + " SELECT count(*) FROM gone",
        limit,
    )
    return row[0] if row else 0


async def delete_empty_tallies(db: Db, limit: int) -> int:
    """Forget some kinds, of any book_id, that no order is of any more; how many."""
    return await db.fetchval(
        """
        WITH folding AS (
            SELECT pg_try_advisory_xact_lock(hashtextextended('order tallies', 0)) AS is_mine
        ), gone AS (
            -- Asked twice: a sum that was folded into since this statement began is looked at anew.
            DELETE FROM order_tallies WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM order_tallies
                WHERE """
        + _IS_EMPTY
        + """ AND (SELECT is_mine FROM folding) LIMIT $1))
                AND """
        + _IS_EMPTY
        + """
            RETURNING 1
        ), gone_in_detail AS (
            DELETE FROM order_tallies_in_detail WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM order_tallies_in_detail
                WHERE """
        + _IS_EMPTY
        + """ AND (SELECT is_mine FROM folding) LIMIT $1))
                AND """
        + _IS_EMPTY
        + """
            RETURNING 1
        )
        SELECT greatest((SELECT count(*) FROM gone), (SELECT count(*) FROM gone_in_detail))
        """,
        limit,
    )
