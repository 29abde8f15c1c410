"""Money by its method, once by the transactions and once by the accounts of the ledger."""

from decimal import Decimal
from uuid import UUID

import asyncpg


async def by_method(
    sql: asyncpg.Connection, book: UUID
) -> tuple[dict[str, Decimal], dict[str, Decimal]]:
    """The sums of a book by method: of its transactions, less change and costs, and of accounts."""
    row = await sql.fetchrow(_BY_METHOD, book)
    assert row is not None
    told, held = (
        {name.partition("_")[2]: row[name] for name in row.keys() if name.startswith(side)}  # noqa: SIM118
        for side in ("told", "held")
    )
    return told, held


# Credit that was spent came in before, under another name. Fees and disputes have figures of their
# own, and so has what leaves for a bank.
_BY_METHOD = """
    WITH told AS (
        SELECT t.method, CASE t.type WHEN 'expense' THEN -t.amount ELSE t.amount END
            - coalesce(p.change_amount, 0) AS amount
        FROM transactions t
        JOIN books b ON b.id = t.book_id JOIN businesses u ON u.id = b.business_id
        LEFT JOIN payments p ON p.book_id = $1 AND p.order_id = t.source_id
            AND p.transaction_id = t.id AND t.source_type = 'order' AND t.type <> 'tip'
        WHERE t.book_id = $1 AND t.status = 'successful' AND t.currency = u.currency
            AND t.type NOT IN ('fee', 'wallet_withdrawal') AND t.source_type <> 'dispute'
    ), side AS (
        SELECT s.kind, s.amount
        FROM ledger_transfers t
        JOIN books b ON b.id = t.book_id JOIN businesses u ON u.id = b.business_id
        CROSS JOIN LATERAL (VALUES (t.debit_kind, t.credit_kind, t.amount),
            (t.credit_kind, t.debit_kind, -t.amount)) AS s (kind, other, amount)
        WHERE t.book_id = $1 AND t.currency = u.currency AND t.source_type <> 'dispute'
            AND s.other NOT IN ('fees', 'withdrawals_in_transit')
    ), spent AS (
        SELECT coalesce(sum(credit_amount), 0) AS amount FROM orders WHERE book_id = $1
    )
    SELECT coalesce(sum(amount) FILTER (WHERE method = 'cash'), 0) AS told_cash,
        coalesce(sum(amount) FILTER (WHERE method = 'transfer'), 0) AS told_transfer,
        coalesce(sum(amount) FILTER (WHERE method IN ('pos', 'card')), 0) AS told_pos,
        coalesce(sum(amount) FILTER (WHERE method = 'cloove_pay'), 0) AS told_cloove_pay,
        coalesce(sum(amount) FILTER (WHERE method IN ('other', 'credit')), 0)
            - (SELECT amount FROM spent) AS told_other,
        (SELECT coalesce(sum(amount), 0) FROM side WHERE kind = 'cash') AS held_cash,
        (SELECT coalesce(sum(amount), 0) FROM side WHERE kind = 'bank') AS held_transfer,
        (SELECT coalesce(sum(amount), 0) FROM side WHERE kind = 'pos') AS held_pos,
        (SELECT coalesce(sum(amount), 0) FROM side WHERE kind = 'provider_clearing')
            AS held_cloove_pay,
        (SELECT coalesce(sum(amount), 0) FROM side WHERE kind = 'other_tender') AS held_other
    FROM told
"""
