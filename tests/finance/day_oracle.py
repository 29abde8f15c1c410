"""The money of a time, added up from the rows of orders, transfers and transactions."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import asyncpg

from tests.finance.books import Books
from tests.orders.shop import exact

FIGURES = (
    "salesTotal", "refundsTotal", "netSalesTotal", "taxTotal", "serviceChargesTotal",
    "discountsTotal", "tipsTotal", "cashExpected", "feesTotal", "disputesTotal", "expensesTotal",
)  # fmt: skip


async def added_up(
    sql: asyncpg.Connection, book: UUID, time: tuple[datetime, datetime], store: str | None = None
) -> dict[str, Decimal]:
    """The figures of a time (its end is no part of it), or of one store in it."""
    row = await sql.fetchrow(_ADDED_UP, book, *time, UUID(store) if store else None)
    assert row is not None
    return dict(row)


def local_days(first: date, last: date, zone: str) -> tuple[datetime, datetime]:
    """When whole days begin in a time zone, and when the last has ended."""
    here = ZoneInfo(zone)
    begins, ends = first, last + timedelta(days=1)
    return (
        datetime(begins.year, begins.month, begins.day, tzinfo=here).astimezone(UTC),
        datetime(ends.year, ends.month, ends.day, tzinfo=here).astimezone(UTC),
    )


async def told(
    books: Books, first: date, last: date, store: str | None = None
) -> dict[str, Decimal]:
    """The same figures as the summary tells them, whose intervals add up to its sales."""
    query = {"from": first.isoformat(), "to": last.isoformat()}
    if first == last:
        query = {"date": first.isoformat()}
    answer = exact(await books.look("/v1/finance/summary", {**query, **_store(store)}))
    hours = sum((one["value"] for one in answer["velocityData"]), Decimal(0))
    assert hours == answer["salesTotal"]
    by_method = {one["method"]: one["amount"] for one in answer["receivedByMethod"]}
    return {**{name: answer[name] for name in FIGURES}, **by_method}


def _store(store: str | None) -> dict[str, str]:
    return {"store_id": store} if store else {}


# Orders by the day of their sale; money by the day that its transfer says; nothing from a sum that
# is kept.
_ADDED_UP = """
    WITH sold AS (
        SELECT * FROM orders WHERE book_id = $1 AND deleted_at IS NULL
            AND status IN ('pending', 'completed', 'refunded')
            AND occurred_at >= $2 AND occurred_at < $3 AND ($4::uuid IS NULL OR store_id = $4)
    ), side AS (
        SELECT s.kind, s.amount, s.other IN ('expenses', 'fees', 'disputes',
            'withdrawals_in_transit') AS is_cost
        FROM ledger_transfers t
        JOIN books b ON b.id = t.book_id JOIN businesses u ON u.id = b.business_id
        CROSS JOIN LATERAL (VALUES (t.debit_kind, t.credit_kind, t.amount),
            (t.credit_kind, t.debit_kind, -t.amount)) AS s (kind, other, amount)
        LEFT JOIN orders o ON o.book_id = $1 AND o.id = t.source_id
        LEFT JOIN expenses e ON e.book_id = $1 AND e.id = t.source_id
        WHERE t.book_id = $1 AND t.happened_at >= $2 AND t.happened_at < $3
            AND t.currency = u.currency
            AND ($4::uuid IS NULL OR coalesce(o.store_id, e.store_id) = $4)
    ), seen AS (
        SELECT * FROM transactions WHERE book_id = $1 AND status = 'successful'
            AND happened_at >= $2 AND happened_at < $3
    )
    SELECT coalesce((SELECT sum(total_amount) FROM sold), 0) AS "salesTotal",
        coalesce((SELECT sum(amount) FROM side WHERE kind = 'refunds'), 0) AS "refundsTotal",
        coalesce((SELECT sum(total_amount) FROM sold), 0)
            - coalesce((SELECT sum(amount) FROM side WHERE kind = 'refunds'), 0)
            AS "netSalesTotal",
        coalesce((SELECT sum(tax_amount) FROM sold), 0) AS "taxTotal",
        coalesce((SELECT sum(service_charge_amount) FROM sold), 0) AS "serviceChargesTotal",
        coalesce((SELECT sum(discount_amount) FROM sold), 0) AS "discountsTotal",
        -coalesce((SELECT sum(amount) FROM side WHERE kind = 'tips'), 0) AS "tipsTotal",
        coalesce((SELECT sum(amount) FROM side WHERE kind = 'cash'), 0) AS "cashExpected",
        coalesce((SELECT sum(amount) FROM side WHERE kind = 'cash' AND NOT is_cost), 0) AS cash,
        coalesce((SELECT sum(amount) FROM side WHERE kind = 'bank' AND NOT is_cost), 0)
            AS transfer,
        coalesce((SELECT sum(amount) FROM side WHERE kind = 'pos' AND NOT is_cost), 0) AS pos,
        coalesce((SELECT sum(amount) FROM side
            WHERE kind = 'provider_clearing' AND NOT is_cost), 0) AS cloove_pay,
        coalesce((SELECT sum(amount) FROM side WHERE kind = 'other_tender' AND NOT is_cost), 0)
            AS other,
        coalesce((SELECT sum(amount) FROM side WHERE kind = 'fees'), 0) AS "feesTotal",
        coalesce((SELECT sum(amount) FROM side WHERE kind = 'disputes'), 0) AS "disputesTotal",
        coalesce((SELECT sum(amount) FROM seen WHERE type = 'expense'
            AND ($4::uuid IS NULL OR store_id = $4)), 0) AS "expensesTotal"
"""
