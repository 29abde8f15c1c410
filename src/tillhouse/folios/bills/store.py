"""The statement of bills: their content beside the folio."""

from typing import LiteralString

import msgspec

from tillhouse.db.pool import Db
from tillhouse.folios.bills.types import Head, Item, OrderParts, Particulars
from tillhouse.kit.ids import BookKey
from tillhouse.orders.receipts.store import IMPRINT, with_imprint

_PARTICULARS: LiteralString = (
    """
    SELECT u.name AS business, k.environment, u.time_zone, s.name AS store, s.address, s.phone,
        g.name AS guest, r.adults, r.children, iso(r.checked_out_at) AS checked_out_at,
    """
    + IMPRINT
    + """,
        (SELECT json_agg(p) FROM (
            SELECT o.id, o.discount_amount AS discount, o.service_charge_amount AS service,
                o.tax_amount AS tax, o.exclusive_tax_amount AS added_tax,
                o.adjustment_amount AS adjustment, coalesce(y.methods, '{}') AS methods,
                y.paid_at, (
                    SELECT iso(max(f.happened_at)) FROM refunds f
                    WHERE f.book_id = o.book_id AND f.order_id = o.id
                        AND f.status = 'successful') AS returned_at
            FROM orders o
            CROSS JOIN LATERAL (
                SELECT array_agg(DISTINCT y.method ORDER BY y.method) AS methods,
                    iso(max(y.happened_at)) AS paid_at
                FROM payments y
                WHERE y.book_id = o.book_id AND y.order_id = o.id
                    AND y.kind = 'payment' AND y.status = 'successful'
                    AND NOT EXISTS (
                        SELECT FROM folio_uses f WHERE f.book_id = o.book_id
                            AND f.order_id = o.id AND f.payment_id = y.id)
            ) y
            WHERE o.book_id = $1 AND o.hotel_reservation_id = $2
        ) p) AS orders,
        (SELECT json_agg(i) FROM (
            SELECT i.order_id, i.product_name AS name, i.variant_name AS variant, i.quantity,
                i.subtotal_amount AS amount
            FROM orders o
            JOIN order_items i ON i.book_id = o.book_id AND i.order_id = o.id
            WHERE o.book_id = $1 AND o.hotel_reservation_id = $2 AND o.deleted_at IS NULL
            ORDER BY o.occurred_at, o.id, i.position LIMIT $3
        ) i) AS items
    FROM hotel_reservations r
    JOIN hotel_guests g ON g.book_id = r.book_id AND g.id = r.guest_id
    JOIN books k ON k.id = r.book_id
    JOIN businesses u ON u.id = k.business_id
    LEFT JOIN LATERAL (
        SELECT t.name, t.address, t.phone FROM stores t
        WHERE t.book_id = r.book_id AND t.is_active AND t.deleted_at IS NULL
        ORDER BY t.address IS NULL, t.id LIMIT 1
    ) s ON true
    WHERE r.book_id = $1 AND r.id = $2
"""
)


async def find_particulars(db: Db, key: BookKey, items_max: int) -> Particulars:
    """The head of a bill, and the parts and lines of the orders, as far as they are asked for.

    The address is that of the first store in use that has one. A payment of an order that spends
    money of the folio is a payment of the stay, and none of the order's own.
    """
    row = await db.fetchrow(_PARTICULARS, *key, items_max)
    assert row is not None, "the stay is locked"  # noqa: S101
    fields = with_imprint(row)
    orders, items = (fields.pop(name) or "[]" for name in ("orders", "items"))
    return Particulars(
        head=Head(**fields),
        orders=msgspec.json.decode(orders, type=list[OrderParts]),
        items=msgspec.json.decode(items, type=list[Item]),
    )
