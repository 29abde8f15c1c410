"""Statements that show and write products."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.changes import and_after
from tillhouse.db.pool import Db
from tillhouse.db.where import PAGE_BYTES, Where, weighed
from tillhouse.kit.ids import BookId, CategoryId, ProductId, VariantId
from tillhouse.kit.json import encode
from tillhouse.kit.page import Page, Position
from tillhouse.products.configuration import Configuration
from tillhouse.products.types import Component, Modifiers, Product, ProductType, Variant

_variants: Callable[[str], Any] = msgspec.json.Decoder(list[Variant]).decode
_groups: Callable[[str], Any] = msgspec.json.Decoder(list[Modifiers]).decode
_components: Callable[[str], Any] = msgspec.json.Decoder(list[Component]).decode

# Of the products that `page` holds: one statement shows one, or a list.
_SHOWN = """
    SELECT p.id, p.name, p.type, p.description, p.category_id, p.unit, p.sku, p.base_price,
        b.currency, p.tax_rate, p.image_url, p.is_active, p.is_extra_only,
        (
            SELECT coalesce(json_agg(json_build_object('id', v.id, 'name', v.name, 'sku', v.sku,
                'price', v.price, 'imageUrl', v.image_url, 'isActive', v.is_active,
                'isImplicit', v.is_implicit, 'tracksStock', v.tracks_stock,
                'stockPolicy', v.stock_policy, 'lowStockThreshold', v.low_stock_threshold,
                'position', v.position, 'prices', (
                    SELECT coalesce(json_agg(json_build_object('storeId', r.store_id,
                        'price', r.price) ORDER BY r.store_id), '[]')
                    FROM variant_prices r
                    WHERE r.book_id = v.book_id AND r.variant_id = v.id
                )) ORDER BY v.position, v.id), '[]')
            FROM variants v
            WHERE v.book_id = p.book_id AND v.product_id = p.id AND v.deleted_at IS NULL
        ) AS variants,
        (
            SELECT coalesce(json_agg(json_build_object('id', g.id, 'name', g.name,
                'minChoices', g.min_choices, 'maxChoices', g.max_choices, 'options', (
                    SELECT coalesce(json_agg(json_build_object('id', o.id, 'name', o.name,
                        'priceDelta', o.price_delta, 'isActive', o.is_active)
                        ORDER BY o.position, o.id), '[]')
                    FROM modifier_options o
                    WHERE o.book_id = g.book_id AND o.modifier_group_id = g.id
                        AND o.deleted_at IS NULL
                )) ORDER BY m.position, g.id), '[]')
            FROM product_modifier_groups m
            JOIN modifier_groups g ON g.book_id = m.book_id AND g.id = m.modifier_group_id
            WHERE m.book_id = p.book_id AND m.product_id = p.id
        ) AS modifier_groups,
        (
            SELECT coalesce(json_agg(json_build_object('productId', v.product_id,
                'variantId', c.variant_id, 'name', v.name, 'quantity', c.quantity)
                ORDER BY c.position, c.variant_id), '[]')
            FROM components c
            -- One by one: a join may begin with all products of the book.
            CROSS JOIN LATERAL (
                SELECT i.product_id, concat_ws(' ', (
                    SELECT w.name FROM products w
                    WHERE w.book_id = i.book_id AND w.id = i.product_id
                ), nullif(i.name, '')) AS name
                FROM variants i WHERE i.book_id = c.book_id AND i.id = c.variant_id LIMIT 1
            ) v
            WHERE c.book_id = p.book_id AND c.product_id = p.id
        ) AS components,
        iso(p.created_at) AS created_at, iso(p.updated_at) AS updated_at
    FROM page p
    JOIN books k ON k.id = p.book_id
    JOIN businesses b ON b.id = k.business_id
