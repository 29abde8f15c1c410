"""Statements on refunds."""

from decimal import Decimal
from typing import Any, LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.columns import names, record
from tillhouse.kit.ids import BookId, OrderId, StoreId, VariantId
from tillhouse.orders.columns import REFUNDS
from tillhouse.orders.posting.rules import Method
from tillhouse.orders.refunds.rules import RefundableLine, RefundFacts

GIVE_BACK: LiteralString = (
    """
    given_back AS (
        INSERT INTO refunds (book_id, created_at, """
    + names(REFUNDS)
    + """)
        SELECT $1, r.happened_at, """
    + names(REFUNDS, "r.{0}")
    + """
        FROM refunding r
        ON CONFLICT (book_id, order_id, id) DO UPDATE SET status = 'successful',
            transaction_id = excluded.transaction_id, restocked = excluded.restocked,
            happened_at = excluded.happened_at
    )"""
)
"""Refunds of the CTE `refunding`, whose rows have the columns of REFUNDING.

One that went through a provider was kept before it was booked.
"""

REFUNDING: LiteralString = " AS r (" + record(REFUNDS) + ")"
"""The columns of refunds that come as JSON."""


_FACTS: LiteralString = """
    WITH returned AS (
        SELECT (l ->> 'itemId')::uuid AS item_id, sum((l ->> 'quantity')::numeric) AS quantity,
            sum((l ->> 'amount')::numeric) AS amount
        FROM refunds r, jsonb_array_elements(r.lines) l
        WHERE r.book_id = $1 AND r.order_id = $2 AND r.lines IS NOT NULL
            AND (r.status IN ('successful', 'pending')
                -- The money came home again, the goods are back all the same.
                OR (r.status = 'reversed' AND r.restocked))
        GROUP BY 1
    ), moved AS (
        SELECT p.method, p.amount FROM payments p
        WHERE p.book_id = $1 AND p.order_id = $2 AND p.status = 'successful'
        UNION ALL
        SELECT r.method, r.shortfall - r.amount FROM refunds r
        WHERE r.book_id = $1 AND r.order_id = $2 AND r.status IN ('successful', 'pending')
    ), of_stay AS (
        -- The money of its stay that it and each other order need, but what others handed out.
        SELECT u.order_id, greatest(least(sum(u.amount), min(w.credit_amount - CASE
            WHEN w.deleted_at IS NOT NULL OR w.status = 'cancelled'
                THEN w.amount_paid - w.change_amount
            WHEN w.status = 'scheduled' THEN 0
            ELSE greatest(w.amount_paid - w.total_amount + w.refunded_amount, 0)
                - w.change_amount END)) - CASE WHEN u.order_id = $2 THEN 0 ELSE (
                    SELECT coalesce(sum(r.amount), 0) FROM refunds r
                    WHERE r.book_id = $1 AND r.order_id = u.order_id AND r.method <> 'credit'
                        AND r.status IN ('successful', 'pending')) END, 0) AS amount
        FROM orders o
        JOIN folio_uses u ON u.book_id = o.book_id
            AND u.reservation_id = o.hotel_reservation_id AND u.customer_id = o.customer_id
        JOIN orders w ON w.book_id = u.book_id AND w.id = u.order_id
        WHERE o.book_id = $1 AND o.id = $2 GROUP BY u.order_id
    ), gone AS (
        -- The part that disputes took of it and hold nothing for.
        SELECT coalesce(sum(d.taken_amount - coalesce(h.amount, 0)), 0) AS amount
        FROM orders o
        JOIN folio_payments f ON f.book_id = o.book_id
            AND f.reservation_id = o.hotel_reservation_id AND f.customer_id = o.customer_id
            AND f.kind = 'payment'
        JOIN disputes d ON d.book_id = f.book_id AND d.payin_id = f.receipt_id
        LEFT JOIN ledger_holds h ON h.book_id = d.book_id AND h.id = d.credit_hold_id
        WHERE o.book_id = $1 AND o.id = $2
    )
    SELECT (
            SELECT json_agg(json_build_object('item_id', i.id, 'line_type', i.line_type,
                'quantity', i.quantity::text,
                'net', (i.subtotal_amount - i.discount_amount)::text,
                'total', i.total_price::text, 'returned', coalesce(b.quantity, 0)::text,
                'given', coalesce(b.amount, 0)::text) ORDER BY i.position)
            FROM order_items i LEFT JOIN returned b ON b.item_id = i.id
            WHERE i.book_id = $1 AND i.order_id = $2
        ) AS lines,
        (
            SELECT coalesce(json_object_agg(m.method, m.amount::text), '{}') FROM (
                SELECT method, sum(amount) AS amount FROM moved GROUP BY method) m
        ) AS tenders,
        (SELECT count(*) FROM refunds r WHERE r.book_id = $1 AND r.order_id = $2) AS refunds,
        (
            SELECT coalesce(sum(jsonb_array_length(r.lines)), 0)::bigint FROM refunds r
            WHERE r.book_id = $1 AND r.order_id = $2
        ) AS refunded_lines,
        (SELECT coalesce(sum(d.taken_amount), 0) FROM disputes d
            WHERE d.book_id = $1 AND d.order_id = $2) AS disputed,
        (
            SELECT coalesce(greatest(least(min(s.amount) FILTER (WHERE s.order_id = $2),
                min(g.amount) - coalesce(sum(s.amount) FILTER (WHERE s.order_id <> $2), 0)), 0), 0)
            FROM of_stay s CROSS JOIN gone g
        ) AS disputed_of_stay
"""


