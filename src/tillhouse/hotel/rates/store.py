"""Statements on rate plans."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.hotel.rates.rules import RatePlanFacts
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.page import Page

_PLAN: LiteralString = """
    SELECT p.id, p.room_type_id, p.name, p.price, p.weekday_prices::text AS weekday_prices,
        p.taxes::text AS taxes, iso(p.created_at) AS created_at, iso(p.updated_at) AS updated_at
    FROM hotel_rate_plans p WHERE p.book_id = $1 AND p.deleted_at IS NULL
"""


async def insert_plan(
    db: Db, key: BookKey, room_type_id: UUID, facts: RatePlanFacts, now: datetime
) -> None:
    """A rate plan."""
    await db.execute(
        """
        INSERT INTO hotel_rate_plans (book_id, id, room_type_id, name, price, weekday_prices,
            taxes, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6::text::jsonb, $7::text::jsonb, $8, $8)
        """,
        *key,
        room_type_id,
        *msgspec.structs.astuple(facts),
        now,
    )


async def update_plan(db: Db, key: BookKey, facts: RatePlanFacts, now: datetime) -> None:
    """The stored fields of a rate plan."""
    await db.execute(
        """
        UPDATE hotel_rate_plans SET name = $3, price = $4, weekday_prices = $5::text::jsonb,
            taxes = $6::text::jsonb, updated_at = $7
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *msgspec.structs.astuple(facts),
        now,
    )


async def delete_plan(db: Db, key: BookKey, now: datetime) -> None:
    """Take a rate plan out of the list; reservations keep their prices."""
    await db.execute(
        "UPDATE hotel_rate_plans SET deleted_at = $3, updated_at = $3 "
        "WHERE book_id = $1 AND id = $2",
        *key,
        now,
    )


async def count_plans(db: Db, book_id: BookId, room_type_id: UUID | None) -> int:
    """How many rate plans fit."""
    where = Where(book_id).and_("p.room_type_id = $", room_type_id)
    return await db.fetchval(
        "SELECT count(*) FROM hotel_rate_plans p WHERE p.book_id = $1 AND p.deleted_at IS NULL"
        + where.sql(),
        *where.args,
    )


async def list_plans(
    db: Db, book_id: BookId, room_type_id: UUID | None, page: Page
) -> Sequence[Record]:
    """One page of the rate plans that fit, by name."""
    where = Where(book_id).and_("p.room_type_id = $", room_type_id)
    return await db.fetch(
        _PLAN
        + where.sql()
        + " ORDER BY lower(p.name), p.id LIMIT "
        + where.slot(page.per_page)
        + " OFFSET "
        + where.slot(page.offset),
        *where.args,
    )


async def show_plan(db: Db, book_id: BookId, rate_plan_id: UUID) -> Record | None:
    """One rate plan."""
    return await db.fetchrow(_PLAN + " AND p.id = $2", book_id, rate_plan_id)


async def lock_plan(db: Db, book_id: BookId, rate_plan_id: UUID) -> Record | None:
    """One rate plan, which nobody changes meanwhile."""
    return await db.fetchrow(_PLAN + " AND p.id = $2 FOR NO KEY UPDATE", book_id, rate_plan_id)
