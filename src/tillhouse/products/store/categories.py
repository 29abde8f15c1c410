"""The table of categories, and the statements that products and imports need."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, CategoryId
from tillhouse.products.types import Category

# In the order that the business gave them; the name of a deleted one is free again.
CATEGORIES = BookTable(
    "categories c",
    Category,
    shown="c.name, c.position",
    order="c.position, lower(c.name), c.id",
    fields=("name", "position"),
)


async def find_product_in(db: Db, book_id: BookId, category_id: CategoryId) -> str | None:
    """The name of a product that the category holds."""
    return await db.fetchval(
        """
        SELECT p.name FROM products p
        WHERE p.book_id = $1 AND p.category_id = $2 AND p.deleted_at IS NULL
        ORDER BY p.id LIMIT 1
        """,
        book_id,
        category_id,
    )


async def add_categories(
    db: Db, book_id: BookId, ids: Sequence[UUID], names: Sequence[str], now: datetime
) -> None:
    """Make those of the names that there are none of yet, whatever their case."""
    await db.execute(
        """
        INSERT INTO categories (book_id, id, name, created_at, updated_at)
        SELECT $1, n.id, n.name, $4, $4 FROM unnest($2::uuid[], $3::text[]) AS n (id, name)
        ON CONFLICT (book_id, lower(name)) WHERE deleted_at IS NULL DO NOTHING
        """,
        book_id,
        ids,
        names,
        now,
    )


async def lock_categories(db: Db, book_id: BookId, names: Sequence[str]) -> dict[str, UUID]:
    """The categories of these names, whatever their case, by the name that was given; held."""
    rows = await db.fetch(
        """
        SELECT n.name, c.id FROM unnest($2::text[]) AS n (name)
        JOIN categories c ON c.book_id = $1 AND lower(c.name) = lower(n.name)
            AND c.deleted_at IS NULL
        FOR SHARE OF c
        """,
        book_id,
        names,
    )
    return {row["name"]: row["id"] for row in rows}
