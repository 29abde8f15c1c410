"""Statements that change an order: locked, looked at, written back as a whole."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import (
    BookId,
    BookKey,
    CustomerId,
    OrderId,
    ProductId,
    StoreId,
    TermId,
    VariantId,
)
from tillhouse.kit.json import encode
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.payments.rules import PaymentRow
from tillhouse.orders.payments.store import PAY, PAYING, TENDERED
from tillhouse.orders.posting.rules import Method
from tillhouse.orders.refunds.rules import RefundRow
from tillhouse.orders.refunds.store import GIVE_BACK, REFUNDING

_LOCK: LiteralString = (
    """
    SELECT o.id, o.short_code, o.status, o.currency, o.total_amount, o.adjustment_amount,
        o.amount_paid, o.change_amount, o.refunded_amount, o.returning_amount,
        o.credit_amount, o.tip_amount,
        o.payment_method,"""
    + TENDERED
    + """, o.customer_id, o.store_id, o.is_automated,
        o.channel_fulfilled_at, o.scheduled_at, o.scheduled_confirmed_at, o.academic_term_id,
        o.cancellation, o.fires_at, o.wants_kitchen, o.stock_state, o.stock_round, o.postings,
        o.promotion_id, o.promotion_customer_id, o.occurred_at, k.id AS ticket_id,
        o.entry_source = 'import' AS is_import, t.restocks_cancelled, t.stock_policy,
        coalesce(s.preparation_minutes, 20) AS preparation_minutes
    FROM orders o
    JOIN books b ON b.id = o.book_id
    JOIN businesses t ON t.id = b.business_id
    LEFT JOIN stores s ON s.book_id = o.book_id AND s.id = o.store_id
    LEFT JOIN kitchen_tickets k
        ON k.book_id = o.book_id AND k.order_id = o.id AND k.station = 'kitchen'
    WHERE o.book_id = $1 AND o.id = $2 AND o.deleted_at IS NULL
    FOR NO KEY UPDATE OF o
"""
)
_UPDATE: LiteralString = (
    """
    WITH paying AS (
        SELECT * FROM json_to_recordset($5)"""
    + PAYING
    + "), refunding AS (SELECT * FROM json_to_recordset($6)"
    + REFUNDING
    + "),"
    + PAY
    + ","
    + GIVE_BACK
    + """
    UPDATE orders o SET status = r.status, total_amount = r.total_amount,
        adjustment_amount = r.adjustment_amount, amount_paid = r.amount_paid,
        change_amount = r.change_amount, refunded_amount = r.refunded_amount,
        credit_amount = r.credit_amount, tip_amount = r.tip_amount,
        payment_method = r.payment_method, paid_by_cash = (r.tendered ->> 'cash')::numeric,
        paid_by_transfer = (r.tendered ->> 'transfer')::numeric,
        paid_by_pos = (r.tendered ->> 'pos')::numeric,
        paid_by_cloove_pay = (r.tendered ->> 'cloove_pay')::numeric,
        paid_by_credit = (r.tendered ->> 'credit')::numeric,
        paid_by_other = (r.tendered ->> 'other')::numeric, customer_id = r.customer_id,
        channel_fulfilled_at = r.channel_fulfilled_at, scheduled_at = r.scheduled_at,
        scheduled_confirmed_at = r.scheduled_confirmed_at,
        academic_term_id = r.academic_term_id, cancellation = r.cancellation,
        fires_at = r.fires_at, stock_state = r.stock_state, stock_round = r.stock_round,
        postings = r.postings, deleted_at = r.deleted_at, updated_at = $3
    FROM json_to_record($4) AS r (status text, total_amount numeric, adjustment_amount numeric,
        amount_paid numeric, change_amount numeric, refunded_amount numeric,
        credit_amount numeric, tip_amount numeric, payment_method text, tendered jsonb,
        customer_id uuid, channel_fulfilled_at timestamptz, scheduled_at timestamptz,
        scheduled_confirmed_at timestamptz, academic_term_id uuid, cancellation jsonb,
        fires_at timestamptz, stock_state text, stock_round integer, postings integer,
        deleted_at timestamptz)
    WHERE o.book_id = $1 AND o.id = $2
"""
)


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """The stock that a line of an order holds."""

    order_item_id: UUID
    variant_id: VariantId
    store_id: StoreId | None
    # Less the part that came back with a refund.
    quantity: Decimal
    product_id: ProductId
    product_name: str
    stock_policy: str | None
    low_stock_threshold: Decimal | None


async def lock_order(db: Db, book_id: BookId, order_id: OrderId) -> OrderState | None:
    """An order as it stands, until this transaction ends; None if there is none."""
    row = await db.fetchrow(_LOCK, book_id, order_id)
    if row is None:
        return None
    known: dict[str, Any] = dict(row)
    if known["cancellation"] is not None:
        known["cancellation"] = msgspec.json.decode(known["cancellation"])
    known["tendered"] = msgspec.json.decode(known["tendered"], type=dict[Method, Decimal])
    return OrderState(**known)


async def update_order(
    db: Db,
    key: BookKey,
    now: datetime,
    columns: dict[str, Any],
    moved: tuple[PaymentRow | None, RefundRow | None] = (None, None),
) -> None:
    """Write an order's columns that can change, and the payment or the refund that it got."""
    payment, refund = ([row] if row else [] for row in moved)
    written = msgspec.json.encode(columns).decode(), encode(payment).decode()
    await db.execute(_UPDATE, *key, now, *written, encode(refund).decode())


async def list_holdings(db: Db, book_id: BookId, order_id: OrderId) -> Sequence[Holding]:
    """The stock that each line held last: to be given back, or taken again."""
    rows = await db.fetch(
        """
        SELECT h.order_item_id, h.variant_id, h.store_id, h.product_id, h.product_name,
            h.stock_policy, h.low_stock_threshold, h.taken - coalesce(b.quantity, 0) AS quantity
        FROM (
            SELECT DISTINCT ON (m.order_item_id, m.variant_id) m.order_item_id, m.variant_id,
                m.store_id, greatest(-m.on_hand_change, m.reserved_change) AS taken, m.round,
                v.product_id, p.name AS product_name, v.stock_policy, v.low_stock_threshold
            FROM order_items i
            JOIN stock_moves m ON m.book_id = $1 AND m.order_item_id = i.id
                AND m.kind IN ('sale', 'reservation')
            JOIN variants v ON v.book_id = $1 AND v.id = m.variant_id
            JOIN products p ON p.book_id = $1 AND p.id = v.product_id
            WHERE i.book_id = $1 AND i.order_id = $2
            ORDER BY m.order_item_id, m.variant_id, m.round DESC, m.id DESC
        ) h
        LEFT JOIN LATERAL (
            SELECT sum(r.on_hand_change) AS quantity FROM stock_moves r
            WHERE r.book_id = $1 AND r.order_item_id = h.order_item_id
                AND r.variant_id = h.variant_id AND r.round = h.round AND r.kind = 'return'
        ) b ON true
        """,
        book_id,
        order_id,
    )
    return [Holding(**row) for row in rows]


async def is_customer(db: Db, book_id: BookId, customer_id: CustomerId) -> bool:
    """Whether the book has such a customer."""
    return await db.fetchval(
        """
        SELECT EXISTS (SELECT FROM customers
            WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL)
        """,
        book_id,
        customer_id,
    )


async def is_term(db: Db, book_id: BookId, term_id: TermId) -> bool:
    """Whether the book has such an academic term."""
    return await db.fetchval(
        """
        SELECT EXISTS (SELECT FROM academic_terms
            WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL)
        """,
        book_id,
        term_id,
    )
