"""Statements of conversations: their steps, and the order or the stay that one is about."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey


class StepRow(msgspec.Struct, frozen=True, kw_only=True):
    """A step as it is written."""

    position: int
    role: str
    text: str
    started_ms: int
    ended_ms: int
    confidence: float | None


async def insert_steps(db: Db, key: BookKey, attempt: int, steps: Sequence[StepRow]) -> None:
    """Keep steps of an attempt."""
    await db.execute(
        """
        INSERT INTO voice_steps (book_id, call_id, attempt, position, role, text, started_ms,
            ended_ms, confidence)
        SELECT $1, $2, $3, * FROM unnest($4::integer[], $5::text[], $6::text[], $7::integer[],
            $8::integer[], $9::double precision[])
        """,
        *key,
        attempt,
        *(list(column) for column in zip(*map(msgspec.structs.astuple, steps), strict=True)),
    )


_ORDER: LiteralString = """
    SELECT o.id, o.short_code, o.status, o.summary, o.total_amount, o.remaining_amount,
        o.amount_paid, o.currency
    FROM orders o WHERE o.book_id = $1 AND o.deleted_at IS NULL
"""


async def find_order(db: Db, book_id: BookId, order_id: UUID) -> Record | None:
    """The order that a call names."""
    return await db.fetchrow(_ORDER + " AND o.id = $2", book_id, order_id)


async def find_scheduled(db: Db, book_id: BookId, phone: str) -> Record | None:
    """The order that is scheduled next for the customer with this number."""
    return await db.fetchrow(
        _ORDER
        + """
        AND o.status = 'scheduled' AND o.customer_id = (
            SELECT c.id FROM customers c
            WHERE c.book_id = $1 AND c.phone_number = $2 AND c.deleted_at IS NULL)
        ORDER BY o.scheduled_at, o.id LIMIT 1
        """,
        book_id,
        phone,
    )


async def find_owing(db: Db, book_id: BookId, phone: str) -> Record | None:
    """The latest order of the customer with this number that isn't paid."""
    return await db.fetchrow(
        _ORDER
        + """
        AND o.status IN ('pending', 'completed') AND o.remaining_amount > 0 AND o.customer_id = (
            SELECT c.id FROM customers c
            WHERE c.book_id = $1 AND c.phone_number = $2 AND c.deleted_at IS NULL)
        ORDER BY o.occurred_at DESC, o.id DESC LIMIT 1
        """,
        book_id,
        phone,
    )


async def find_open_stay(db: Db, book_id: BookId, reservation_id: UUID) -> UUID | None:
    """The stay that a call names, unless it is over."""
    return await db.fetchval(
        """
        SELECT v.id FROM hotel_reservations v
        WHERE v.book_id = $1 AND v.id = $2 AND v.status IN ('booked', 'checked_in')
        """,
        book_id,
        reservation_id,
    )


async def find_next_stay(
    db: Db, book_id: BookId, phone: str, named: Sequence[str], now: datetime
) -> UUID | None:
    """The stay of the guest with this number that begins next; first one whose name was given."""
    return await db.fetchval(
        """
        SELECT v.id FROM customers c
        JOIN hotel_guests g ON g.book_id = c.book_id AND g.customer_id = c.id
            AND g.deleted_at IS NULL
        JOIN hotel_reservations v ON v.book_id = g.book_id AND v.guest_id = g.id
        JOIN books k ON k.id = v.book_id
        JOIN businesses b ON b.id = k.business_id
        WHERE c.book_id = $1 AND c.phone_number = $2 AND c.deleted_at IS NULL
            AND v.status IN ('booked', 'checked_in')
            AND v.check_out_on >= ($4::timestamptz AT TIME ZONE b.time_zone)::date
        ORDER BY v.short_code = ANY($3) OR v.id::text = ANY($3) DESC, v.status, v.check_in_on, v.id
        LIMIT 1
        """,
        book_id,
        phone,
        named,
        now,
    )


async def find_writing(db: Db, book_id: BookId, phone: str) -> Record | None:
    """The number that the book writes from, and how things stand with whom it writes to."""
    return await db.fetchrow(
        """
        SELECT n.id AS number_id, n.provider, c.last_received_at, u.id AS customer_id
        FROM messaging_numbers n
        LEFT JOIN conversations c ON c.book_id = $1 AND c.customer_phone = $2
        LEFT JOIN customers u
            ON u.book_id = $1 AND u.phone_number = $2 AND u.deleted_at IS NULL
        WHERE n.book_id = $1 AND n.status = 'active'
        """,
        book_id,
        phone,
    )