"""

_JSON: tuple[LiteralString, ...] = ("variants", "modifier_groups", "components")
_ALL = "FROM products p WHERE p.book_id = $1 AND p.deleted_at IS NULL"
# Names and skus that begin so, whatever the case; the operators are those of text_pattern_ops.
_SEARCHED = """
    FROM (
        SELECT s.id FROM products s WHERE s.book_id = $1 AND s.deleted_at IS NULL
            AND lower(s.name) ~>=~ lower($2) AND lower(s.name) ~<~ (lower($2) || chr(1114111))
        UNION
        SELECT s.id FROM products s WHERE s.book_id = $1 AND s.deleted_at IS NULL
            AND lower(s.sku) ~>=~ lower($2) AND lower(s.sku) ~<~ (lower($2) || chr(1114111))
        UNION
        SELECT s.product_id FROM variants s WHERE s.book_id = $1 AND s.deleted_at IS NULL
            AND lower(s.sku) ~>=~ lower($2) AND lower(s.sku) ~<~ (lower($2) || chr(1114111))
    ) f
    JOIN products p ON p.book_id = $1 AND p.id = f.id AND p.deleted_at IS NULL
    WHERE p.book_id = $1
"""

# As they are counted by /v1/counts.
_OUT = """
    EXISTS (
        SELECT FROM variants v
        WHERE v.book_id = p.book_id AND v.product_id = p.id AND v.tracks_stock AND v.is_active
            AND v.deleted_at IS NULL
            AND NOT EXISTS (
                SELECT FROM stock_levels l
                WHERE l.book_id = v.book_id AND l.variant_id = v.id AND l.on_hand > l.reserved))
"""


class ProductQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on products."""

    search: str | None = None
    category_id: CategoryId | None = None
    type: ProductType | None = None
    is_active: bool | None = None
    out_of_stock: bool | None = None
    since: datetime | None = None


def _shown(row: Record) -> Product:
    return Product(
        **{
            **row,
            "variants": _variants(row["variants"]),
            "modifier_groups": _groups(row["modifier_groups"]),
            "components": _components(row["components"]),
        }
    )


def _listed(row: Record) -> Product:
    """A product whose parts pass as the JSON that they are: a page of them has very many."""
    shown: dict[str, Any] = dict(row)
    del shown[PAGE_BYTES]
    for name in _JSON:
        shown[name] = msgspec.Raw(shown[name].encode())
    return Product(**shown)


async def show_product(db: Db, book_id: BookId, product_id: ProductId) -> Product | None:
    """One product."""
    row = await db.fetchrow(
        """
        WITH page AS (
            SELECT p.* FROM products p
            WHERE p.book_id = $1 AND p.id = $2 AND p.deleted_at IS NULL
        )
        """
        + _SHOWN,
        book_id,
        product_id,
    )
    return _shown(row) if row else None


async def list_named(db: Db, book_id: BookId, ids: Sequence[UUID]) -> list[Product]:
    """The products with these ids."""
    rows = await db.fetch(
        """
        WITH page AS (
            SELECT p.* FROM products p
            WHERE p.book_id = $1 AND p.id = ANY($2::uuid[]) AND p.deleted_at IS NULL
        )
        """
        + _SHOWN,
        book_id,
        ids,
    )
    return [_shown(row) for row in rows]


def _where(book_id: BookId, query: ProductQuery) -> Where:
    where = Where(book_id, query.search) if query.search else Where(book_id)
    return (
        where.and_("p.category_id = $", query.category_id)
        .and_("p.type = $", query.type)
        .and_("p.is_active = $", query.is_active)
        .and_("$ AND " + _OUT, True if query.out_of_stock else None)
        .and_("$ AND NOT " + _OUT, True if query.out_of_stock is False else None)
        .and_("p.updated_at >= $", query.since)
    )


async def count_products(db: Db, book_id: BookId, query: ProductQuery) -> int:
    """How many products fit."""
    where = _where(book_id, query)
    source = _SEARCHED if query.search else _ALL
    return await db.fetchval("SELECT count(*) " + source + where.sql(), *where.args)


async def list_products(db: Db, book_id: BookId, query: ProductQuery, page: Page) -> list[Product]:
    """One page of the products that fit: by name when searched, else the newest first."""
    where = _where(book_id, query)
    source, by_page, by_row = _ALL, " ORDER BY p.id DESC", " ORDER BY p.id DESC"
    if query.search:
        source = _SEARCHED
        by_page, by_row = " ORDER BY lower(p.name), p.id", " ORDER BY lower(p.name), p.id"
    conditions = where.sql()
    # The page is cut before anything is nested, so that rows passed over cost no more than that.
    limit = " LIMIT " + where.slot(page.per_page)
    rows = await db.fetch(
        "WITH page AS (SELECT p.* "
        + source
        + conditions
        + by_page
        + limit
        + " OFFSET "
        + where.slot(page.offset)
        + ")"
        + weighed(_SHOWN + by_row + limit, *_JSON),
        *where.args,
    )
    return [_listed(row) for row in rows]


