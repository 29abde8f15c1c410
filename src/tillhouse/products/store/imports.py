"""Statements for products that come as a table."""

from collections.abc import Sequence
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, ProductId, VariantId


async def list_owners(
    db: Db, book_id: BookId, skus: Sequence[str]
) -> list[tuple[str, ProductId, VariantId | None]]:
    """The owners of skus: (sku, product, variant), no variant for the product's own."""
    rows = await db.fetch(
        """
        SELECT p.sku, p.id AS product_id, NULL::uuid AS variant_id FROM products p
        WHERE p.book_id = $1 AND p.sku = ANY($2::text[]) AND p.deleted_at IS NULL
        UNION ALL
        SELECT v.sku, v.product_id, v.id FROM variants v
        WHERE v.book_id = $1 AND v.sku = ANY($2::text[]) AND v.deleted_at IS NULL
        """,
        book_id,
        skus,
    )
    return [(row["sku"], row["product_id"], row["variant_id"]) for row in rows]


async def lock_products(db: Db, book_id: BookId, ids: Sequence[UUID]) -> None:
    """Hold products for change, in the order of their ids."""
    await db.execute(
        """
        SELECT FROM products WHERE book_id = $1 AND id = ANY($2::uuid[]) AND deleted_at IS NULL
        ORDER BY id FOR NO KEY UPDATE
        """,
        book_id,
        ids,
    )
