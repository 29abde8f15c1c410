"""Statements on the facts of an order that the kitchen needs."""

from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kitchen.types import SaleFacts


async def find_sale(db: Db, book_id: UUID, order_id: UUID) -> SaleFacts | None:
    """The order and whom to tell about it."""
    row = await db.fetchrow(
        """
        SELECT o.id AS order_id, o.short_code, o.store_id, o.customer_id,
            c.name AS customer_name,
            coalesce(c.whatsapp_number, c.phone_number) AS customer_phone, o.table_label
        FROM orders o
        LEFT JOIN customers c ON c.book_id = o.book_id AND c.id = o.customer_id
        WHERE o.book_id = $1 AND o.id = $2 AND o.deleted_at IS NULL
        """,
        book_id,
        order_id,
    )
    return SaleFacts(**row) if row else None


async def lock_sale(db: Db, book_id: UUID, order_id: UUID) -> Record | None:
    """Keep the order as it is until this transaction ends."""
    return await db.fetchrow(
        """
        SELECT status FROM orders WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL
        FOR NO KEY UPDATE
        """,
        book_id,
        order_id,
    )
