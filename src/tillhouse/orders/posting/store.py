"""Statements that read orders with their sums in the ledger, a batch of ids at a time.

Each reads an order and its transfers in one snapshot, so that a book in use is seen as it was
between two changes.
"""

from decimal import Decimal
from typing import LiteralString, cast
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.stored_ids import StoredIds
from tillhouse.kit.ids import CustomerId
from tillhouse.ledger.rules import Account, AccountKind
from tillhouse.orders.payments.store import TENDERED
from tillhouse.orders.posting.faults import OrderFacts
from tillhouse.orders.posting.rules import LedgerPosition, Method, Status

_ORDERS: LiteralString = (
    """
    WITH batch AS MATERIALIZED (
        SELECT o.id, o.short_code, o.total_amount, o.amount_paid, o.payment_method,
            o.customer_id, o.postings, o.change_amount, o.refunded_amount, o.credit_amount,
            o.tip_amount, o.returning_amount,"""
    + TENDERED
    + """,
            CASE WHEN o.deleted_at IS NULL THEN o.status ELSE 'deleted' END AS status
        FROM orders o WHERE o.book_id = $1 AND o.id > $2 ORDER BY o.id LIMIT $3
    )
    SELECT b.*, t.paid, t.used, t.accounts, x.received, d.debts, m.tenders, m.tips, EXISTS (
            -- The transfer behind it gives it back. The sum: whether the order was a sale by then.
            SELECT FROM ledger_transfers p JOIN ledger_transfers g
                ON g.book_id = p.book_id AND g.source_id = p.source_id
                AND g.source_type = p.source_type AND g.kind = 'credit_given'
                AND g.sequence = p.sequence + 1 AND g.credit_owner = p.debit_owner
            WHERE p.book_id = $1 AND p.source_id = b.id AND p.source_type = 'order'
                AND p.kind = 'payment' AND p.debit_kind = 'customer_credit'
                AND (g.created_at = p.created_at OR 0 < (
                    SELECT sum(CASE s.kind WHEN 'sale' THEN s.amount ELSE -s.amount END)
                    FROM ledger_transfers s
                    WHERE s.book_id = $1 AND s.source_id = b.id AND s.source_type = 'order'
                        AND s.kind IN ('sale', 'sale_reversed') AND s.sequence < p.sequence))
        ) AS is_overspent, (
            SELECT coalesce(sum(r.amount), 0) FROM refunds r
            WHERE r.book_id = $1 AND r.order_id = b.id AND r.status = 'pending') AS pending
    FROM batch b
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(s.paid), 0) AS paid, coalesce(max(s.used), 0) AS used,
            coalesce(json_agg(json_build_array(s.kind, s.owner_id, s.held::text))
                FILTER (WHERE s.held <> 0), '[]') AS accounts
        FROM (
            SELECT side.kind, side.owner_id, sum(side.amount) AS held,
                max(p.sequence) + 1 AS used,
                sum(CASE WHEN p.kind = 'payment' AND side.amount > 0 THEN p.amount
                    WHEN p.kind IN ('payment_correction', 'refund') AND side.amount > 0
                        THEN -p.amount ELSE 0 END) AS paid
            FROM ledger_transfers p
            CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner, p.amount),
                (p.credit_kind, p.credit_owner, -p.amount)) AS side (kind, owner_id, amount)
            WHERE p.book_id = $1 AND p.source_id = b.id
                AND p.source_type = 'order'
            GROUP BY side.kind, side.owner_id
        ) AS s
    ) AS t
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(r.amount), 0) AS received FROM transactions r
        WHERE r.book_id = $1 AND r.source_id = b.id AND r.source_type = 'order'
            AND r.status = 'successful'
            AND r.type IN ('sale', 'debt_payment', 'adjustment', 'refund')
    ) AS x
    CROSS JOIN LATERAL (
        SELECT coalesce(json_agg(json_build_array(a.customer_id, a.balance::text)), '[]')
            AS debts
        FROM debts a
        WHERE a.book_id = $1 AND a.source_id = b.id AND a.source_type = 'order'
            AND a.status = 'active'
    ) AS d
    CROSS JOIN LATERAL (
        SELECT coalesce(json_object_agg(s.method, s.amount::text), '{}') AS tenders,
            coalesce(json_object_agg(s.method, s.tip::text), '{}') AS tips
        FROM (
            SELECT w.method, sum(w.amount) AS amount, sum(w.tip) AS tip
            FROM (
                SELECT p.method, p.amount, p.tip_amount AS tip FROM payments p
                WHERE p.book_id = $1 AND p.order_id = b.id AND p.status = 'successful'
                UNION ALL
                SELECT r.method, r.shortfall - r.amount, 0 FROM refunds r
                WHERE r.book_id = $1 AND r.order_id = b.id AND r.status = 'successful'
            ) AS w GROUP BY w.method
        ) AS s
    ) AS m
    ORDER BY b.id
"""
)


async def list_orders(db: Db, book_id: UUID, after: UUID, limit: int) -> list[OrderFacts]:
    """Orders by id, deleted ones too, with the sums of their transfers, transactions and debts."""
    rows = await db.fetch(
        _ORDERS,
        book_id,
        after,
        limit,
    )
    return [_order(row) for row in rows]


def _order(row: Record) -> OrderFacts:
    held = msgspec.json.decode(row["accounts"], type=list[tuple[AccountKind, UUID, Decimal]])
    debts = msgspec.json.decode(row["debts"], type=list[tuple[CustomerId, Decimal]])
    position = LedgerPosition(
        total=row["total_amount"],
        paid=row["amount_paid"],
        method=cast(Method, row["payment_method"]),
        customer_id=row["customer_id"],
        status=cast(Status, row["status"]),
        change=row["change_amount"],
        refunded=row["refunded_amount"],
        credit=row["credit_amount"],
        tip=row["tip_amount"],
    )
    return OrderFacts(
        id=row["id"],
        short_code=row["short_code"],
        position=position,
        postings=row["postings"],
        used=row["used"],
        paid=row["paid"],
        received=row["received"],
        tenders=msgspec.json.decode(row["tenders"], type=dict[Method, Decimal]),
        tips=msgspec.json.decode(row["tips"], type=dict[Method, Decimal]),
        tendered=msgspec.json.decode(row["tendered"], type=dict[Method, Decimal]),
        accounts={Account(kind, owner): amount for kind, owner, amount in held},
        debts=dict(debts),
        active_debts=len(debts),
        returning=row["returning_amount"],
        pending=row["pending"],
        is_overspent=row["is_overspent"],
    )


find_there = StoredIds("orders")
