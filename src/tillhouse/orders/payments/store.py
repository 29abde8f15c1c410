"""Statements on payments; the one that writes them is a part of those that write orders."""

from typing import LiteralString

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, OrderId

PAY: LiteralString = """
    paid AS (
        INSERT INTO payments (book_id, id, order_id, kind, method, amount, tip_amount,
            change_amount, reference, transaction_id, link_id, receipt_id, recorded_by_id,
            recorded_by_name, happened_at, created_at)
        SELECT $1, p.id, p.order_id, p.kind, p.method, p.amount, p.tip_amount, p.change_amount,
            p.reference, p.transaction_id, p.link_id, p.receipt_id, p.recorded_by_id,
            p.recorded_by_name, p.happened_at, p.created_at
        FROM paying p
    )"""
"""Payments of the CTE `paying`, whose rows have the columns of PAYING."""

PAYING: LiteralString = """ AS p (id uuid, order_id uuid, kind text, method text,
            amount numeric, tip_amount numeric, change_amount numeric, reference text,
            transaction_id uuid, link_id uuid, receipt_id uuid, recorded_by_id uuid,
            recorded_by_name text, happened_at timestamptz, created_at timestamptz)"""
"""The columns of payments that come as JSON."""

TENDERED: LiteralString = """
        jsonb_strip_nulls(jsonb_build_object('cash', o.paid_by_cash, 'transfer',
            o.paid_by_transfer, 'pos', o.paid_by_pos, 'cloove_pay', o.paid_by_cloove_pay,
            'credit', o.paid_by_credit, 'other', o.paid_by_other)) AS tendered"""
"""A column of rows `o` of orders: what they hold by each method."""

PAYMENTS: LiteralString = """
        (SELECT json_agg(p) FROM (
            SELECT p.id, p.kind, p.amount, p.method, p.status, p.reference,
                p.tip_amount AS tip, p.change_amount AS "changeAmount",
                p.transaction_id AS "transactionId", iso(p.happened_at) AS at,
                json_build_object('id', p.recorded_by_id, 'name', p.recorded_by_name) AS by
            FROM payments p WHERE p.book_id = o.book_id AND p.order_id = o.id
            ORDER BY p.id) p) AS payments"""
"""A column of rows `o` of orders: their payments as they are shown."""

REFUNDS: LiteralString = """
        (SELECT json_agg(f) FROM (
            SELECT f.id, f.amount, f.method, f.status, f.reason, f.restocked,
                coalesce(f.lines, '[]') AS lines, f.payment_id AS "paymentId",
                f.provider, f.provider_refund_id AS "providerRefundId",
                f.withdrawal_id AS "withdrawalId", f.failure_reason AS "failureReason",
                f.transaction_id AS "transactionId", iso(f.happened_at) AS at,
                json_build_object('id', f.recorded_by_id, 'name', f.recorded_by_name) AS by
            FROM refunds f WHERE f.book_id = o.book_id AND f.order_id = o.id
            ORDER BY f.id) f) AS refunds"""
"""The same for their refunds."""


async def count_payments(db: Db, book_id: BookId, order_id: OrderId) -> int:
    """How many payments and corrections an order has that is locked.

    The statement that waited for the lock would count those from before its wait.
    """
    return await db.fetchval(
        "SELECT count(*) FROM payments WHERE book_id = $1 AND order_id = $2", book_id, order_id
    )
