"""Statements on categories."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, CategoryId
from tillhouse.kit.page import Page
from tillhouse.products.types import Category

_CATEGORY = """
    SELECT c.id, c.name, c.position, iso(c.created_at) AS created_at,
        iso(c.updated_at) AS updated_at
    FROM categories c WHERE c.book_id = $1 AND c.deleted_at IS NULL
"""


async def show_category(db: Db, book_id: BookId, category_id: CategoryId) -> Category | None:
    """One category."""
    row = await db.fetchrow(_CATEGORY + " AND c.id = $2", book_id, category_id)
    return Category(**row) if row else None


async def count_categories(db: Db, book_id: BookId) -> int:
    """How many categories there are."""
    return await db.fetchval(
        "SELECT count(*) FROM categories WHERE book_id = $1 AND deleted_at IS NULL", book_id
    )


async def list_categories(db: Db, book_id: BookId, page: Page) -> list[Category]:
    """One page, in the order that the business gave them."""
    rows = await db.fetch(
        _CATEGORY + " ORDER BY c.position, lower(c.name), c.id LIMIT $2 OFFSET $3",
        book_id,
        page.per_page,
        page.offset,
    )
    return [Category(**row) for row in rows]


async def lock_category(db: Db, book_id: BookId, category_id: CategoryId) -> Category | None:
    """A category as it stands, held until the change commits."""
    row = await db.fetchrow(_CATEGORY + " AND c.id = $2 FOR NO KEY UPDATE", book_id, category_id)
    return Category(**row) if row else None


async def insert_category(
    db: Db, book_id: BookId, category_id: CategoryId, what: tuple[str, int], now: datetime
) -> None:
    """A new category: (name, position)."""
    await db.execute(
        """
        INSERT INTO categories (book_id, id, name, position, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $5)
        """,
        book_id,
        category_id,
        *what,
        now,
    )


async def update_category(
    db: Db, book_id: BookId, category_id: CategoryId, what: tuple[str, int], now: datetime
) -> None:
    """Write (name, position)."""
    await db.execute(
        """
        UPDATE categories SET name = $3, position = $4, updated_at = $5
        WHERE book_id = $1 AND id = $2
        """,
        book_id,
        category_id,
        *what,
        now,
    )


async def delete_category(db: Db, book_id: BookId, category_id: CategoryId, now: datetime) -> None:
    """A category leaves every list; its name is free again."""
    await db.execute(
        """
        UPDATE categories SET deleted_at = $3, updated_at = $3 WHERE book_id = $1 AND id = $2
        """,
        book_id,
        category_id,
        now,
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
