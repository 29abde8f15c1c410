"""Statements that show orders: with the same columns everywhere, or their keys alone."""

from collections.abc import Sequence
from sys import intern
from typing import Any, LiteralString

from asyncpg import Record
from msgspec import Raw

from tillhouse.db.pool import Db
from tillhouse.db.where import PAGE_BYTES
from tillhouse.kit.columns import camel, shown
from tillhouse.kit.ids import BookId, OrderId
from tillhouse.orders.columns import ITEMS_SHOWN, SHOWN
from tillhouse.orders.deposits.store import DEPOSIT
from tillhouse.orders.payments.store import DISPUTES, PAYMENTS, REFUNDS
from tillhouse.orders.types import Order

ORDER: LiteralString = (
    """
    SELECT """
    + shown(SHOWN, "o")
    + """,
        (SELECT json_agg(i) FROM (
            SELECT """
    + camel(ITEMS_SHOWN, "i")
    + """
            FROM order_items i WHERE i.book_id = o.book_id AND i.order_id = o.id
            ORDER BY i.position) i) AS items,
"""
    + PAYMENTS
    + ","
    + REFUNDS
    + ","
    + DISPUTES
    + """,
        (SELECT json_build_object('id', c.id, 'name', c.name, 'phoneNumber', c.phone_number,
                'whatsappNumber', c.whatsapp_number)
            FROM customers c WHERE c.book_id = o.book_id AND c.id = o.customer_id) AS customer,
        (SELECT json_build_object('id', s.id, 'name', s.name)
            FROM stores s WHERE s.book_id = o.book_id AND s.id = o.store_id) AS store,
"""
    + DEPOSIT
    + """,
        iso(o.scheduled_at) AS scheduled_for, k.id AS kitchen_ticket_id,
        k.status AS kitchen_ticket_status,
        json_build_object('id', o.recorded_by_id, 'name', o.recorded_by_name) AS recorded_by,
        (SELECT json_build_object('id', u.id, 'name', u.name)
            FROM users u WHERE u.id = o.served_by_id) AS served_by,
        CASE WHEN o.tag_ids <> '{}' THEN
            (SELECT json_agg(json_build_object('id', t.id, 'name', t.name, 'slug', t.slug)
                    ORDER BY t.name, t.id)
                FROM tags t WHERE t.book_id = o.book_id AND t.id = ANY(o.tag_ids))
        END AS tags,
        iso(o.occurred_at) AS date,
        (SELECT json_build_object('id', a.id, 'name', a.name) FROM academic_terms a
            WHERE a.book_id = o.book_id AND a.id = o.academic_term_id) AS academic_term,
        r.id AS receipt_id, r.created_at AS receipt_made_at
    FROM orders o
    LEFT JOIN kitchen_tickets k
        ON k.book_id = o.book_id AND k.order_id = o.id AND k.station = 'kitchen'
    LEFT JOIN LATERAL (SELECT r.id, r.created_at FROM receipts r
        WHERE r.book_id = o.book_id AND r.order_id = o.id ORDER BY r.number DESC LIMIT 1) r ON true
"""
)

_NULL, _EMPTY = Raw(b"null"), Raw(b"[]")
# Columns that PostgreSQL writes as JSON already: they pass as they are; and what none is.
_JSON = dict.fromkeys(("items", "tags", "payments", "refunds", "disputes"), _EMPTY) | dict.fromkeys(
    ("customer", "store", "deposit", "recorded_by", "served_by", "cancellation", "academic_term"),
    _NULL,
)


def order_of(row: Record, receipt_url: str | None) -> Order:
    """A row of ORDER as an order."""
    # A struct finds a field at once by a name that is the very same text, else among all of them.
    values: dict[str, Any] = dict(zip(map(intern, row.keys()), row.values(), strict=True))
    for name, empty in _JSON.items():
        text = values[name]
        values[name] = Raw(text.encode()) if text else empty
    # The address of the newest receipt isn't the database's to make.
    del values["receipt_id"], values["receipt_made_at"]
    values.pop(PAGE_BYTES, None)
    values["receipt_url"] = receipt_url
    return Order(**values)


async def find_order(db: Db, book_id: BookId, order_id: OrderId) -> Record | None:
    """One order, unless it is deleted."""
    return await db.fetchrow(
        ORDER + "WHERE o.book_id = $1 AND o.id = $2 AND o.deleted_at IS NULL", book_id, order_id
    )


async def list_recorded(db: Db, book_id: BookId, keys: Sequence[str]) -> dict[str, bytes]:
    """Which of these keys have made an order, deleted since or not, and their fingerprints."""
    rows = await db.fetch(
        """
        SELECT o.idempotency_key, o.idempotency_fingerprint FROM orders o
        WHERE o.book_id = $1 AND o.idempotency_key = ANY($2::text[])
        """,
        book_id,
        keys,
    )
    return {row["idempotency_key"]: row["idempotency_fingerprint"] for row in rows}
