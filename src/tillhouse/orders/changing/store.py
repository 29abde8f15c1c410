"""Statements that change an order: locked, looked at, written back as a whole."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.columns import each, names, record
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
from tillhouse.orders.changing.tax_rules import TaxedLine
from tillhouse.orders.columns import CHANGING, LOCKED, METHODS
from tillhouse.orders.payments.rules import OrderPaymentRow
from tillhouse.orders.payments.store import PAY, PAYING, TENDERED
from tillhouse.orders.posting.rules import Method
from tillhouse.orders.refunds.rules import OrderRefundRow
from tillhouse.orders.refunds.store import GIVE_BACK, REFUNDING

_STATE: LiteralString = (
    """
    SELECT """
    + names(LOCKED, "o.{0}")
    + ","
    + TENDERED
    + """, k.id AS ticket_id, o.entry_source = 'import' AS is_import, t.restocks_cancelled,
        t.stock_policy, coalesce(s.preparation_minutes, 20) AS preparation_minutes,
        CASE WHEN o.occurred_at < b.closed_until
            THEN (b.closed_until AT TIME ZONE t.time_zone)::date - 1 END AS closed_on
    FROM orders o
    JOIN books b ON b.id = o.book_id
    JOIN businesses t ON t.id = b.business_id
    LEFT JOIN stores s ON s.book_id = o.book_id AND s.id = o.store_id
    LEFT JOIN kitchen_tickets k
        ON k.book_id = o.book_id AND k.order_id = o.id AND k.station = 'kitchen'
    WHERE o.book_id = $1 AND o.id = $2 AND o.deleted_at IS NULL
"""
)
_LOCK: LiteralString = _STATE + "    FOR NO KEY UPDATE OF o"
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
    UPDATE orders o SET """
    + names(CHANGING, "{0} = r.{0}")
    + ", "
    + each("paid_by_{0} = (r.tendered ->> '{0}')::numeric", METHODS)
    + ", updated_at = changed_at(o.updated_at, $3) FROM json_to_record($4) AS r ("
    + record(CHANGING)
    + """, tendered jsonb)
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
    return None if row is None else _state(row)


async def find_order_state(db: Db, book_id: BookId, order_id: OrderId) -> OrderState | None:
    """An order as it stands at this moment; None if there is none."""
    row = await db.fetchrow(_STATE, book_id, order_id)
    return None if row is None else _state(row)


def _state(row: Record) -> OrderState:
    known: dict[str, Any] = dict(row)
    if known["cancellation"] is not None:
        known["cancellation"] = msgspec.json.decode(known["cancellation"])
    known["tendered"] = msgspec.json.decode(known["tendered"], type=dict[Method, Decimal])
    return OrderState(**known)


async def update_order(
    db: Db,
    key: BookKey,
    now: datetime,
    order: OrderState,
    moved: tuple[OrderPaymentRow | None, OrderRefundRow | None] = (None, None),
) -> None:
    """Write an order's columns that can change, and the payment or the refund that it got."""
    payment, refund = ([row] if row else [] for row in moved)
    columns = {column.name: getattr(order, column.name) for column in CHANGING}
    written = columns | {"tendered": order.tendered}
    rows = (encode(one).decode() for one in (written, payment, refund))
    await db.execute(_UPDATE, *key, now, *rows)


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


async def list_taxed_lines(db: Db, book_id: BookId, order_id: OrderId) -> list[TaxedLine]:
    """The lines of an order with their taxes, and the rates at which they were sold."""
    rows = await db.fetch(
        """
        SELECT i.line_type, i.subtotal_amount - i.discount_amount AS net, i.tax_amount AS tax,
            i.total_price AS total, coalesce(i.tax_rate, p.tax_rate) AS tax_rate
        FROM order_items i
        LEFT JOIN products p ON p.book_id = i.book_id AND p.id = i.product_id
        WHERE i.book_id = $1 AND i.order_id = $2
        ORDER BY i.position
        """,
        book_id,
        order_id,
    )
    return [TaxedLine(**row) for row in rows]


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
