"""Statements on groups of modifiers and their options."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import PAGE_BYTES, weighed
from tillhouse.kit.ids import BookId
from tillhouse.kit.json import encode
from tillhouse.kit.page import Page
from tillhouse.products.types import ModifierGroup, ModifierOption

_options: Callable[[str], Any] = msgspec.json.Decoder(list[ModifierOption]).decode

_GROUP = """
    SELECT g.id, g.name, g.min_choices, g.max_choices,
        (
            SELECT coalesce(json_agg(json_build_object('id', o.id, 'name', o.name,
                'priceDelta', o.price_delta, 'isActive', o.is_active)
                ORDER BY o.position, o.id), '[]')
            FROM modifier_options o
            WHERE o.book_id = g.book_id AND o.modifier_group_id = g.id AND o.deleted_at IS NULL
        ) AS options,
        iso(g.created_at) AS created_at, iso(g.updated_at) AS updated_at
    FROM modifier_groups g WHERE g.book_id = $1 AND g.deleted_at IS NULL
"""


def _shown(row: Record) -> ModifierGroup:
    return ModifierGroup(**{**row, "options": _options(row["options"])})


def _listed(row: Record) -> ModifierGroup:
    shown: dict[str, Any] = dict(row)
    del shown[PAGE_BYTES]
    shown["options"] = msgspec.Raw(row["options"].encode())
    return ModifierGroup(**shown)


async def show_group(db: Db, book_id: BookId, group_id: UUID) -> ModifierGroup | None:
    """One group."""
    row = await db.fetchrow(_GROUP + " AND g.id = $2", book_id, group_id)
    return _shown(row) if row else None


async def count_groups(db: Db, book_id: BookId) -> int:
    """How many groups there are."""
    return await db.fetchval(
        "SELECT count(*) FROM modifier_groups WHERE book_id = $1 AND deleted_at IS NULL", book_id
    )


async def list_groups(db: Db, book_id: BookId, page: Page) -> list[ModifierGroup]:
    """One page, the newest first."""
    rows = await db.fetch(
        """
        WITH page AS (
            SELECT p.id FROM modifier_groups p
            WHERE p.book_id = $1 AND p.deleted_at IS NULL
            ORDER BY p.id DESC LIMIT $2 OFFSET $3
        )
        """
        + weighed(
            _GROUP + " AND g.id IN (SELECT id FROM page) ORDER BY g.id DESC LIMIT $2", "options"
        ),
        book_id,
        page.per_page,
        page.offset,
    )
    # Their options pass as the JSON that they are: a page of them has very many.
    return [_listed(row) for row in rows]


async def lock_group(db: Db, book_id: BookId, group_id: UUID) -> bool:
    """Hold a group for change; whether it is there."""
    return await db.execute_one(
        """
        SELECT id FROM modifier_groups
        WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL
        FOR NO KEY UPDATE
        """,
        book_id,
        group_id,
    )


async def upsert_group(
    db: Db,
    book_id: BookId,
    group_id: UUID,
    what: tuple[str, int, int | None],
    options: Sequence[ModifierOption],
    now: datetime,
) -> None:
    """Write (name, least choices, most) and the options; those that aren't among them go."""
    await db.execute(
        """
        WITH given AS MATERIALIZED (
            SELECT (n.item ->> 'id')::uuid AS id, n.item ->> 'name' AS name,
                (n.item ->> 'priceDelta')::numeric AS price_delta,
                (n.item ->> 'isActive')::boolean AS is_active, n.place::integer AS position
            FROM json_array_elements($6::json) WITH ORDINALITY AS n (item, place)
        ), gone AS (
            UPDATE modifier_options o SET deleted_at = $7
            WHERE o.book_id = $1 AND o.modifier_group_id = $2 AND o.deleted_at IS NULL
                AND NOT EXISTS (SELECT FROM given n WHERE n.id = o.id)
        ), kept AS (
            INSERT INTO modifier_groups (book_id, id, name, min_choices, max_choices, created_at,
                updated_at)
            VALUES ($1, $2, $3, $4, $5, $7, $7)
            ON CONFLICT (book_id, id) DO UPDATE SET name = excluded.name,
                min_choices = excluded.min_choices, max_choices = excluded.max_choices,
                updated_at = excluded.updated_at
        )
        INSERT INTO modifier_options (book_id, id, modifier_group_id, name, price_delta,
            is_active, position)
        SELECT $1, id, $2, name, price_delta, is_active, position FROM given
        ON CONFLICT (book_id, id) DO UPDATE SET name = excluded.name,
            price_delta = excluded.price_delta, is_active = excluded.is_active,
            position = excluded.position
        """,
        book_id,
        group_id,
        *what,
        encode(options).decode(),
        now,
    )


async def delete_group(db: Db, book_id: BookId, group_id: UUID, now: datetime) -> None:
    """A group and its options leave every list; sold lines keep their names."""
    await db.execute(
        """
        WITH options AS (
            UPDATE modifier_options SET deleted_at = $3
            WHERE book_id = $1 AND modifier_group_id = $2 AND deleted_at IS NULL
        )
        UPDATE modifier_groups SET deleted_at = $3, updated_at = $3
        WHERE book_id = $1 AND id = $2
        """,
        book_id,
        group_id,
        now,
    )


async def find_product_with(db: Db, book_id: BookId, group_id: UUID) -> str | None:
    """The name of a product that offers the group."""
    return await db.fetchval(
        """
        SELECT p.name FROM product_modifier_groups m
        JOIN products p ON p.book_id = m.book_id AND p.id = m.product_id
        WHERE m.book_id = $1 AND m.modifier_group_id = $2 AND p.deleted_at IS NULL
        ORDER BY p.id LIMIT 1
        """,
        book_id,
        group_id,
    )
