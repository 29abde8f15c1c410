"""The one statement that gathers what new orders rest on."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, LiteralString, TypeVar
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import (
    BookId,
    CategoryId,
    CustomerId,
    ProductId,
    StoreId,
    TermId,
    VariantId,
)
from tillhouse.orders.recording.facts import (
    Common,
    ComponentFacts,
    Earlier,
    GroupFacts,
    OptionFacts,
    ProductFacts,
    RecordingFacts,
    RoomFacts,
    SessionFacts,
    StayFacts,
    StoreFacts,
    Trade,
    VariantFacts,
)
from tillhouse.orders.types import CustomerShown, TagShown, TermShown

T = TypeVar("T")
K = TypeVar("K")

# Every parameter has its type, also in a statement that doesn't ask for what it names.
_GIVEN: LiteralString = """
    WITH given AS (
        SELECT $2::uuid, $3::text, $4::uuid[], $5::uuid[], $6::uuid[], $7::uuid[], $8::uuid[],
            $9::uuid[], $10::uuid[], $11::uuid[], $12::text[], $13::uuid[], $14::text[],
            $15::uuid[], $16::uuid[]
    ), wanted_store AS (
        SELECT s.id, s.name, s.is_active, s.time_zone, s.preparation_minutes FROM stores s
        WHERE s.book_id = $1 AND s.deleted_at IS NULL AND """

_STORES: dict[str, LiteralString] = {
    "id": "s.id = $2",
    "name": "lower(s.name) = lower($3)",
    "none": "false",
}

_TRADE: LiteralString = """
    )
    SELECT json_build_object('type', t.type, 'currency', t.currency,
            'time_zone', t.time_zone, 'tax_inclusive', t.tax_inclusive,
            'stock_policy', t.stock_policy, 'restocks_cancelled', t.restocks_cancelled,
            'service_charge_percent', t.service_charge_percent,
            'service_charge_modes', t.service_charge_modes
        ) AS trade,
        (SELECT row_to_json(wanted_store) FROM wanted_store) AS store,
        EXISTS (SELECT FROM stage_messages g
            WHERE g.book_id = $1 AND g.stage = 'queued' AND g.is_sent) AS tells_queued"""

_CUSTOMERS: LiteralString = """,
        (SELECT json_agg(json_build_object('id', c.id, 'name', c.name,
                'phoneNumber', c.phone_number, 'whatsappNumber', c.whatsapp_number))
            FROM customers c
            WHERE c.book_id = $1 AND c.id = ANY($4) AND c.deleted_at IS NULL) AS customers"""

_NAMED: LiteralString = """,
        (SELECT json_object_agg(n.name, json_build_object('id', c.id, 'name', c.name,
                'phoneNumber', c.phone_number, 'whatsappNumber', c.whatsapp_number))
            FROM unnest($14::text[]) AS n (name)
            CROSS JOIN LATERAL (
                SELECT p.id, p.name, p.phone_number, p.whatsapp_number FROM customers p
                WHERE p.book_id = $1 AND lower(p.name) = lower(n.name) AND p.deleted_at IS NULL
                ORDER BY p.id LIMIT 1
            ) c) AS named"""

_SESSIONS: LiteralString = """,
        (SELECT json_agg(json_build_object('id', s.id, 'status', s.status, 'label', d.label,
                'store_id', d.store_id))
            FROM table_sessions s
            JOIN dining_tables d ON d.book_id = $1 AND d.id = s.table_id
            WHERE s.book_id = $1 AND s.id = ANY($5)) AS sessions"""

_SERVERS: LiteralString = """,
        (SELECT json_object_agg(u.id, u.name) FROM members m JOIN users u ON u.id = m.user_id
            WHERE m.business_id = t.id AND m.user_id = ANY($6)) AS servers"""

_TERMS: LiteralString = """,
        (SELECT json_agg(json_build_object('id', a.id, 'name', a.name)) FROM academic_terms a
            WHERE a.book_id = $1 AND a.id = ANY($7) AND a.deleted_at IS NULL) AS terms"""

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
                    AND vp.variant_id = v.id AND vp.store_id = (SELECT id FROM wanted_store)
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
                    AND (s.store_id IS NULL OR s.store_id = (SELECT id FROM wanted_store))
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
        (SELECT json_object_agg(e.idempotency_key, json_build_object('id', e.id,
                'fingerprint', encode(e.idempotency_fingerprint, 'hex')))
            FROM orders e WHERE e.book_id = $1 AND e.idempotency_key = ANY($12)) AS earlier"""

