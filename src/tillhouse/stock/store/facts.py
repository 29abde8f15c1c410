"""Statements on the facts that the rules of moves need."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.stock.facts import StockedVariant, StockFacts

_items = msgspec.json.Decoder(list[StockedVariant]).decode


async def find_facts(
    db: Db,
    book_id: BookId,
    variants: Sequence[UUID],
    stores: Sequence[UUID],
    leaving: UUID | None,
) -> StockFacts:
    """The variants and stores that exist in the book.

    A store that is gone counts as long as it is left: an order that was cancelled afterwards gave
    its stock back to where it was sold, and that must not lie there for ever.
    """
    row = await db.fetchrow(
        """
        SELECT (
            SELECT json_agg(json_build_object('id', v.id, 'tracks_stock', v.tracks_stock,
                'name', CASE WHEN v.is_implicit THEN p.name ELSE p.name || ', ' || v.name END))
            FROM variants v JOIN products p ON p.book_id = $1 AND p.id = v.product_id
            WHERE v.book_id = $1 AND v.id = ANY($2) AND v.deleted_at IS NULL
                AND p.deleted_at IS NULL
        ) AS items, (
            SELECT array_agg(s.id) FROM stores s
            WHERE s.book_id = $1 AND s.id = ANY(array_append($3::uuid[], $4::uuid))
                AND (s.deleted_at IS NULL OR s.id = $4::uuid AND EXISTS (
                    SELECT FROM stock_levels l
                    WHERE l.book_id = $1 AND l.variant_id = ANY($2) AND l.store_id = $4::uuid
                        AND l.on_hand > 0))
        ) AS stores
        """,
        book_id,
        variants,
        stores,
        leaving,
    )
    items = _items(row["items"]) if row and row["items"] else []
    return StockFacts({item.id: item for item in items}, set(row["stores"] or ()) if row else set())
