"""The one statement that gathers what a new order rests on."""

from collections import defaultdict
from decimal import Decimal
from typing import LiteralString, TypeVar
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.orders.facts import (
    ComponentFacts,
    Earlier,
    Facts,
    GroupFacts,
    OptionFacts,
    ProductFacts,
    SessionFacts,
    StoreFacts,
    Trade,
    VariantFacts,
)
from tillhouse.orders.types import CustomerShown, TagShown, TermShown

T = TypeVar("T")

# Every parameter has its type, also in a statement that doesn't ask for what it names.
_GIVEN: LiteralString = """
    WITH given AS (
        SELECT $2::uuid, $3::text, $4::uuid, $5::uuid, $6::uuid, $7::uuid, $8::uuid[], $9::uuid[],
            $10::uuid[], $11::uuid[], $12::text, $13::uuid[]
    ), place AS (
        SELECT s.id, s.name, s.is_active, s.time_zone, s.preparation_minutes FROM stores s
        WHERE s.book_id = $1 AND s.deleted_at IS NULL AND """

_PLACES: dict[str, LiteralString] = {
    "id": "s.id = $2",
    "name": "lower(s.name) = lower($3)",
    "none": "false",
}

_TRADE: LiteralString = """
    )
    SELECT json_build_object('type', t.type, 'currency', t.currency,
            'time_zone', t.time_zone, 'tax_inclusive', t.tax_inclusive,
            'stock_policy', t.stock_policy, 'restocks_cancelled', t.restocks_cancelled
        ) AS trade,
        (SELECT row_to_json(place) FROM place) AS store,
        EXISTS (SELECT FROM stage_messages g
            WHERE g.book_id = $1 AND g.stage = 'queued' AND g.is_sent) AS tells_queued"""

_CUSTOMER: LiteralString = """,
        (SELECT json_build_object('id', c.id, 'name', c.name, 'phoneNumber', c.phone_number,
                'whatsappNumber', c.whatsapp_number)
            FROM customers c
            WHERE c.book_id = $1 AND c.id = $4 AND c.deleted_at IS NULL) AS customer"""

_SESSION: LiteralString = """,
        (SELECT json_build_object('status', s.status, 'label', d.label,
                'store_id', d.store_id)
            FROM table_sessions s
            JOIN dining_tables d ON d.book_id = $1 AND d.id = s.table_id
            WHERE s.book_id = $1 AND s.id = $5) AS session"""

_SERVER: LiteralString = """,
        (SELECT u.name FROM members m JOIN users u ON u.id = m.user_id
            WHERE m.business_id = t.id AND m.user_id = $6) AS server_name"""

_TERM: LiteralString = """,
        (SELECT json_build_object('id', a.id, 'name', a.name) FROM academic_terms a
            WHERE a.book_id = $1 AND a.id = $7 AND a.deleted_at IS NULL) AS term"""

_PRODUCTS: LiteralString = """,
        (SELECT json_agg(json_build_object('id', p.id, 'name', p.name, 'type', p.type,
                'category_id', p.category_id, 'base_price', p.base_price,
                'tax_rate', p.tax_rate, 'image_url', p.image_url,
                'is_active', p.is_active, 'is_extra_only', p.is_extra_only))
            FROM products p
            WHERE p.book_id = $1 AND p.id = ANY($8) AND p.deleted_at IS NULL) AS products,
        (SELECT json_agg(variant) FROM (
            SELECT v.id, v.product_id, p.name AS product_name, v.name, v.is_implicit,
                v.is_active AND p.deleted_at IS NULL AS is_active, v.price,
                (SELECT vp.price FROM variant_prices vp WHERE vp.book_id = $1
                    AND vp.variant_id = v.id AND vp.store_id = (SELECT id FROM place)
                ) AS store_price,
                v.image_url, v.tracks_stock, v.stock_policy, v.low_stock_threshold,
                l.variant_id IS NOT NULL AS has_level, l.store_id AS level_store_id
            FROM (
                SELECT unnest($9) AS id
                UNION SELECT b.id FROM variants b
                WHERE b.book_id = $1 AND b.product_id = ANY($10) AND b.deleted_at IS NULL
                UNION SELECT c.variant_id FROM components c
                WHERE c.book_id = $1 AND c.product_id = ANY($8)
            ) w
            JOIN variants v ON v.book_id = $1 AND v.id = w.id AND v.deleted_at IS NULL
            JOIN products p ON p.book_id = $1 AND p.id = v.product_id
            LEFT JOIN LATERAL (
                SELECT s.variant_id, s.store_id FROM stock_levels s
                WHERE v.tracks_stock AND s.book_id = $1 AND s.variant_id = v.id
                    AND (s.store_id IS NULL OR s.store_id = (SELECT id FROM place))
                ORDER BY s.store_id IS NULL LIMIT 1
            ) l ON true) variant) AS variants,
        (SELECT json_agg(json_build_object('product_id', c.product_id,
                'variant_id', c.variant_id, 'quantity', c.quantity))
            FROM components c
            WHERE c.book_id = $1 AND c.product_id = ANY($8)) AS components,
        (SELECT json_agg(json_build_object('product_id', r.product_id, 'id', g.id,
                'name', g.name, 'min_choices', g.min_choices,
                'max_choices', g.max_choices) ORDER BY r.position, g.id)
            FROM product_modifier_groups r
            JOIN modifier_groups g ON g.book_id = $1 AND g.id = r.modifier_group_id
            WHERE r.book_id = $1 AND r.product_id = ANY($8)
                AND g.deleted_at IS NULL) AS groups"""

