"""Statements on the ways in which rooms are sold: by the rate of their type, and by its plans."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Page

# $2 and $3 are a room type and a rate plan, or null: any. The rate of a type is no plan's.
_WAYS: LiteralString = """
    SELECT t.id AS room_type_id, t.name AS room_type_name, t.capacity, NULL::uuid AS rate_plan_id,
        NULL::text AS rate_plan_name, t.rate AS price, '{}' AS weekday_prices, '[]' AS taxes
    FROM hotel_room_types t
    WHERE t.book_id = $1 AND t.deleted_at IS NULL AND t.id = coalesce($2::uuid, t.id)
        AND $3::uuid IS NULL
    UNION ALL
    SELECT t.id, t.name, t.capacity, p.id, p.name, p.price, p.weekday_prices::text, p.taxes::text
    FROM hotel_room_types t
    JOIN hotel_rate_plans p
        ON p.book_id = t.book_id AND p.room_type_id = t.id AND p.deleted_at IS NULL
    WHERE t.book_id = $1 AND t.deleted_at IS NULL AND t.id = coalesce($2::uuid, t.id)
        AND p.id = coalesce($3::uuid, p.id)
"""


async def count_ways(
    db: Db, book_id: BookId, room_type_id: UUID | None, rate_plan_id: UUID | None
) -> Record:
    """How many ways there are, with the currency and the time zone of the book."""
    [row] = await db.fetch(
        "SELECT u.currency, u.time_zone, (SELECT count(*) FROM ("
        + _WAYS
        + """) w) AS total
        FROM books k JOIN businesses u ON u.id = k.business_id WHERE k.id = $1
        """,
        book_id,
        room_type_id,
        rate_plan_id,
    )
    return row


async def list_ways(
    db: Db, book_id: BookId, room_type_id: UUID | None, rate_plan_id: UUID | None, page: Page
) -> Sequence[Record]:
    """One page of them, by the name of the type; its rate first, then its plans by name."""
    return await db.fetch(
        "SELECT w.* FROM ("
        + _WAYS
        + """) w
        ORDER BY lower(w.room_type_name), w.room_type_id, lower(w.rate_plan_name) NULLS FIRST,
            w.rate_plan_id
        LIMIT $4 OFFSET $5
        """,
        book_id,
        room_type_id,
        rate_plan_id,
        page.per_page,
        page.offset,
    )