async def list_payins(db: Db, book_id: BookId, order_id: OrderId) -> list[UUID]:
    """The payments of providers' that an order was paid by, and those of its stay."""
    rows = await db.fetch(
        """
        SELECT p.receipt_id FROM payments p
        WHERE p.book_id = $1 AND p.order_id = $2 AND p.receipt_id IS NOT NULL
        UNION
        SELECT f.receipt_id FROM orders o
        JOIN folio_payments f ON f.book_id = o.book_id
            AND f.reservation_id = o.hotel_reservation_id AND f.receipt_id IS NOT NULL
        WHERE o.book_id = $1 AND o.id = $2 AND f.kind = 'payment'
        """,
        book_id,
        order_id,
    )
    return [row["receipt_id"] for row in rows]


async def find_refund_facts(db: Db, book_id: BookId, order_id: OrderId) -> RefundFacts:
    """The lines of an order with the part given back of each, and its money by method."""
    [row] = await db.fetch(_FACTS, book_id, order_id)
    lines = msgspec.json.decode(row["lines"], type=list[RefundableLine])
    tenders = msgspec.json.decode(row["tenders"], type=dict[Method, Decimal])
    facts: dict[str, Any] = {**row, "lines": lines, "tenders": tenders}
    return RefundFacts(**facts)


class LineStock(msgspec.Struct, frozen=True, kw_only=True):
    """The stock that a line of an order took, for each one of the line."""

    order_item_id: UUID
    variant_id: VariantId
    store_id: StoreId | None
    each: Decimal


async def list_line_stock(db: Db, book_id: BookId, order_id: OrderId) -> list[LineStock]:
    """The stock that the lines of an order took when it was recorded."""
    rows = await db.fetch(
        """
        SELECT DISTINCT ON (m.order_item_id, m.variant_id) m.order_item_id, m.variant_id,
            m.store_id, greatest(-m.on_hand_change, m.reserved_change) / i.quantity AS each
        FROM order_items i
        JOIN stock_moves m ON m.book_id = $1 AND m.order_item_id = i.id
            AND m.kind IN ('sale', 'reservation')
        WHERE i.book_id = $1 AND i.order_id = $2
        ORDER BY m.order_item_id, m.variant_id, m.round, m.id
        """,
        book_id,
        order_id,
    )
    return [LineStock(**row) for row in rows]
