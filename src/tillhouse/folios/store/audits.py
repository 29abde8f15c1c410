"""Statements on night audits and the settings of a hotel."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.folios.types import HotelSettings
from tillhouse.kit.ids import BookId, BusinessId
from tillhouse.kit.page import Page
from tillhouse.kit.secrets import Environment

_COLUMNS: LiteralString = """
    SELECT k.id AS book_id, k.business_id, k.environment, u.time_zone,
        coalesce(s.audit_time, '03:00') AS audit_time, coalesce(s.no_show, 'release') AS no_show,
        (SELECT a.day FROM hotel_audits a
            WHERE a.book_id = k.id AND a.finished_at IS NOT NULL
            ORDER BY a.day DESC LIMIT 1) AS last,
        CASE WHEN (SELECT max(a.day) FROM hotel_audits a
                WHERE a.book_id = k.id AND a.finished_at IS NOT NULL) IS NULL
            THEN (SELECT min(r.check_in_on) FROM hotel_reservations r
                WHERE r.book_id = k.id AND r.status IN ('booked', 'checked_in'))
        END AS first
"""
_OF_BUSINESS: LiteralString = """
    JOIN businesses u ON u.id = k.business_id
    LEFT JOIN hotel_settings s ON s.book_id = k.id
"""
_AUDIT: LiteralString = """
    SELECT a.day::text AS day, a.nights, a.amount, a.no_shows, a.overdue,
        iso(a.started_at) AS started_at, iso(a.finished_at) AS finished_at
    FROM hotel_audits a WHERE a.book_id = $1
"""


class Hotel(msgspec.Struct, frozen=True, kw_only=True):
    """A book as its night audit knows it."""

    book_id: BookId
    business_id: BusinessId
    environment: Environment
    time_zone: str
    audit_time: str
    no_show: str
    # The last day that was audited, and the first day of a stay that isn't over.
    last: date | None
    first: date | None


class SettingsChange(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that are to be changed; None: it stays."""

    check_in_time: str | None
    check_out_time: str | None
    audit_time: str | None
    no_show: str | None


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The work that was done for an audit."""

    nights: int = 0
    amount: Decimal = Decimal(0)
    no_shows: int = 0


async def list_hotels(db: Db, after: UUID, limit: int) -> list[Hotel]:
    """Books that have reservations, some at a time by id."""
    rows = await db.fetch(
        """
        WITH RECURSIVE named AS (
            (SELECT r.book_id, 1 AS number FROM hotel_reservations r WHERE r.book_id > $1
                ORDER BY r.book_id LIMIT 1)
            UNION ALL
            SELECT (SELECT r.book_id FROM hotel_reservations r WHERE r.book_id > n.book_id
                ORDER BY r.book_id LIMIT 1), n.number + 1
            FROM named n WHERE n.book_id IS NOT NULL AND n.number < $2
        )
        """
        + _COLUMNS
        + " FROM named n JOIN books k ON k.id = n.book_id "
        + _OF_BUSINESS
        + " ORDER BY k.id",
        after,
        limit,
    )
    return [Hotel(**row) for row in rows]


async def find_hotel(db: Db, book_id: BookId) -> Hotel:
    """A book as its night audit knows it."""
    [row] = await db.fetch(_COLUMNS + " FROM books k " + _OF_BUSINESS + " WHERE k.id = $1", book_id)
    return Hotel(**row)


async def open_audit(db: Db, book_id: BookId, day: date, now: datetime) -> None:
    """Begin the audit of a day, unless it was begun before."""
    await db.execute(
        """
        INSERT INTO hotel_audits (book_id, day, started_at) VALUES ($1, $2, $3)
        ON CONFLICT DO NOTHING
        """,
        book_id,
        day,
        now,
    )


async def lock_audit(db: Db, book_id: BookId, day: date) -> bool:
    """Lock an audit for this worker; whether it has more to do."""
    finished_at = await db.fetchval(
        "SELECT finished_at FROM hotel_audits WHERE book_id = $1 AND day = $2 FOR UPDATE",
        book_id,
        day,
    )
    return finished_at is None


async def list_in_house(db: Db, book_id: BookId, day: date, limit: int) -> list[UUID]:
    """Stays in the house of which a night up to this day is no order yet."""
    rows = await db.fetch(
        """
        SELECT r.id FROM hotel_reservations r
        WHERE r.book_id = $1 AND r.status = 'checked_in' AND r.check_in_on <= $2
            AND EXISTS (
                SELECT FROM jsonb_array_elements(r.nights) AS n (night)
                WHERE (n.night ->> 'date')::date <= $2 AND NOT EXISTS (
                    SELECT FROM folio_nights f WHERE f.book_id = $1
                        AND f.reservation_id = r.id AND f.night_on = (n.night ->> 'date')::date))
        ORDER BY r.id LIMIT $3
        """,
        book_id,
        day,
        limit,
    )
    return [row["id"] for row in rows]


async def list_absent(db: Db, book_id: BookId, day: date, limit: int) -> list[UUID]:
    """Bookings that should have begun by this day, and whose guests didn't come."""
    rows = await db.fetch(
        """
        SELECT r.id FROM hotel_reservations r
        WHERE r.book_id = $1 AND r.status = 'booked' AND r.check_in_on <= $2
        ORDER BY r.id LIMIT $3
        """,
        book_id,
        day,
        limit,
    )
    return [row["id"] for row in rows]


