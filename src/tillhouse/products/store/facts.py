"""Statements on the facts that the rules of products need, and those of a table of products."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, ProductId, VariantId
from tillhouse.products.facts import Contained, ExistingProductIds, NamedProductIds

_contained = msgspec.json.Decoder(list[Contained]).decode


async def lock_named(db: Db, book_id: BookId, named: NamedProductIds) -> bool:
    """Lock the product for change and the named rows as they are; whether it is there.

    A concurrent delete of a category, a group or a product waits for this lock.
    """
    # Each count is a column of its own: a condition would leave locks out that it has no need of.
    row = await db.fetchrow(
        """
        WITH own AS (
            SELECT p.id FROM products p
            WHERE p.book_id = $1 AND p.id = $2 AND p.deleted_at IS NULL
            FOR NO KEY UPDATE
        ), category AS (
            SELECT c.id FROM categories c
            WHERE c.book_id = $1 AND c.id = ANY($3::uuid[]) AND c.deleted_at IS NULL
            FOR SHARE
        ), modifier AS (
            SELECT g.id FROM modifier_groups g
            WHERE g.book_id = $1 AND g.id = ANY($4::uuid[]) AND g.deleted_at IS NULL
            FOR SHARE
        ), contained AS (
            SELECT p.id FROM products p
            WHERE p.book_id = $1 AND p.id = ANY($5::uuid[]) AND p.deleted_at IS NULL
                AND p.id IS DISTINCT FROM $2
            FOR SHARE
        )
        SELECT (SELECT count(*) FROM own) AS own, (SELECT count(*) FROM category),
            (SELECT count(*) FROM modifier), (SELECT count(*) FROM contained)
        """,
        book_id,
        named.own_product,
        named.category_ids,
        named.group_ids,
        named.product_ids,
    )
    return row is not None and row["own"] == 1


_FACTS = """
        SELECT
            (
                SELECT b.currency FROM books k JOIN businesses b ON b.id = k.business_id
                WHERE k.id = $1
            ) AS currency,
            ARRAY(
                SELECT c.id FROM categories c
                WHERE c.book_id = $1 AND c.id = ANY($2::uuid[]) AND c.deleted_at IS NULL
            ) AS categories,
            ARRAY(
                SELECT s.id FROM stores s
                WHERE s.book_id = $1 AND s.id = ANY($3::uuid[]) AND s.deleted_at IS NULL
            ) AS stores,
            ARRAY(
                SELECT g.id FROM modifier_groups g
                WHERE g.book_id = $1 AND g.id = ANY($4::uuid[]) AND g.deleted_at IS NULL
            ) AS groups,
            (
                SELECT coalesce(json_agg(json_build_object('id', p.id, 'type', p.type,
                    'variant_ids', ARRAY(
                        SELECT v.id FROM variants v
                        WHERE v.book_id = p.book_id AND v.product_id = p.id
                            AND v.deleted_at IS NULL
                        ORDER BY v.position, v.id
                    ))), '[]')
                FROM products p
                WHERE p.book_id = $1 AND p.id = ANY($5::uuid[]) AND p.deleted_at IS NULL
            ) AS products,
            ARRAY(
                SELECT p.sku FROM products p
                WHERE p.book_id = $1 AND p.sku = ANY($6::text[]) AND p.deleted_at IS NULL
                    AND p.id IS DISTINCT FROM $7
            ) AS product_skus,
            ARRAY(
                SELECT v.sku FROM variants v
                WHERE v.book_id = $1 AND v.sku = ANY($6::text[]) AND v.deleted_at IS NULL
                    AND v.id <> ALL($8::uuid[])
            ) AS variant_skus,
            (
                SELECT p.name FROM components c
                JOIN products p ON p.book_id = c.book_id AND p.id = c.product_id
                WHERE c.book_id = $1 AND c.variant_id = ANY($8::uuid[]) AND p.deleted_at IS NULL
                ORDER BY p.id LIMIT 1
            ) AS bundle
"""


async def find_facts(db: Db, book_id: BookId, named: NamedProductIds) -> ExistingProductIds:
    """The named things that exist in the book."""
    [row] = await db.fetch(
        _FACTS,
        book_id,
        *msgspec.structs.astuple(named),
    )
    return ExistingProductIds(
        currency=row["currency"],
        categories=frozenset(row["categories"]),
        stores=frozenset(row["stores"]),
        groups=frozenset(row["groups"]),
        products={one.id: one for one in _contained(row["products"])},
        product_skus=frozenset(row["product_skus"]),
        variant_skus=frozenset(row["variant_skus"]),
        bundle=row["bundle"],
    )


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
