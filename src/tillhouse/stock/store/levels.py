"""Statements that read stock levels."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, StoreId
from tillhouse.kit.page import Page
from tillhouse.stock.facts import LevelKey
from tillhouse.stock.types import LevelFilter, StockLevel

_LEVEL = """
    SELECT l.id, l.variant_id, v.product_id, p.name AS product_name,
        CASE WHEN NOT v.is_implicit THEN v.name END AS variant_name,
        CASE WHEN v.is_implicit THEN coalesce(v.sku, p.sku) ELSE v.sku END AS sku, l.store_id,
        l.on_hand, l.reserved, l.on_hand - l.reserved AS available, v.low_stock_threshold,
        l.on_hand - l.reserved <= coalesce(v.low_stock_threshold, 0) AS is_low,
        iso(l.updated_at) AS updated_at
"""
# A deleted product's variants are deleted with it.
_KEPT = " WHERE l.book_id = $1 AND v.tracks_stock AND v.deleted_at IS NULL"


def _where(book_id: BookId, wanted: LevelFilter) -> Where:
    return (
        Where(book_id)
        .and_("l.store_id = $", wanted.store_id)
        .and_("l.variant_id = $", wanted.variant_id)
        .and_("v.product_id = $", wanted.product_id)
        .and_("(l.on_hand - l.reserved <= coalesce(v.low_stock_threshold, 0)) = $", wanted.low)
    )


async def count_levels(db: Db, book_id: BookId, wanted: LevelFilter) -> int:
    """How many places fit."""
    where = _where(book_id, wanted)
    return await db.fetchval(
        """
        SELECT count(*) FROM stock_levels l
        JOIN variants v ON v.book_id = $1 AND v.id = l.variant_id
        """
        + _KEPT
        + where.sql(),
        *where.args,
    )


async def list_levels(db: Db, book_id: BookId, wanted: LevelFilter, page: Page) -> list[StockLevel]:
    """One page of the places that fit, in the order in which they were opened."""
    where = _where(book_id, wanted)
    rows = await db.fetch(
        _LEVEL
        + """
        FROM stock_levels l
        JOIN variants v ON v.book_id = $1 AND v.id = l.variant_id
        JOIN products p ON p.book_id = $1 AND p.id = v.product_id
        """
        + _KEPT
        + where.sql()
        + " ORDER BY l.id LIMIT "
        + where.slot(page.per_page)
        + " OFFSET "
        + where.slot(page.offset),
        *where.args,
    )
    return [StockLevel(**row) for row in rows]


async def list_levels_at(db: Db, book_id: BookId, keys: Sequence[LevelKey]) -> list[StockLevel]:
    """The levels of these places, in their order."""
    rows = await db.fetch(
        _LEVEL
        + """
        FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS w (variant_id, store_id, position)
        JOIN stock_levels l ON l.book_id = $1 AND l.variant_id = w.variant_id
            AND l.store_id IS NOT DISTINCT FROM w.store_id
        JOIN variants v ON v.book_id = $1 AND v.id = l.variant_id
        JOIN products p ON p.book_id = $1 AND p.id = v.product_id
        ORDER BY w.position
        """,
        book_id,
        [key.variant_id for key in keys],
        [key.store_id for key in keys],
    )
    return [StockLevel(**row) for row in rows]


async def has_stock(db: Db, book_id: BookId, store_id: StoreId) -> bool:
    """Whether anything lies in a store, or less than nothing, or is promised there."""
    # The first in the store's order: that way it is looked for in the store's part of the index,
    # also where nothing is to be found.
    return await db.fetchval(
        """
        SELECT coalesce((
            SELECT true FROM stock_levels l
            JOIN variants v ON v.book_id = $1 AND v.id = l.variant_id
            WHERE l.book_id = $1 AND l.store_id = $2 AND (l.on_hand <> 0 OR l.reserved <> 0)
                AND v.tracks_stock AND v.deleted_at IS NULL
            ORDER BY l.id LIMIT 1), false)
        """,
        book_id,
        store_id,
    )


async def lock_kept_stores(db: Db, book_id: BookId, stores: Sequence[UUID]) -> None:
    """Keep these stores, those that there are, from being deleted meanwhile."""
    await db.execute(
        """
        SELECT id FROM stores
        WHERE book_id = $1 AND id = ANY($2) AND deleted_at IS NULL ORDER BY id FOR SHARE
        """,
        book_id,
        stores,
    )


async def lock_on_hand(
    db: Db, book_id: BookId, keys: Sequence[LevelKey]
) -> dict[LevelKey, Decimal]:
    """How much there is in these places, held until the transaction ends."""
    rows = await db.fetch(
        """
        SELECT l.variant_id, l.store_id, l.on_hand
        FROM unnest($2::uuid[], $3::uuid[]) AS w (variant_id, store_id)
        JOIN stock_levels l ON l.book_id = $1 AND l.variant_id = w.variant_id
            AND l.store_id IS NOT DISTINCT FROM w.store_id
        ORDER BY l.id
        FOR NO KEY UPDATE OF l
        """,
        book_id,
        [key.variant_id for key in keys],
        [key.store_id for key in keys],
    )
    return {LevelKey(row["variant_id"], row["store_id"]): row["on_hand"] for row in rows}
