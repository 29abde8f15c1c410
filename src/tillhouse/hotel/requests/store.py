"""Statements on service requests."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.hotel.requests.rules import NamedFacts, RequestFacts, RequestSubject
from tillhouse.hotel.requests.types import (
    NewServiceRequest,
    ServiceRequest,
    ServiceRequestFilter,
)
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.page import Page

_SHOWN: LiteralString = """
    SELECT s.id, s.category, s.status, s.description, s.source, s.guest_id,
        g.name AS guest_name, s.reservation_id, s.room_id, r.number AS room_number,
        s.assigned_to AS assignee_id, u.name AS assignee_name,
        iso(s.started_at) AS started_at, iso(s.ended_at) AS ended_at,
        iso(s.created_at) AS created_at, iso(s.updated_at) AS updated_at
"""
_JOINED: LiteralString = """
    LEFT JOIN hotel_guests g ON g.book_id = s.book_id AND g.id = s.guest_id
    LEFT JOIN hotel_rooms r ON r.book_id = s.book_id AND r.id = s.room_id
    LEFT JOIN users u ON u.id = s.assigned_to
"""
_REQUEST: LiteralString = _SHOWN + " FROM hotel_service_requests s " + _JOINED


async def find_named(
    db: Db,
    book_id: BookId,
    reservation_id: UUID | None,
    room_id: UUID | None,
    guest_id: UUID | None,
) -> NamedFacts:
    """The stay, the room and the guest that are named; of a room alone, the stay in it."""
    [row] = await db.fetch(
        """
        SELECT v.id AS stay_id, v.status AS stay_status, v.guest_id AS stay_guest_id,
            v.room_id AS stay_room_id,
            EXISTS (SELECT FROM hotel_rooms r
                WHERE r.book_id = $1 AND r.id = $3 AND r.deleted_at IS NULL) AS has_room,
            EXISTS (SELECT FROM hotel_guests g
                WHERE g.book_id = $1 AND g.id = $4 AND g.deleted_at IS NULL) AS has_guest
        FROM (SELECT $1::uuid AS book_id) asked
        LEFT JOIN hotel_reservations v ON v.book_id = asked.book_id AND v.id = coalesce(
            $2, (SELECT i.id FROM hotel_reservations i WHERE i.book_id = $1 AND i.room_id = $3
                AND i.status = 'checked_in'))
        """,
        book_id,
        reservation_id,
        room_id,
        guest_id,
    )
    return NamedFacts(**row)


async def insert_request(
    db: Db, key: BookKey, subject: RequestSubject, new: NewServiceRequest, now: datetime
) -> ServiceRequest:
    """A service request, as it is shown."""
    [row] = await db.fetch(
        """
        WITH s AS (
            INSERT INTO hotel_service_requests (book_id, id, category, status, source,
                description, guest_id, reservation_id, room_id, created_at, updated_at)
            VALUES ($1, $2, $3, 'open', $4, $5, $6, $7, $8, $9, $9)
            RETURNING *)
        """
        + _SHOWN
        + " FROM s "
        + _JOINED,
        *key,
        new.category,
        new.source,
        new.description,
        *msgspec.structs.astuple(subject),
        now,
    )
    return ServiceRequest(**row)


async def update_request(db: Db, key: BookKey, facts: RequestFacts, now: datetime) -> None:
    """The stored fields of a service request, and when it began and ended."""
    await db.execute(
        """
        UPDATE hotel_service_requests SET status = $3, assigned_to = $4, description = $5,
            started_at = CASE WHEN $3 = 'in_progress' THEN coalesce(started_at, $6)
                ELSE started_at END,
            ended_at = CASE WHEN $3 IN ('done', 'cancelled') THEN $6::timestamptz END,
            updated_at = $6
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *msgspec.structs.astuple(facts),
        now,
    )


async def show_request(db: Db, book_id: BookId, request_id: UUID) -> ServiceRequest | None:
    """One service request."""
    row = await db.fetchrow(_REQUEST + " WHERE s.book_id = $1 AND s.id = $2", book_id, request_id)
    return ServiceRequest(**row) if row else None


async def lock_request(db: Db, book_id: BookId, request_id: UUID) -> ServiceRequest | None:
    """One service request, locked until the transaction ends."""
    row = await db.fetchrow(
        _REQUEST + " WHERE s.book_id = $1 AND s.id = $2 FOR NO KEY UPDATE OF s",
        book_id,
        request_id,
    )
    return ServiceRequest(**row) if row else None


def _where(book_id: BookId, wanted: ServiceRequestFilter) -> Where:
    return (
        Where(book_id)
        .and_("s.status = $", wanted.status)
        .and_("s.category = $", wanted.category)
        .and_("s.room_id = $", wanted.room_id)
        .and_("s.reservation_id = $", wanted.reservation_id)
        .and_("s.assigned_to = $", wanted.assignee_id)
    )


async def count_requests(db: Db, book_id: BookId, wanted: ServiceRequestFilter) -> int:
    """How many service requests fit."""
    where = _where(book_id, wanted)
    return await db.fetchval(
        "SELECT count(*) FROM hotel_service_requests s WHERE s.book_id = $1" + where.sql(),
        *where.args,
    )


async def list_requests(
    db: Db, book_id: BookId, wanted: ServiceRequestFilter, page: Page
) -> list[ServiceRequest]:
    """One page of the service requests that fit, the newest first."""
    where = _where(book_id, wanted)
    rows = await db.fetch(
        _REQUEST
        + " WHERE s.book_id = $1"
        + where.sql()
        + " ORDER BY s.id DESC LIMIT "
        + where.window(page),
        *where.args,
    )
    return [ServiceRequest(**row) for row in rows]
