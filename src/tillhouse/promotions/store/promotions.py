"""Statements on promotions."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, PromotionId
from tillhouse.kit.page import Page
from tillhouse.promotions.facts import Business, Terms
from tillhouse.promotions.types import Promotion, PromotionFilter

_PROMOTION = """
    SELECT p.id, p.name, p.type, p.scope, p.value, p.product_ids, p.category_ids,
        p.minimum_subtotal, p.maximum_discount, iso(p.starts_at) AS starts_at,
        iso(p.ends_at) AS ends_at, p.days,
        to_char(make_interval(mins => p.from_minute), 'HH24:MI') AS from_time,
        to_char(make_interval(mins => p.to_minute), 'HH24:MI') AS to_time,
        p.limit_total, p.limit_per_customer, p.used, p.is_active,
        iso(p.created_at) AS created_at, iso(p.updated_at) AS updated_at
    FROM promotions p WHERE p.book_id = $1 AND p.deleted_at IS NULL
"""


async def show_promotion(db: Db, book_id: BookId, promotion_id: PromotionId) -> Promotion | None:
    """One promotion."""
    row = await db.fetchrow(_PROMOTION + " AND p.id = $2", book_id, promotion_id)
    return Promotion(**row) if row else None


async def count_promotions(db: Db, book_id: BookId, wanted: PromotionFilter) -> int:
    """How many promotions fit."""
    where = Where(book_id).and_("p.is_active = $", wanted.is_active)
    return await db.fetchval(
        """
        SELECT count(*) FROM promotions p WHERE p.book_id = $1 AND p.deleted_at IS NULL
        """
        + where.sql(),
        *where.args,
    )


async def list_promotions(
    db: Db, book_id: BookId, wanted: PromotionFilter, page: Page
) -> list[Promotion]:
    """One page of the promotions that fit, by name."""
    where = Where(book_id).and_("p.is_active = $", wanted.is_active)
    rows = await db.fetch(
        _PROMOTION
        + where.sql()
        + " ORDER BY lower(p.name), p.id LIMIT "
        + where.slot(page.per_page)
        + " OFFSET "
        + where.slot(page.offset),
        *where.args,
    )
    return [Promotion(**row) for row in rows]


async def lock_promotion(
    db: Db, book_id: BookId, promotion_id: PromotionId
) -> tuple[Terms, int] | None:
    """The terms as they stand and how often they were used, held until the change commits."""
    row: Record | None = await db.fetchrow(
        """
        SELECT name, type, scope, value, product_ids, category_ids, minimum_subtotal,
            maximum_discount, starts_at, ends_at, days, from_minute, to_minute, limit_total,
            limit_per_customer, is_active, used
        FROM promotions WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL
        FOR NO KEY UPDATE
        """,
        book_id,
        promotion_id,
    )
    if row is None:
        return None
    values = dict(row)
    used = values.pop("used")
    return Terms(**values), used


async def find_business(
    db: Db, book_id: BookId, products: Sequence[UUID], categories: Sequence[UUID]
) -> Business:
    """How the business counts, and which of these products and categories the book has."""
    row = await db.fetchrow(
        """
        SELECT b.currency, b.time_zone, ARRAY(
            SELECT p.id FROM products p
            WHERE p.book_id = $1 AND p.id = ANY($2) AND p.deleted_at IS NULL
        ) AS product_ids, ARRAY(
            SELECT c.id FROM categories c
            WHERE c.book_id = $1 AND c.id = ANY($3) AND c.deleted_at IS NULL
        ) AS category_ids
        FROM books k JOIN businesses b ON b.id = k.business_id WHERE k.id = $1
        """,
        book_id,
        products,
        categories,
    )
    assert row is not None, "a call has a book"  # noqa: S101
    return Business(
        currency=row["currency"],
        time_zone=row["time_zone"],
        product_ids=set(row["product_ids"]),
        category_ids=set(row["category_ids"]),
    )


async def insert_promotion(
    db: Db, book_id: BookId, promotion_id: PromotionId, terms: Terms, now: datetime
) -> None:
    """A new promotion, not used yet."""
    await db.execute(
        """
        INSERT INTO promotions (book_id, id, created_at, updated_at, name, type, scope, value,
            product_ids, category_ids, minimum_subtotal, maximum_discount, starts_at, ends_at,
            days, from_minute, to_minute, limit_total, limit_per_customer, is_active)
        VALUES ($1, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
            $18, $19)
        """,
        book_id,
        promotion_id,
        now,
        *msgspec.structs.astuple(terms),
    )


async def update_promotion(
    db: Db, book_id: BookId, promotion_id: PromotionId, terms: Terms, now: datetime
) -> None:
    """Write all terms; how often it was used is for others."""
    await db.execute(
        """
        UPDATE promotions SET updated_at = $3, name = $4, type = $5, scope = $6, value = $7,
            product_ids = $8, category_ids = $9, minimum_subtotal = $10, maximum_discount = $11,
            starts_at = $12, ends_at = $13, days = $14, from_minute = $15, to_minute = $16,
            limit_total = $17, limit_per_customer = $18, is_active = $19
        WHERE book_id = $1 AND id = $2
        """,
        book_id,
        promotion_id,
        now,
        *msgspec.structs.astuple(terms),
    )


async def delete_promotion(
    db: Db, book_id: BookId, promotion_id: PromotionId, now: datetime
) -> bool:
    """Take a promotion from every list; orders that have it keep it. Whether there was one."""
    return await db.fetchval(
        """
        WITH gone AS (
            UPDATE promotions SET deleted_at = $3, updated_at = $3
            WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL
            RETURNING 1
        )
        SELECT EXISTS (SELECT FROM gone)
        """,
        book_id,
        promotion_id,
        now,
    )