_STAY: LiteralString = """
    json_build_object('id', v.id, 'status', v.status, 'short_code', v.short_code,
        'room_id', v.room_id, 'room_number', r.number,
        'customer', json_build_object('id', c.id, 'name', c.name,
            'phoneNumber', c.phone_number, 'whatsappNumber', c.whatsapp_number))
"""

_STAYS: LiteralString = (
    """,
        (SELECT json_agg("""
    + _STAY
    + """)
            FROM hotel_reservations v
            JOIN hotel_rooms r ON r.book_id = $1 AND r.id = v.room_id
            JOIN hotel_guests g ON g.book_id = $1 AND g.id = v.guest_id
            JOIN customers c ON c.book_id = $1 AND c.id = g.customer_id
            WHERE v.book_id = $1 AND v.id = ANY($15)) AS stays"""
)

_ROOMS: LiteralString = (
    """,
        (SELECT json_agg(json_build_object('id', r.id, 'number', r.number,
                'stay', CASE WHEN v.id IS NOT NULL THEN """
    + _STAY
    + """ END))
            FROM hotel_rooms r
            LEFT JOIN hotel_reservations v
                ON v.book_id = $1 AND v.room_id = r.id AND v.status = 'checked_in'
            LEFT JOIN hotel_guests g ON g.book_id = $1 AND g.id = v.guest_id
            LEFT JOIN customers c ON c.book_id = $1 AND c.id = g.customer_id
            WHERE r.book_id = $1 AND r.id = ANY($16) AND r.deleted_at IS NULL) AS rooms"""
)

_OF_BUSINESS: LiteralString = """
    FROM books k JOIN businesses t ON t.id = k.business_id WHERE k.id = $1
"""


class NamedIds(msgspec.Struct, frozen=True, kw_only=True):
    """The ids that one request names besides its store."""

    customer_id: CustomerId | None = None
    # Instead of the id.
    customer_name: str | None = None
    session_id: UUID | None = None
    server_id: UUID | None = None
    term_id: TermId | None = None
    reservation_id: UUID | None = None
    room_id: UUID | None = None
    products: list[UUID]
    variants: list[UUID]
    # Products that are named without a variant.
    bare_products: list[UUID]
    options: list[UUID]
    tags: list[UUID]
    key: str | None = None

    @property
    def names_no_customer(self) -> bool:
        """Whether the request names no customer."""
        return self.customer_id is None and self.customer_name is None


class _Product(msgspec.Struct, kw_only=True):
    id: UUID
    name: str
    type: str
    category_id: CategoryId | None
    base_price: Decimal
    tax_rate: Decimal
    image_url: str | None
    is_active: bool
    is_extra_only: bool


class _Group(GroupFacts, frozen=True, kw_only=True):
    product_id: ProductId


class _Session(SessionFacts, frozen=True, kw_only=True):
    id: UUID


class _Component(msgspec.Struct, kw_only=True):
    product_id: ProductId
    variant_id: VariantId
    quantity: Decimal


class FactsOfOrders(msgspec.Struct, frozen=True):
    """The facts that were found for several orders."""

    common: Common
    customers: dict[UUID, CustomerShown]
    # By the names that the orders give, in whatever case: the oldest of each.
    named: dict[str, CustomerShown]
    sessions: dict[UUID, SessionFacts]
    servers: dict[UUID, str]
    terms: dict[UUID, TermShown]
    stays: dict[UUID, StayFacts]
    rooms: dict[UUID, RoomFacts]
    earlier: dict[str, Earlier]

    def of(self, wanted: NamedIds) -> RecordingFacts:
        """The facts of one of them; a stay is charged to its guest, unless somebody is named."""
        room = _named(self.rooms, wanted.room_id)
        stay = _named(self.stays, wanted.reservation_id)
        if stay is None and wanted.reservation_id is None and room is not None:
            stay = room.stay
        return RecordingFacts(
            **_fields(self.common),
            customer=_named(self.customers, wanted.customer_id)
            or _named(self.named, wanted.customer_name)
            or (stay.customer if stay is not None and wanted.names_no_customer else None),
            session=_named(self.sessions, wanted.session_id),
            server_name=_named(self.servers, wanted.server_id),
            term=_named(self.terms, wanted.term_id),
            stay=stay,
            room=room,
            earlier=_named(self.earlier, wanted.key),
        )