async def list_changed(
    db: Db, book_id: BookId, query: ProductQuery, position: Position | None, count: int
) -> list[Product]:
    """So many of the products that fit after a place, the oldest change first."""
    where = and_after(_where(book_id, query), "p.updated_at, p.id", position)
    source = _SEARCHED if query.search else _ALL
    by_change: LiteralString = " ORDER BY p.updated_at, p.id LIMIT " + where.slot(count)
    rows = await db.fetch(
        "WITH page AS (SELECT p.* "
        + source
        + where.sql()
        + by_change
        + ")"
        + weighed(_SHOWN + by_change, *_JSON),
        *where.args,
    )
    return [_listed(row) for row in rows]


async def find_product_of(db: Db, book_id: BookId, variant_id: VariantId) -> UUID | None:
    """The product of a variant that is there."""
    return await db.fetchval(
        """
        SELECT v.product_id FROM variants v
        WHERE v.book_id = $1 AND v.id = $2 AND v.deleted_at IS NULL
        """,
        book_id,
        variant_id,
    )


async def upsert_products(
    db: Db,
    book_id: BookId,
    configs: Sequence[Configuration],
    now: datetime,
    *,
    gone: Sequence[UUID] = (),
) -> None:
    """Write products with all that belongs to them; variants that are `gone` go."""
    await db.execute(_UPSERT, book_id, document(configs), now, gone)


def document(configs: Sequence[Configuration]) -> str:
    """The input of `_UPSERT`: a flat list for each table."""
    found: dict[str, list[object]] = {name: [] for name in _TABLES}
    for config in configs:
        found["products"].append({name: getattr(config, name) for name in _COLUMNS})
        for variant in config.variants:
            found["variants"].append({**msgspec.structs.asdict(variant), "product_id": config.id})
            found["prices"] += [
                {"variant_id": variant.id, "store_id": store_id, "price": price}
                for store_id, price in variant.prices.items()
            ]
        found["groups"] += [
            {"product_id": config.id, "group_id": group_id, "position": index}
            for index, group_id in enumerate(config.group_ids)
        ]
        found["parts"] += [
            {
                "product_id": config.id,
                "variant_id": part.variant_id,
                "quantity": part.quantity,
                "position": index,
            }
            for index, part in enumerate(config.parts)
        ]
    return encode(found).decode()


