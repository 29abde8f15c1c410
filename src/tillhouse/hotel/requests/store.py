"""The table of service requests, and the statements that are their own."""

from datetime import datetime
from uuid import UUID

import msgspec

from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.hotel.requests.rules import NamedFacts, RequestFacts
from tillhouse.hotel.requests.types import ServiceRequest
from tillhouse.kit.ids import BookId, BookKey

# The newest first. Its subject stays; `update_request` changes its state.
REQUESTS = BookTable(
    "hotel_service_requests s",
    ServiceRequest,
    shown="""s.category, s.status, s.description, s.source, s.guest_id, g.name AS guest_name,
        s.reservation_id, s.room_id, r.number AS room_number, s.assigned_to AS assignee_id,
        u.name AS assignee_name, iso(s.started_at) AS started_at, iso(s.ended_at) AS ended_at""",
    joins="""
        LEFT JOIN hotel_guests g ON g.book_id = s.book_id AND g.id = s.guest_id
        LEFT JOIN hotel_rooms r ON r.book_id = s.book_id AND r.id = s.room_id
        LEFT JOIN users u ON u.id = s.assigned_to""",
    order="s.id DESC",
    # In the order of `RequestFacts`, and then of `RequestSubject`.
    fields=("status", "assigned_to", "description"),
    made_with=("category", "source", "guest_id", "reservation_id", "room_id"),
    filters={
        "status": "s.status = $",
        "category": "s.category = $",
        "room_id": "s.room_id = $",
        "reservation_id": "s.reservation_id = $",
        "assignee_id": "s.assigned_to = $",
    },
    removed=True,
)


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
