"""Statements for orders that come from a file."""

from collections.abc import Sequence

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId


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
