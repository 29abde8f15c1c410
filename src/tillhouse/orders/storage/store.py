"""Statements that count orders: each is read once, soon after it was recorded."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.access.storage import StorageLimits, StorageUse, StoredInBook
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId

# Orders o, each with the bytes of its row and of those of its lines.
_SIZED: LiteralString = """
    SELECT o.id, 300 + coalesce(pg_column_size(o.summary), 0)
        + coalesce(pg_column_size(o.notes), 0)
        + i.bytes AS bytes
    FROM orders o CROSS JOIN LATERAL (
        SELECT coalesce(sum(200 + pg_column_size(i.product_name)
            + coalesce(pg_column_size(i.variant_name), 0)
            + coalesce(pg_column_size(i.image_url), 0)
            + pg_column_size(i.modifiers) + pg_column_size(i.components)), 0) AS bytes
        FROM order_items i WHERE i.book_id = o.book_id AND i.order_id = o.id
    ) i
"""


class CountedOrders(msgspec.Struct, frozen=True):
    """How many orders were counted, their bytes, and the last of them."""

    orders: int
    bytes: int
    counted_to: UUID


async def add_new_orders(db: Db, books: Sequence[UUID], before: datetime, limit: int) -> int:
    """Count some orders of these books, by book_id, that were recorded before then; how many.

    Bytes are those of the rows of an order and its lines, without indexes and the rows that follow.
    """
    return await db.fetchval(
        """
        WITH found AS (
            SELECT b.book_id, o.id, o.bytes
            FROM unnest($1::uuid[]) AS b (book_id)
            LEFT JOIN order_storage s ON s.book_id = b.book_id
            CROSS JOIN LATERAL (
                """
        + _SIZED
        + """
                WHERE o.book_id = b.book_id AND o.id > coalesce(s.counted_to, least_id('epoch'))
                    AND o.id < least_id($2)
                ORDER BY o.id LIMIT $3
            ) o LIMIT $3
        ), counted AS (
            INSERT INTO order_storage AS s (book_id, orders, bytes, counted_to)
            SELECT book_id, count(*), sum(bytes), (array_agg(id ORDER BY id DESC))[1]
            FROM found GROUP BY book_id
            ON CONFLICT (book_id) DO UPDATE SET orders = s.orders + excluded.orders,
                bytes = s.bytes + excluded.bytes, counted_to = excluded.counted_to
        )
        SELECT count(*) FROM found
        """,
        books,
        before,
        limit,
    )


async def find_counted(db: Db, book_id: BookId) -> CountedOrders | None:
    """How many orders of a book were counted; None before the first time."""
    row = await db.fetchrow(
        """
        SELECT orders, bytes::bigint AS bytes, counted_to FROM order_storage WHERE book_id = $1
        """,
        book_id,
    )
    return CountedOrders(**row) if row else None


async def find_uncounted(
    db: Db, book_id: BookId, counted_to: UUID | None, limit: int
) -> CountedOrders | None:
    """Some orders of a book behind the last one that was counted; None when there are none."""
    row = await db.fetchrow(
        """
        WITH found AS (
            """
        + _SIZED
        + """
            WHERE o.book_id = $1 AND o.id > coalesce($2, least_id('epoch')) ORDER BY o.id LIMIT $3
        )
        SELECT count(*) AS orders, sum(bytes)::bigint AS bytes,
            (array_agg(id ORDER BY id DESC))[1] AS counted_to
        FROM found HAVING count(*) > 0
        """,
        book_id,
        counted_to,
        limit,
    )
    return CountedOrders(**row) if row else None


async def show_stored(db: Db, limits: StorageLimits) -> StorageUse:
    """The orders of all books, and the books, by book_id, that hold as many as they may."""
    [row] = await db.fetch(
        """
        SELECT coalesce(sum(orders), 0)::bigint AS rows, coalesce(sum(bytes), 0)::bigint AS bytes,
            coalesce(array_agg(book_id) FILTER (WHERE orders >= $1 AND $1 > 0), '{}')
                AS full_by_rows,
            coalesce(array_agg(book_id) FILTER (WHERE bytes >= $2 AND $2 > 0), '{}')
                AS full_by_bytes
        FROM order_storage
        """,
        limits.rows,
        limits.bytes,
    )
    return StorageUse(**row)


async def list_orders_stored(db: Db, books: Sequence[UUID]) -> list[StoredInBook]:
    """The orders that some books hold, as far as they were counted."""
    rows = await db.fetch(
        """
        SELECT book_id, orders AS rows, bytes
        FROM order_storage WHERE book_id = ANY($1)
        """,
        books,
    )
    return [StoredInBook(**row) for row in rows]
