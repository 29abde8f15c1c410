"""Statements on room types and rooms."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.hotel.rooms.rules import RoomFacts, RoomTypeFacts
from tillhouse.hotel.rooms.types import HotelRoom, RoomFilter, RoomType
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.page import Page

_TYPE: LiteralString = """
    SELECT t.id, t.name, t.capacity, t.rate, t.description,
        (SELECT count(*) FROM hotel_rooms r WHERE r.book_id = t.book_id
            AND r.room_type_id = t.id AND r.deleted_at IS NULL) AS rooms_count,
        iso(t.created_at) AS created_at, iso(t.updated_at) AS updated_at
    FROM hotel_room_types t WHERE t.book_id = $1 AND t.deleted_at IS NULL
"""
_ROOM: LiteralString = """
    SELECT r.id, r.room_type_id, t.name AS room_type_name, r.number, r.floor, r.status, r.notes,
        v.id AS reservation_id, v.guest_name,
        iso(r.created_at) AS created_at, iso(r.updated_at) AS updated_at
    FROM hotel_rooms r
    JOIN hotel_room_types t ON t.book_id = r.book_id AND t.id = r.room_type_id
    LEFT JOIN hotel_reservations v
        ON v.book_id = r.book_id AND v.room_id = r.id AND v.status = 'checked_in'
    WHERE r.book_id = $1 AND r.deleted_at IS NULL
"""


async def insert_type(db: Db, key: BookKey, facts: RoomTypeFacts, now: datetime) -> None:
    """A room type."""
    await db.execute(
        """
        INSERT INTO hotel_room_types (book_id, id, name, capacity, rate, description, created_at,
            updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
        """,
        *key,
        *msgspec.structs.astuple(facts),
        now,
    )


async def update_type(db: Db, key: BookKey, facts: RoomTypeFacts, now: datetime) -> None:
    """The stored fields of a room type."""
    await db.execute(
        """
        UPDATE hotel_room_types SET name = $3, capacity = $4, rate = $5, description = $6,
            updated_at = $7
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *msgspec.structs.astuple(facts),
        now,
    )


async def delete_type(db: Db, key: BookKey, now: datetime) -> None:
    """Take a room type out of the list; reservations keep it."""
    await db.execute(
        "UPDATE hotel_room_types SET deleted_at = $3, updated_at = $3 "
        "WHERE book_id = $1 AND id = $2",
        *key,
        now,
    )


async def count_types(db: Db, book_id: BookId) -> int:
    """How many room types there are."""
    return await db.fetchval(
        "SELECT count(*) FROM hotel_room_types WHERE book_id = $1 AND deleted_at IS NULL", book_id
    )


async def list_types(db: Db, book_id: BookId, page: Page) -> list[RoomType]:
    """One page of the room types, by name."""
    rows = await db.fetch(
        _TYPE + " ORDER BY lower(t.name), t.id LIMIT $2 OFFSET $3",
        book_id,
        page.per_page,
        page.offset,
    )
    return [RoomType(**row) for row in rows]


async def show_type(db: Db, book_id: BookId, room_type_id: UUID) -> RoomType | None:
    """One room type."""
    row = await db.fetchrow(_TYPE + " AND t.id = $2", book_id, room_type_id)
    return RoomType(**row) if row else None


async def lock_type(db: Db, book_id: BookId, room_type_id: UUID) -> bool:
    """Let nobody else book a room of the type, or change one, meanwhile; whether there is one."""
    found = await db.fetchval(
        """
        SELECT id FROM hotel_room_types
        WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE
        """,
        book_id,
        room_type_id,
    )
    return found is not None


async def lock_types(db: Db, book_id: BookId, room_type_ids: Sequence[UUID]) -> int:
    """The same for several, one after the other; how many of them there are."""
    rows = await db.fetch(
        """
        SELECT id FROM hotel_room_types
        WHERE book_id = $1 AND id = ANY($2) AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE
        """,
        book_id,
        room_type_ids,
    )
    return len(rows)


async def insert_room(
    db: Db, key: BookKey, room_type_id: UUID, facts: RoomFacts, now: datetime
) -> None:
    """A room."""
    await db.execute(
        """
        INSERT INTO hotel_rooms (book_id, id, room_type_id, number, floor, status, notes,
            created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
        """,
        *key,
        room_type_id,
        *msgspec.structs.astuple(facts),
        now,
    )


async def update_room(db: Db, key: BookKey, facts: RoomFacts, now: datetime) -> None:
    """The stored fields of a room."""
    await db.execute(
        """
        UPDATE hotel_rooms SET number = $3, floor = $4, status = $5, notes = $6, updated_at = $7
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *msgspec.structs.astuple(facts),
        now,
    )


async def update_dirty(db: Db, key: BookKey, now: datetime) -> None:
    """A room that somebody has left; out of service it stays so."""
    await db.execute(
        """
        UPDATE hotel_rooms SET status = 'dirty', updated_at = $3
        WHERE book_id = $1 AND id = $2 AND status = 'clean'
        """,
        *key,
        now,
    )


async def delete_room(db: Db, key: BookKey, now: datetime) -> None:
    """Take a room out of the list; its number is free again."""
    await db.execute(
        "UPDATE hotel_rooms SET deleted_at = $3, updated_at = $3 WHERE book_id = $1 AND id = $2",
        *key,
        now,
    )


async def count_rooms(db: Db, book_id: BookId, wanted: RoomFilter) -> int:
    """How many rooms fit."""
    where = (
        Where(book_id)
        .and_("r.room_type_id = $", wanted.room_type_id)
        .and_("r.status = $", wanted.status)
    )
    return await db.fetchval(
        "SELECT count(*) FROM hotel_rooms r WHERE r.book_id = $1 AND r.deleted_at IS NULL"
        + where.sql(),
        *where.args,
    )


async def list_rooms(db: Db, book_id: BookId, wanted: RoomFilter, page: Page) -> list[HotelRoom]:
    """One page of the rooms that fit, by number, the shorter ones first."""
    where = (
        Where(book_id)
        .and_("r.room_type_id = $", wanted.room_type_id)
        .and_("r.status = $", wanted.status)
    )
    rows = await db.fetch(
        _ROOM
        + where.sql()
        + " ORDER BY length(r.number), lower(r.number), r.id LIMIT "
        + where.slot(page.per_page)
        + " OFFSET "
        + where.slot(page.offset),
        *where.args,
    )
    return [HotelRoom(**row) for row in rows]


async def show_room(db: Db, book_id: BookId, room_id: UUID) -> HotelRoom | None:
    """One room."""
    row = await db.fetchrow(_ROOM + " AND r.id = $2", book_id, room_id)
    return HotelRoom(**row) if row else None


async def lock_room(db: Db, book_id: BookId, room_id: UUID) -> Record | None:
    """The status and number of a room, which nobody changes meanwhile."""
    return await db.fetchrow(
        """
        SELECT r.status, r.number FROM hotel_rooms r
        WHERE r.book_id = $1 AND r.id = $2 AND r.deleted_at IS NULL FOR NO KEY UPDATE
        """,
        book_id,
        room_id,
    )


async def has_open_reservation(db: Db, book_id: BookId, room_id: UUID) -> bool:
    """Whether somebody has booked the room, or is in it."""
    return await db.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM hotel_reservations
            WHERE book_id = $1 AND room_id = $2 AND status IN ('booked', 'checked_in'))
        """,
        book_id,
        room_id,
    )
