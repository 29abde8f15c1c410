"""Statements that count the uses of a promotion, for the rooms that sell."""

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, CustomerId, PromotionId
from tillhouse.promotions.facts import Offer


async def find_offer(
    db: Db, book_id: BookId, promotion_id: PromotionId, customer_id: CustomerId | None
) -> Offer | None:
    """A promotion as it stands for this customer, for `judge`."""
    row = await db.fetchrow(
        """
        SELECT p.name, p.type, p.scope, p.value, p.product_ids, p.category_ids,
            p.minimum_subtotal, p.maximum_discount, p.starts_at, p.ends_at, p.days,
            p.from_minute, p.to_minute, p.limit_total, p.limit_per_customer, p.is_active,
            p.used, coalesce(c.used, 0) AS used_by_customer, b.currency, b.time_zone
        FROM promotions p
        JOIN books k ON k.id = p.book_id
        JOIN businesses b ON b.id = k.business_id
        LEFT JOIN promotion_customers c
            ON c.book_id = $1 AND c.promotion_id = p.id AND c.customer_id = $3
        WHERE p.book_id = $1 AND p.id = $2 AND p.deleted_at IS NULL
        """,
        book_id,
        promotion_id,
        customer_id,
    )
    return Offer(**row) if row else None


async def take_use(
    db: Db, book_id: BookId, promotion_id: PromotionId, customer_id: CustomerId | None
) -> bool:
    """Count a use, if one is left for all and for this customer; whether it was granted.

    Takers of one promotion stand in line at its row until the one before has committed, so call
    it late in the transaction. A use that isn't granted changes nothing.
    """
    return await db.fetchval(
        """
        WITH held AS MATERIALIZED (
            SELECT p.id, p.limit_per_customer FROM promotions p
            WHERE p.book_id = $1 AND p.id = $2 AND p.deleted_at IS NULL AND p.is_active
                AND (p.limit_total IS NULL OR p.used < p.limit_total)
                AND (p.limit_per_customer IS NULL OR $3::uuid IS NOT NULL)
            FOR NO KEY UPDATE
        ), customer AS (
            INSERT INTO promotion_customers AS c (book_id, promotion_id, customer_id, used)
            SELECT $1, held.id, $3, 1 FROM held WHERE $3 IS NOT NULL
            ON CONFLICT (book_id, promotion_id, customer_id) DO UPDATE SET used = c.used + 1
            WHERE c.used < coalesce((SELECT limit_per_customer FROM held), 2147483647)
            RETURNING 1
        ), counted AS (
            UPDATE promotions p SET used = p.used + 1 FROM held
            WHERE p.book_id = $1 AND p.id = held.id
                AND ($3 IS NULL OR EXISTS (SELECT FROM customer))
            RETURNING 1
        )
        SELECT EXISTS (SELECT FROM counted)
        """,
        book_id,
        promotion_id,
        customer_id,
    )


async def give_back(
    db: Db, book_id: BookId, promotion_id: PromotionId, customer_id: CustomerId | None
) -> None:
    """Take a use back: its order was cancelled or deleted. The caller sees to it: once per use."""
    await db.execute(
        """
        WITH counted AS (
            UPDATE promotions SET used = used - 1
            WHERE book_id = $1 AND id = $2 AND used > 0
            RETURNING id
        )
        UPDATE promotion_customers c SET used = c.used - 1 FROM counted
        WHERE c.book_id = $1 AND c.promotion_id = counted.id AND c.customer_id = $3
            AND c.used > 0
        """,
        book_id,
        promotion_id,
        customer_id,
    )
