"""The table of promotions, and the facts that changing one needs."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, PromotionId
from tillhouse.promotions.facts import PromotionFacts, Terms
from tillhouse.promotions.types import Promotion

# How often one was used is written by its uses; orders keep one that is deleted.
PROMOTIONS = BookTable(
    "promotions p",
    Promotion,
    shown="""p.name, p.type, p.scope, p.value, p.product_ids, p.category_ids,
        p.minimum_subtotal, p.maximum_discount, iso(p.starts_at) AS starts_at,
        iso(p.ends_at) AS ends_at, p.days,
        to_char(make_interval(mins => p.from_minute), 'HH24:MI') AS from_time,
        to_char(make_interval(mins => p.to_minute), 'HH24:MI') AS to_time,
        p.limit_total, p.limit_per_customer, p.used, p.is_active""",
    order="lower(p.name), p.id",
    fields=Terms,
    filters={"is_active": "p.is_active = $"},
)


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
) -> PromotionFacts:
    """How the business counts, and which of these products and categories the book has."""
    [row] = await db.fetch(
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
    return PromotionFacts(
        currency=row["currency"],
        time_zone=row["time_zone"],
        product_ids=set(row["product_ids"]),
        category_ids=set(row["category_ids"]),
    )