_NESTED = ("variants", "group_ids", "parts")
_COLUMNS = [name for name in Configuration.__struct_fields__ if name not in _NESTED]
_TABLES = ("products", "variants", "prices", "groups", "parts")
_UPSERT = """
    WITH product AS MATERIALIZED (
        SELECT * FROM json_to_recordset($2::json -> 'products') AS g (id uuid, name text,
            type text, description text, category_id uuid, unit text, sku text,
            base_price numeric, tax_rate numeric, image_url text, is_active boolean,
            is_extra_only boolean)
    ), variant AS MATERIALIZED (
        SELECT * FROM json_to_recordset($2::json -> 'variants') AS g (id uuid, product_id uuid,
            name text, sku text, price numeric, image_url text, is_implicit boolean,
            is_active boolean, tracks_stock boolean, stock_policy text,
            low_stock_threshold numeric, position integer)
    ), price AS MATERIALIZED (
        SELECT * FROM json_to_recordset($2::json -> 'prices')
            AS g (variant_id uuid, store_id uuid, price numeric)
    ), link AS MATERIALIZED (
        SELECT * FROM json_to_recordset($2::json -> 'groups')
            AS g (product_id uuid, group_id uuid, position integer)
    ), part AS MATERIALIZED (
        SELECT * FROM json_to_recordset($2::json -> 'parts')
            AS g (product_id uuid, variant_id uuid, quantity numeric, position integer)
    ), old_price AS (
        DELETE FROM variant_prices r USING variant v
        WHERE r.book_id = $1 AND r.variant_id = v.id AND NOT EXISTS (
            SELECT FROM price n WHERE n.variant_id = r.variant_id AND n.store_id = r.store_id)
    ), old_link AS (
        DELETE FROM product_modifier_groups m USING product p
        WHERE m.book_id = $1 AND m.product_id = p.id AND NOT EXISTS (
            SELECT FROM link n
            WHERE n.product_id = m.product_id AND n.group_id = m.modifier_group_id)
    ), old_part AS (
        DELETE FROM components c USING product p
        WHERE c.book_id = $1 AND c.product_id = p.id AND NOT EXISTS (
            SELECT FROM part n
            WHERE n.product_id = c.product_id AND n.variant_id = c.variant_id)
    ), old_variant AS (
        UPDATE variants SET deleted_at = $3, updated_at = $3
        WHERE book_id = $1 AND id = ANY($4::uuid[])
    ), new_product AS (
        INSERT INTO products AS o (book_id, id, name, type, description, category_id, unit, sku,
            base_price, tax_rate, image_url, is_active, is_extra_only, created_at, updated_at)
        SELECT $1, id, name, type, description, category_id, unit, sku, base_price, tax_rate,
            image_url, is_active, is_extra_only, $3, $3
        FROM product
        ON CONFLICT (book_id, id) DO UPDATE SET (name, type, description, category_id, unit, sku,
            base_price, tax_rate, image_url, is_active, is_extra_only, updated_at) = (
            excluded.name, excluded.type, excluded.description, excluded.category_id,
            excluded.unit, excluded.sku, excluded.base_price, excluded.tax_rate,
            excluded.image_url, excluded.is_active, excluded.is_extra_only,
            changed_at(o.updated_at, $3))
        WHERE o.book_id = $1
    ), new_variant AS (
        INSERT INTO variants AS o (book_id, id, product_id, name, sku, price, image_url,
            is_implicit, is_active, tracks_stock, stock_policy, low_stock_threshold, position,
            created_at, updated_at)
        SELECT $1, id, product_id, name, sku, price, image_url, is_implicit, is_active,
            tracks_stock, stock_policy, low_stock_threshold, position, $3, $3
        FROM variant
        ON CONFLICT (book_id, id) DO UPDATE SET (name, sku, price, image_url, is_implicit,
            is_active, tracks_stock, stock_policy, low_stock_threshold, position, updated_at) = (
            excluded.name, excluded.sku, excluded.price, excluded.image_url,
            excluded.is_implicit, excluded.is_active, excluded.tracks_stock,
            excluded.stock_policy, excluded.low_stock_threshold, excluded.position, $3)
        WHERE (o.name, o.sku, o.price, o.image_url, o.is_implicit, o.is_active, o.tracks_stock,
            o.stock_policy, o.low_stock_threshold, o.position) IS DISTINCT FROM (
            excluded.name, excluded.sku, excluded.price, excluded.image_url,
            excluded.is_implicit, excluded.is_active, excluded.tracks_stock,
            excluded.stock_policy, excluded.low_stock_threshold, excluded.position)
    ), new_price AS (
        INSERT INTO variant_prices (book_id, variant_id, store_id, price)
        SELECT $1, variant_id, store_id, price FROM price
        ON CONFLICT (book_id, variant_id, store_id) DO UPDATE SET price = excluded.price
    ), new_link AS (
        INSERT INTO product_modifier_groups (book_id, product_id, modifier_group_id, position)
        SELECT $1, product_id, group_id, position FROM link
        ON CONFLICT (book_id, product_id, modifier_group_id)
            DO UPDATE SET position = excluded.position
    )
    INSERT INTO components (book_id, product_id, variant_id, quantity, position)
    SELECT $1, product_id, variant_id, quantity, position FROM part
    ON CONFLICT (book_id, product_id, variant_id)
        DO UPDATE SET quantity = excluded.quantity, position = excluded.position
"""


async def delete_product(db: Db, book_id: BookId, product_id: ProductId, now: datetime) -> str:
    """A product and its variants leave every list; sold lines keep its name. Since when."""
    return await db.fetchval(
        """
        WITH variant AS (
            UPDATE variants SET deleted_at = $3, updated_at = $3
            WHERE book_id = $1 AND product_id = $2 AND deleted_at IS NULL
        )
        UPDATE products SET deleted_at = $3, updated_at = changed_at(updated_at, $3)
        WHERE book_id = $1 AND id = $2 RETURNING iso(updated_at)
        """,
        book_id,
        product_id,
        now,
    )