_OPTIONS: LiteralString = """,
        (SELECT json_agg(json_build_object('id', o.id,
                'modifier_group_id', o.modifier_group_id, 'name', o.name,
                'price_delta', o.price_delta, 'is_active', o.is_active))
            FROM modifier_options o WHERE o.book_id = $1 AND o.id = ANY($11)
                AND o.deleted_at IS NULL) AS options"""

_TAGS: LiteralString = """,
        (SELECT json_agg(json_build_object('id', g.id, 'name', g.name, 'slug', g.slug))
            FROM tags g WHERE g.book_id = $1 AND g.id = ANY($13)) AS tags"""

_EARLIER: LiteralString = """,
        (SELECT json_build_object('id', e.id,
                'fingerprint', encode(e.idempotency_fingerprint, 'hex'))
            FROM orders e WHERE e.book_id = $1 AND e.idempotency_key = $12) AS earlier"""

_OF_BUSINESS: LiteralString = """
    FROM books k JOIN businesses t ON t.id = k.business_id WHERE k.id = $1
"""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the request names: looked up all at once."""

    store_id: UUID | None = None
    store_name: str | None = None
    customer_id: UUID | None = None
    session_id: UUID | None = None
    server_id: UUID | None = None
    term_id: UUID | None = None
    products: list[UUID]
    variants: list[UUID]
    # Products that are named without a variant.
    bare_products: list[UUID]
    options: list[UUID]
    tags: list[UUID]
    key: str | None = None


class _Product(msgspec.Struct, kw_only=True):
    id: UUID
    name: str
    type: str
    category_id: UUID | None
    base_price: Decimal
    tax_rate: Decimal
    image_url: str | None
    is_active: bool
    is_extra_only: bool


class _Group(GroupFacts, frozen=True, kw_only=True):
    product_id: UUID


class _Component(msgspec.Struct, kw_only=True):
    product_id: UUID
    variant_id: UUID
    quantity: Decimal


async def find_facts(db: Db, book_id: UUID, wanted: Wanted) -> Facts:
    """Business, store, customer, session, products, prices, stock places, options."""
    row = await db.ahead(
        _statement(wanted),
        book_id,
        wanted.store_id,
        wanted.store_name,
        wanted.customer_id,
        wanted.session_id,
        wanted.server_id,
        wanted.term_id,
        wanted.products,
        wanted.variants,
        wanted.bare_products,
        wanted.options,
        wanted.key,
        wanted.tags,
    )
    assert row is not None, "every call has a book"  # noqa: S101
    return _facts(row)


def _statement(wanted: Wanted) -> LiteralString:
    """The parts that this order takes; what nobody named isn't looked for."""
    by = "id" if wanted.store_id else "name" if wanted.store_name is not None else "none"
    parts: list[tuple[object, LiteralString]] = [
        (wanted.customer_id, _CUSTOMER),
        (wanted.session_id, _SESSION),
        (wanted.server_id, _SERVER),
        (wanted.term_id, _TERM),
        (wanted.products, _PRODUCTS),
        (wanted.options, _OPTIONS),
        (wanted.tags, _TAGS),
        (wanted.key, _EARLIER),
    ]
    sql = _GIVEN + _PLACES[by] + _TRADE
    for is_named, part in parts:
        if is_named:
            sql += part
    return sql + _OF_BUSINESS


def _facts(row: Record) -> Facts:
    options = _list(row.get("options"), OptionFacts)
    return Facts(
        trade=msgspec.json.decode(row["trade"], type=Trade),
        store=_one(row["store"], StoreFacts),
        customer=_one(row.get("customer"), CustomerShown),
        session=_one(row.get("session"), SessionFacts),
        server_name=row.get("server_name"),
        term=_one(row.get("term"), TermShown),
        products=_products(row) if row.get("products") else {},
        options={option.id: option for option in options},
        tags={tag.id: tag for tag in _list(row.get("tags"), TagShown)},
        tells_queued=row["tells_queued"],
        earlier=_one(row.get("earlier"), Earlier),
    )


def _one(text: str | None, type_: type[T]) -> T | None:
    return msgspec.json.decode(text, type=type_) if text else None


def _list(text: str | None, type_: type[T]) -> list[T]:
    return msgspec.json.decode(text, type=list[type_]) if text else []


def _products(row: Record) -> dict[UUID, ProductFacts]:
    variants = {one.id: one for one in _list(row["variants"], VariantFacts)}
    by_product: defaultdict[UUID, list[VariantFacts]] = defaultdict(list)
    for one in variants.values():
        by_product[one.product_id].append(one)
    groups: defaultdict[UUID, list[GroupFacts]] = defaultdict(list)
    for group in _list(row["groups"], _Group):
        groups[group.product_id].append(group)
    components: defaultdict[UUID, list[ComponentFacts]] = defaultdict(list)
    for part in _list(row["components"], _Component):
        if part.variant_id in variants:
            fact = ComponentFacts(quantity=part.quantity, variant=variants[part.variant_id])
            components[part.product_id].append(fact)
    return {
        one.id: ProductFacts(
            **msgspec.structs.asdict(one),
            groups=groups[one.id],
            variants=by_product[one.id],
            components=components[one.id],
        )
        for one in _list(row["products"], _Product)
    }