async def add_progress(db: Db, book_id: BookId, day: date, done: Progress) -> None:
    """Count the work done for an audit."""
    await db.execute(
        """
        UPDATE hotel_audits SET nights = nights + $3, amount = amount + $4,
            no_shows = no_shows + $5
        WHERE book_id = $1 AND day = $2
        """,
        book_id,
        day,
        *msgspec.structs.astuple(done),
    )


async def end_audit(db: Db, book_id: BookId, day: date, now: datetime) -> None:
    """Say that an audit is done, and how many guests stayed on after their last night."""
    await db.execute(
        """
        UPDATE hotel_audits SET finished_at = $3, overdue = (
            SELECT count(*) FROM hotel_reservations r
            WHERE r.book_id = $1 AND r.status = 'checked_in' AND r.check_out_on <= $2)
        WHERE book_id = $1 AND day = $2
        """,
        book_id,
        day,
        now,
    )


async def count_audits(db: Db, book_id: BookId) -> int:
    """How many audits there are."""
    return await db.fetchval("SELECT count(*) FROM hotel_audits WHERE book_id = $1", book_id)


async def list_audits(db: Db, book_id: BookId, page: Page) -> Sequence[Record]:
    """One page of the audits, the newest first."""
    return await db.fetch(
        _AUDIT + " ORDER BY a.day DESC LIMIT $2 OFFSET $3", book_id, page.per_page, page.offset
    )


async def list_audits_of(db: Db, book_id: BookId, days: Sequence[date]) -> Sequence[Record]:
    """The audits of some days, the oldest first."""
    return await db.fetch(_AUDIT + " AND a.day = ANY($2) ORDER BY a.day", book_id, list(days))


async def show_settings(db: Db, book_id: BookId) -> HotelSettings | None:
    """The settings of a hotel; None: never changed."""
    row = await db.fetchrow(
        """
        SELECT check_in_time, check_out_time, audit_time, no_show FROM hotel_settings
        WHERE book_id = $1
        """,
        book_id,
    )
    return HotelSettings(**row) if row else None


async def upsert_settings(
    db: Db, book_id: BookId, changes: SettingsChange, now: datetime
) -> HotelSettings:
    """Change the settings that are to be changed."""
    [row] = await db.fetch(
        """
        INSERT INTO hotel_settings AS s (book_id, check_in_time, check_out_time, audit_time,
            no_show, updated_at)
        VALUES ($1, coalesce($2::text, '14:00'), coalesce($3::text, '11:00'),
            coalesce($4::text, '03:00'), coalesce($5::text, 'release'), $6)
        ON CONFLICT (book_id) DO UPDATE SET check_in_time = coalesce($2, s.check_in_time),
            check_out_time = coalesce($3, s.check_out_time),
            audit_time = coalesce($4, s.audit_time), no_show = coalesce($5, s.no_show),
            updated_at = $6
        RETURNING check_in_time, check_out_time, audit_time, no_show
        """,
        book_id,
        *msgspec.structs.astuple(changes),
        now,
    )
    return HotelSettings(**row)
