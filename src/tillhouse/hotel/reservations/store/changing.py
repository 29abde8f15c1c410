"""Statements that give stays other days, guests, prices or rooms."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.hotel.reservations.store.reading import SHOWN, SHOWN_FROM
from tillhouse.kit.ids import BookId, BookKey


class ChangedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A stay as a change writes it."""

    check_in_on: date
    check_out_on: date
    nights: str
    total_amount: Decimal
    adults: int
    children: int
    notes: str | None
    guest_id: UUID
    guest_name: str
    rate_plan_id: UUID | None
    taxes: str
    deposit_amount: Decimal


class ReservationChangeIds(msgspec.Struct, frozen=True):
    """The ids that a change names."""

    rate_plan_id: UUID | None = None
    guest_id: UUID | None = None


async def find_change_facts(
    db: Db, key: BookKey, check_in: date, check_out: date, named: ReservationChangeIds
) -> Record:
    """The prices of a stay's nights now, and all else that a change of it is judged by.

    Whether its room is somebody else's on these days, the plan and the guest that the change
    names, which nights were charged, and whether there is money or an order of the stay.
    """
    [row] = await db.fetch(
        """
        SELECT u.time_zone, t.capacity, t.rate, v.taxes::text AS taxes,
            p.price, p.weekday_prices::text AS weekday_prices,
            q.price AS asked_price, q.weekday_prices::text AS asked_weekday_prices,
            q.taxes::text AS asked_taxes, g.name AS guest_name,
            ARRAY(
                SELECT n.night_on::text FROM folio_nights n
                WHERE n.book_id = v.book_id AND n.reservation_id = v.id) AS charged,
            coalesce((
                SELECT sum(CASE WHEN f.kind = 'payment' THEN f.amount ELSE -f.amount END)
                FROM folio_payments f
                WHERE f.book_id = v.book_id AND f.reservation_id = v.id), 0) <> 0
            OR EXISTS (
                SELECT FROM orders o
                WHERE o.book_id = v.book_id AND o.hotel_reservation_id = v.id
                    AND o.deleted_at IS NULL AND o.status <> 'cancelled') AS has_folio,
            EXISTS (
                SELECT FROM hotel_reservations o
                WHERE o.book_id = v.book_id AND o.room_id = v.room_id AND o.id <> v.id
                    AND o.status IN ('booked', 'checked_in')
                    AND o.check_in_on < $4 AND o.check_out_on > $3) AS is_taken
        FROM hotel_reservations v
        JOIN books k ON k.id = v.book_id
        JOIN businesses u ON u.id = k.business_id
        JOIN hotel_room_types t ON t.book_id = v.book_id AND t.id = v.room_type_id
        LEFT JOIN hotel_rate_plans p ON p.book_id = v.book_id AND p.id = v.rate_plan_id
        LEFT JOIN hotel_rate_plans q ON q.book_id = v.book_id AND q.id = $5
            AND q.room_type_id = v.room_type_id AND q.deleted_at IS NULL
        LEFT JOIN hotel_guests g ON g.book_id = v.book_id AND g.id = $6 AND g.deleted_at IS NULL
        WHERE v.book_id = $1 AND v.id = $2
        """,
        *key,
        check_in,
        check_out,
        named.rate_plan_id,
        named.guest_id,
    )
    return row


async def update_stay(db: Db, key: BookKey, row: ChangedRow, now: datetime) -> Record | None:
    """A stay is changed; other days, or another guest, are to be confirmed anew."""
    return await db.fetchrow(
        """
        WITH v AS (
            UPDATE hotel_reservations SET check_in_on = $3, check_out_on = $4,
                confirmed_at = CASE WHEN check_in_on = $3 AND check_out_on = $4
                    AND guest_id = $10 THEN confirmed_at END,
                nights = $5::text::jsonb, total_amount = $6, adults = $7, children = $8,
                notes = $9, guest_id = $10, guest_name = $11, rate_plan_id = $12,
                taxes = $13::text::jsonb, deposit_amount = $14, updated_at = $15
            WHERE book_id = $1 AND id = $2 RETURNING *)
        """
        + SHOWN
        + " FROM v "
        + SHOWN_FROM,
        *key,
        *msgspec.structs.astuple(row),
        now,
    )


async def lock_types_of(db: Db, book_id: BookId, room_ids: Sequence[UUID]) -> int:
    """Lock the types of these rooms against other bookings; how many types."""
    rows = await db.fetch(
        """
        SELECT t.id FROM hotel_room_types t
        WHERE t.book_id = $1 AND t.id = ANY (ARRAY(
            SELECT r.room_type_id FROM hotel_rooms r WHERE r.book_id = $1 AND r.id = ANY($2)))
        ORDER BY t.id FOR NO KEY UPDATE
        """,
        book_id,
        room_ids,
    )
    return len(rows)


async def lock_rooms(
    db: Db, book_id: BookId, reservation_id: UUID, room_ids: Sequence[UUID]
) -> Sequence[Record]:
    """The rooms of a move, locked, and the other stays that take them."""
    return await db.fetch(
        """
        SELECT r.id, r.number, r.status, r.room_type_id, t.capacity,
            EXISTS (
                SELECT FROM hotel_reservations n
                WHERE n.book_id = r.book_id AND n.room_id = r.id AND n.id <> v.id
                    AND n.status = 'checked_in') AS is_occupied,
            EXISTS (
                SELECT FROM hotel_reservations o
                WHERE o.book_id = r.book_id AND o.room_id = r.id AND o.id <> v.id
                    AND o.status IN ('booked', 'checked_in')
                    AND o.check_in_on < v.check_out_on AND o.check_out_on > v.check_in_on
            ) AS is_taken
        FROM hotel_rooms r
        JOIN hotel_room_types t ON t.book_id = r.book_id AND t.id = r.room_type_id
        JOIN hotel_reservations v ON v.book_id = r.book_id AND v.id = $2
        WHERE r.book_id = $1 AND r.id = ANY($3) AND r.deleted_at IS NULL
        ORDER BY r.id FOR NO KEY UPDATE OF r
        """,
        book_id,
        reservation_id,
        room_ids,
    )


async def update_room_of(
    db: Db, key: BookKey, room_id: UUID, room_type_id: UUID, now: datetime
) -> Record | None:
    """A stay has another room, which it keeps from then on."""
    return await db.fetchrow(
        """
        WITH v AS (
            UPDATE hotel_reservations SET room_id = $3, room_type_id = $4, is_room_chosen = true,
                updated_at = $5
            WHERE book_id = $1 AND id = $2 RETURNING *)
        """
        + SHOWN
        + " FROM v "
        + SHOWN_FROM,
        *key,
        room_id,
        room_type_id,
        now,
    )
