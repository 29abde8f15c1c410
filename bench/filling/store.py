"""The statements of the filling."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db


async def find_last_key(db: Db, book_id: UUID) -> str | None:
    """The key of the last order that was filled in."""
    return await db.fetchval(
        """
        SELECT max(idempotency_key) FROM orders
        WHERE book_id = $1 AND idempotency_key >= 'demo-0' AND idempotency_key < 'demo-a'
        """,
        book_id,
    )


async def list_goods(db: Db, book_id: UUID) -> list[UUID]:
    """The products of the demo business, by the beginning of their skus."""
    rows = await db.fetch(
        """
        SELECT id FROM products
        WHERE book_id = $1 AND lower(sku) LIKE 'demo-%' AND deleted_at IS NULL ORDER BY sku
        """,
        book_id,
    )
    return [row["id"] for row in rows]


async def list_codes(db: Db, book_id: UUID, codes: list[str]) -> set[str]:
    """Which of the codes are taken."""
    rows = await db.fetch(
        "SELECT short_code FROM orders WHERE book_id = $1 AND short_code = ANY($2)",
        book_id,
        codes,
    )
    return {row["short_code"] for row in rows}


async def list_accounts(db: Db, book_id: UUID) -> Sequence[Record]:
    """Every account of the book's ledger."""
    return await db.fetch("SELECT kind, owner_id FROM ledger_accounts WHERE book_id = $1", book_id)


async def delete_sums(db: Db, book_id: UUID) -> None:
    """Forget the sums of days: what is filled in now is dated within them."""
    await db.execute(
        """
        WITH days AS (DELETE FROM ledger_summed_days WHERE book_id = $1)
        DELETE FROM ledger_sums WHERE book_id = $1
        """,
        book_id,
    )