StoreKey = tuple[BookId, StoreId | None, str | None]
"""The book and the store, by id or by name, that orders looked up together have in common."""


async def find_facts(db: Db, key: StoreKey, wants: Sequence[NamedIds]) -> FactsOfOrders:
    """Business, store, customers, sessions, products, prices, levels of stock, options."""
    named = {name: _all(wants, name) for name in _ONE + _MANY}
    row = await db.read_before(_statement(key, named), *key, *(named[name] for name in _ORDER))
    assert row is not None, "every call has a book"  # noqa: S101
    return _found(row)


# Of what a request names one of, and of what several.
_ONE = (
    "customer_id", "customer_name", "session_id", "server_id", "term_id", "key",
    "reservation_id", "room_id",
)  # fmt: skip
_MANY = ("products", "variants", "bare_products", "options", "tags")
# Behind book and store, which are $1 to $3.
_ORDER = (
    "customer_id", "session_id", "server_id", "term_id", "products", "variants", "bare_products",
    "options", "key", "tags", "customer_name", "reservation_id", "room_id",
)  # fmt: skip


def _all(wants: Sequence[NamedIds], name: str) -> list[Any]:
    """The ids that they name, each once."""
    if name in _ONE:
        return list({one for wanted in wants if (one := getattr(wanted, name)) is not None})
    return list({one for wanted in wants for one in getattr(wanted, name)})


def _statement(key: StoreKey, named: Mapping[str, Sequence[Any]]) -> LiteralString:
    """The parts that these orders take; ids that none of them names aren't looked for."""
    _, store_id, store_name = key
    by = "id" if store_id else "name" if store_name is not None else "none"
    sql = _GIVEN + _STORES[by] + _TRADE
    for name, part in _PARTS.items():
        if named[name]:
            sql += part
    return sql + _OF_BUSINESS


_PARTS: dict[str, LiteralString] = {
    "customer_id": _CUSTOMERS,
    "customer_name": _NAMED,
    "session_id": _SESSIONS,
    "server_id": _SERVERS,
    "term_id": _TERMS,
    "products": _PRODUCTS,
    "options": _OPTIONS,
    "tags": _TAGS,
    "key": _EARLIER,
    "reservation_id": _STAYS,
    "room_id": _ROOMS,
}


def _found(row: Record) -> FactsOfOrders:
    return FactsOfOrders(
        common=Common(
            trade=msgspec.json.decode(row["trade"], type=Trade),
            store=_one(row["store"], StoreFacts),
            products=_products(row) if row.get("products") else {},
            options={option.id: option for option in _list(row.get("options"), OptionFacts)},
            tags={tag.id: tag for tag in _list(row.get("tags"), TagShown)},
            tells_queued=row["tells_queued"],
        ),
        customers={one.id: one for one in _list(row.get("customers"), CustomerShown)},
        named=_one(row.get("named"), dict[str, CustomerShown]) or {},
        sessions={one.id: one for one in _list(row.get("sessions"), _Session)},
        servers=_one(row.get("servers"), dict[UUID, str]) or {},
        terms={one.id: one for one in _list(row.get("terms"), TermShown)},
        stays={one.id: one for one in _list(row.get("stays"), StayFacts)},
        rooms={one.id: one for one in _list(row.get("rooms"), RoomFacts)},
        earlier=_one(row.get("earlier"), dict[str, Earlier]) or {},
    )


def _named(found: Mapping[K, T], name: K | None) -> T | None:
    return None if name is None else found.get(name)


def _fields(common: Common) -> dict[str, Any]:
    return {name: getattr(common, name) for name in Common.__struct_fields__}


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
