"""The tallies of orders and of sales, and those that no order is of any more."""

from typing import LiteralString

from tillhouse.db.folding import Folding, Tally, same
from tillhouse.db.pool import Db
from tillhouse.kit.columns import each
from tillhouse.orders.columns import DETAILS, KINDS, OF_TOTALS, SUMS

_MONTH: LiteralString = "date_trunc('month', g.day)::date"
_SALES: tuple[LiteralString, ...] = (
    "total_amount", "tax_amount", "discount_amount", "service_charge_amount",
)  # fmt: skip
# Changes from before there were quarters are part of them already.
_IS_SALE: LiteralString = (
    "g.quarter_at IS NOT NULL AND g.status IN ('pending', 'completed', 'refunded')"
)

ORDER_TALLIES = Folding(
    "order_tally_changes",
    Tally(
        "order_tallies",
        key="order_tallies_by_kind_key",
        kinds=(("period", "p.period"), ("day", "p.day"), *same(KINDS)),
        sums=SUMS,
        also=", LATERAL (VALUES ('day', g.day), ('month', "
        + _MONTH
        + "), ('ever', NULL)) AS p (period, day)",
    ),
    Tally("order_totals", key="order_totals_key", kinds=same(OF_TOTALS), sums=SUMS),
    Tally(
        "order_tallies_in_detail",
        key="order_tallies_in_detail_kind_key",
        kinds=(("day", "p.day"), *same((*KINDS, *DETAILS))),
        sums=SUMS,
        also=", LATERAL (VALUES (" + _MONTH + "), (NULL::date)) AS p (day)",
    ),
    Tally(
        "sales_by_quarter_hour",
        key="sales_by_quarter_hour_key",
        kinds=same(("quarter_at", "store_id")),
        sums=_SALES,
        only=_IS_SALE,
    ),
    Tally(
        "sales_by_hour",
        key="sales_by_hour_key",
        kinds=(
            ("hour_at", "date_bin('1 hour', g.quarter_at, '2001-01-01Z')"),
            ("store_id", "g.store_id"),
        ),
        sums=_SALES,
        only=_IS_SALE,
    ),
)

_IS_EMPTY: LiteralString = "(" + each("{0}", SUMS) + ") = (" + each("0", SUMS) + ")"


async def delete_empty_tallies(db: Db, limit: int) -> int:
    """Forget some kinds, of any book_id, that no order is of any more; how many."""
    return await db.fetchval(
        """
        WITH folding AS (
            SELECT pg_try_advisory_xact_lock(hashtextextended('order_tally_changes', 0)) AS is_mine
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
