"""Statements on payments; the one that writes them is a part of those that write orders."""

from typing import LiteralString

from tillhouse.db.pool import Db
from tillhouse.kit.columns import each, names, record
from tillhouse.kit.ids import BookId, OrderId
from tillhouse.orders import columns

PAY: LiteralString = (
    """
    paid AS (
        INSERT INTO payments (book_id, """
    + names(columns.PAYMENTS)
    + """)
        SELECT $1, """
    + names(columns.PAYMENTS, "p.{0}")
    + """
        FROM paying p
    )"""
)
"""Payments of the CTE `paying`, whose rows have the columns of PAYING."""

PAYING: LiteralString = " AS p (" + record(columns.PAYMENTS) + ")"
"""The columns of payments that come as JSON."""

TENDERED: LiteralString = (
    " jsonb_strip_nulls(jsonb_build_object("
    + each("'{0}', o.paid_by_{0}", columns.METHODS)
    + ")) AS tendered"
)
"""A column of rows `o` of orders: the sums that they hold by each method."""

PAYMENTS: LiteralString = """
        (SELECT json_agg(p) FROM (
            SELECT p.id, p.kind, p.amount, p.method, p.status, p.reference,
                p.tip_amount AS tip, p.change_amount AS "changeAmount",
                p.transaction_id AS "transactionId",
                CASE WHEN i.id IS NOT NULL THEN json_build_object('provider', i.provider,
                    'currency', i.currency, 'gross', i.amount, 'fee', i.fee,
                    'net', i.amount - i.fee, 'feeReturned', i.returned_fee)
                END AS "providerMoney", iso(p.happened_at) AS at,
                json_build_object('id', p.recorded_by_id, 'name', p.recorded_by_name) AS by
            FROM payments p
            LEFT JOIN payins i ON i.book_id = o.book_id AND i.id = p.receipt_id
            WHERE p.book_id = o.book_id AND p.order_id = o.id
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

DISPUTES: LiteralString = """
        (SELECT json_agg(d) FROM (
            SELECT d.id, d.status, d.amount, d.taken_amount AS "takenAmount",
                d.fee, iso(d.evidence_due_at) AS "evidenceDueBy", iso(d.opened_at) AS "openedAt"
            FROM disputes d WHERE d.book_id = o.book_id AND d.order_id = o.id
            ORDER BY d.id) d) AS disputes"""
"""The same for the disputes of their payments."""


async def count_payments(db: Db, book_id: BookId, order_id: OrderId) -> int:
    """How many payments and corrections an order has that is locked.

    The statement that waited for the lock would count those from before its wait.
    """
    return await db.fetchval(
        "SELECT count(*) FROM payments WHERE book_id = $1 AND order_id = $2", book_id, order_id
    )
