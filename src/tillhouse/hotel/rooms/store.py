"""The tables of room types and rooms, and the statements that bookings need."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.hotel.rooms.rules import RoomFields, RoomTypeFacts, StayInRoom
from tillhouse.hotel.rooms.types import HotelRoom, RoomType
from tillhouse.kit.ids import BookId, BookKey

# Reservations keep a type that is deleted.
ROOM_TYPES = BookTable(
    "hotel_room_types t",
    RoomType,
    shown="""t.name, t.capacity, t.rate, t.description,
        (SELECT count(*) FROM hotel_rooms r WHERE r.book_id = t.book_id
            AND r.room_type_id = t.id AND r.deleted_at IS NULL) AS rooms_count""",
    order="lower(t.name), t.id",
    fields=RoomTypeFacts,
)

# By number, the shorter ones first; the number of a deleted room is free again.
ROOMS = BookTable(
    "hotel_rooms r",
    HotelRoom,
    shown="""r.room_type_id, t.name AS room_type_name, r.number, r.floor, r.status, r.notes,
        v.id AS reservation_id, v.guest_name""",
    joins="""
        JOIN hotel_room_types t ON t.book_id = r.book_id AND t.id = r.room_type_id
        LEFT JOIN hotel_reservations v
            ON v.book_id = r.book_id AND v.room_id = r.id AND v.status = 'checked_in'""",
    order="length(r.number), lower(r.number), r.id",
    made_with=("room_type_id",),
    fields=RoomFields,
    filters={"room_type_id": "r.room_type_id = $", "status": "r.status = $"},
)


async def lock_type(db: Db, book_id: BookId, room_type_id: UUID) -> bool:
    """Lock a room type against bookings and changes of its rooms; whether there is one."""
    return await db.execute_one(
        """
        SELECT id FROM hotel_room_types
        WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE
        """,
        book_id,
        room_type_id,
    )


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


async def lock_room(db: Db, book_id: BookId, room_id: UUID) -> Record | None:
    """The status and number of a room, locked until the transaction ends."""
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


async def lock_open_stays(db: Db, book_id: BookId, room_id: UUID) -> int:
    """Lock the stays that are booked or checked in there; how many they are."""
    rows = await db.fetch(
        """
        SELECT id FROM hotel_reservations
        WHERE book_id = $1 AND room_id = $2 AND status IN ('booked', 'checked_in')
        ORDER BY id FOR NO KEY UPDATE
        """,
        book_id,
        room_id,
    )
    return len(rows)


async def list_open_stays(db: Db, book_id: BookId, room_id: UUID) -> list[StayInRoom]:
    """The stays that are booked or checked in there, by their days."""
    rows = await db.fetch(
        """
        SELECT id, short_code, guest_name, status, is_room_chosen, check_in_on AS since,
            check_out_on AS until
        FROM hotel_reservations
        WHERE book_id = $1 AND room_id = $2 AND status IN ('booked', 'checked_in')
        ORDER BY check_in_on
        """,
        book_id,
        room_id,
    )
    return [StayInRoom(**row) for row in rows]


async def find_other_rooms(db: Db, book_id: BookId, room_id: UUID) -> dict[UUID, UUID]:
    """Another free room of the type for each booking of a room, where there is one.

    Stays of one room don't overlap, so two of them may get the same room. Of the stays in another
    room the last that begins before the end of one is the only one that can be in its way.
    """
    rows = await db.fetch(
        """
        SELECT v.id, f.id AS room_id FROM hotel_reservations v
        CROSS JOIN LATERAL (
            SELECT r.id FROM hotel_rooms r
            LEFT JOIN LATERAL (
                SELECT b.check_out_on FROM hotel_reservations b
                WHERE b.book_id = r.book_id AND b.room_id = r.id
                    AND b.status IN ('booked', 'checked_in') AND b.check_in_on < v.check_out_on
                ORDER BY b.check_in_on DESC LIMIT 1) b ON true
            WHERE r.book_id = v.book_id AND r.room_type_id = v.room_type_id
                AND r.deleted_at IS NULL AND r.status <> 'out_of_service' AND r.id <> v.room_id
                AND (b.check_out_on <= v.check_in_on) IS NOT FALSE
            ORDER BY least(v.check_in_on - b.check_out_on, 1000), length(r.number),
                lower(r.number), r.id
            LIMIT 1) f
        WHERE v.book_id = $1 AND v.room_id = $2 AND v.status = 'booked'
        """,
        book_id,
        room_id,
    )
    return {row["id"]: row["room_id"] for row in rows}


async def find_numbers(db: Db, book_id: BookId, room_ids: Sequence[UUID]) -> dict[UUID, str]:
    """The numbers of some rooms."""
    rows = await db.fetch(
        "SELECT id, number FROM hotel_rooms WHERE book_id = $1 AND id = ANY($2)", book_id, room_ids
    )
    return {row["id"]: row["number"] for row in rows}
