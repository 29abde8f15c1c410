"""The statement that reads the content of receipts of transactions."""

from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.orders.receipts.store import IMPRINT


async def lock_transaction(db: Db, book_id: BookId, transaction_id: UUID) -> Record | None:
    """The content of a receipt made now; the transaction doesn't change meanwhile."""
    return await db.fetchrow(
        """
        SELECT t.reference, t.type, t.status, t.method, t.amount, t.currency,
            iso(t.happened_at) AS happened_at, c.name AS customer,
            o.short_code AS order_short_code, e.category, u.name AS business, k.environment,
            u.time_zone, s.name AS store, s.address, s.phone,
        """
        + IMPRINT
        + """
        FROM transactions t
        JOIN books k ON k.id = t.book_id
        JOIN businesses u ON u.id = k.business_id
        LEFT JOIN stores s ON s.book_id = t.book_id AND s.id = t.store_id
        LEFT JOIN customers c ON c.book_id = t.book_id AND c.id = t.customer_id
        LEFT JOIN orders o ON t.source_type = 'order' AND o.book_id = t.book_id
            AND o.id = t.source_id
        LEFT JOIN expenses e ON t.source_type = 'expense' AND e.book_id = t.book_id
            AND e.id = t.source_id
        WHERE t.book_id = $1 AND t.id = $2
        FOR NO KEY UPDATE OF t
        """,
        book_id,
        transaction_id,
    )
