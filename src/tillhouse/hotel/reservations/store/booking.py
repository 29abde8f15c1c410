"""Statements that book: the facts of a booking, and the room that is found for it."""

from datetime import date, datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.hotel.reservations.store.reading import SHOWN, SHOWN_FROM
from tillhouse.kit.ids import BookId


class BookingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A reservation as it is written, but for its room."""

    id: UUID
    short_code: str
    status: str
    group_id: UUID | None
    guest_id: UUID
    room_type_id: UUID
    rate_plan_id: UUID | None
    adults: int
    children: int
    check_in_on: date
    check_out_on: date
    nights: str
    taxes: str
    total_amount: object
    deposit_amount: object
    currency: str
    source: str
    notes: str | None
    checked_in_at: datetime | None
    is_room_chosen: bool


async def find_booking_facts(
    db: Db,
    book_id: BookId,
    room_type_id: UUID | None,
    room_id: UUID | None,
    rate_plan_id: UUID | None,
    guest_id: UUID | None,
) -> Record:
    """Everything that a booking names, in one row."""
    [row] = await db.fetch(
        """
        SELECT u.currency, u.time_zone, t.id AS room_type_id, t.capacity, t.rate,
            r.number AS room_number, r.status AS room_status,
            r.room_type_id = t.id AS room_fits_type, p.price,
            p.weekday_prices::text AS weekday_prices, p.taxes::text AS taxes,
            g.name AS guest_name
        FROM books k
        JOIN businesses u ON u.id = k.business_id
        LEFT JOIN hotel_rooms r ON r.book_id = k.id AND r.id = $3 AND r.deleted_at IS NULL
        LEFT JOIN hotel_room_types t ON t.book_id = k.id
            AND t.id = coalesce($2::uuid, r.room_type_id) AND t.deleted_at IS NULL
        LEFT JOIN hotel_rate_plans p ON p.book_id = k.id AND p.id = $4
            AND p.room_type_id = t.id AND p.deleted_at IS NULL
        LEFT JOIN hotel_guests g ON g.book_id = k.id AND g.id = $5 AND g.deleted_at IS NULL
        WHERE k.id = $1
        """,
        book_id,
        room_type_id,
        room_id,
        rate_plan_id,
        guest_id,
    )
    return row


# The rooms of type $8 that are free from $12 to $13, and how many days they would lie empty
# before and after. Stays in one room don't overlap, so the last that begins before the end of
# this one is the only one that can be in its way.
_FREE: LiteralString = """
    SELECT r.id FROM hotel_rooms r
    LEFT JOIN LATERAL (
        SELECT b.check_out_on FROM hotel_reservations b
        WHERE b.book_id = r.book_id AND b.room_id = r.id AND b.status IN ('booked', 'checked_in')
            AND b.check_in_on < $13::date
        ORDER BY b.check_in_on DESC LIMIT 1) b ON true
    LEFT JOIN LATERAL (
        SELECT a.check_in_on FROM hotel_reservations a
        WHERE a.book_id = r.book_id AND a.room_id = r.id AND a.status IN ('booked', 'checked_in')
            AND a.check_in_on >= $13::date
        ORDER BY a.check_in_on LIMIT 1) a ON true
    LEFT JOIN hotel_reservations n
        ON n.book_id = r.book_id AND n.room_id = r.id AND n.status = 'checked_in'
    WHERE r.book_id = $1 AND r.room_type_id = $8 AND r.deleted_at IS NULL
        AND r.status <> 'out_of_service' AND (b.check_out_on <= $12::date) IS NOT FALSE
        AND r.id = coalesce($23::uuid, r.id)
        AND ($21::timestamptz IS NULL OR (r.status = 'clean' OR $24) AND n.id IS NULL)
    ORDER BY least($12::date - b.check_out_on, 1000) + least(a.check_in_on - $13::date, 1000),
        length(r.number), lower(r.number), r.id
    LIMIT 1
"""


async def insert_reservation(
    db: Db,
    book_id: BookId,
    now: datetime,
    row: BookingRow,
    room_id: UUID | None,
    *,
    allows_dirty: bool,
) -> Record | None:
    """A reservation of the free room that leaves the smallest gap; None: no room is free.

    The room type is locked by then, so that two bookings don't choose the same room.
    """
    return await db.fetchrow(
        "WITH free AS ("
        + _FREE
        + """), v AS (
            INSERT INTO hotel_reservations (book_id, id, short_code, status, group_id, guest_id,
                guest_name, room_type_id, room_id, rate_plan_id, adults, children, check_in_on,
                check_out_on, nights, taxes, total_amount, deposit_amount, currency, source,
                notes, checked_in_at, is_room_chosen, created_at, updated_at)
            SELECT $1, $3, $4, $5, $6, g.id, g.name, $8, free.id, $9, $10, $11, $12, $13,
                $14::text::jsonb, $15::text::jsonb, $16, $17, $18, $19, $20, $21, $22, $2, $2
            FROM free JOIN hotel_guests g ON g.book_id = $1 AND g.id = $7
            RETURNING *)
        """
        + SHOWN
        + " FROM v "
        + SHOWN_FROM,
        book_id,
        now,
        *msgspec.structs.astuple(row),
        room_id,
        allows_dirty,
    )
