"""The statement on free rooms."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId

# The rooms of a type, and those of them that are empty on all of the days `d`.
_ROOMS: LiteralString = """
    LEFT JOIN LATERAL (
        SELECT count(*) AS rooms_count,
            count(*) FILTER (WHERE r.status = 'out_of_service') AS out_of_service,
            coalesce(array_agg(r.id) FILTER (WHERE r.status = 'out_of_service'), '{}')
                AS closed_ids,
            count(*) FILTER (WHERE r.status <> 'out_of_service' AND NOT EXISTS (
                SELECT FROM hotel_reservations e
                WHERE e.book_id = r.book_id AND e.room_id = r.id
                    AND e.status IN ('booked', 'checked_in')
                    AND e.check_in_on < d.until AND e.check_out_on > d.since)) AS empty
        FROM hotel_rooms r
        WHERE r.book_id = t.book_id AND r.room_type_id = t.id AND r.deleted_at IS NULL
    ) r ON true
"""
# The stays of a type that meet the days `d`, counted by their own days: numbers from the first one.
_STAYS: LiteralString = """
    LEFT JOIN LATERAL (
        SELECT array_agg(g.check_in_on - d.since) AS begins,
            array_agg(g.check_out_on - d.since) AS ends, array_agg(g.stays) AS counts
        FROM (
            SELECT v.check_in_on, v.check_out_on, count(*) AS stays
            FROM hotel_reservations v
            WHERE v.book_id = t.book_id AND v.room_type_id = t.id
                AND v.status IN ('booked', 'checked_in')
                AND v.check_out_on > d.since
                AND v.check_in_on < d.until
                AND v.room_id <> ALL (r.closed_ids)
            GROUP BY v.check_in_on, v.check_out_on) g) s ON true
"""


async def list_free(
    db: Db,
    book_id: BookId,
    days: tuple[date | None, date | None],
    nights: int,
    room_type_id: UUID | None,
    now: datetime,
) -> Sequence[Record]:
    """The room types that fit, each with its rooms, and its stays counted by their days.

    One row at least, with the days that are meant: without any, so many nights from today on;
    where no type fits it has none. A stay in a room that is out of service takes none of the
    rooms that can be booked.
    """
    return await db.fetch(
        """
        SELECT d.today, d.since, d.until, t.id AS room_type_id, t.name, t.capacity, t.rate,
            r.rooms_count, r.out_of_service, r.empty, s.begins, s.ends, s.counts
        FROM books k
        JOIN businesses u ON u.id = k.business_id
        CROSS JOIN LATERAL (
            SELECT n.today, coalesce($2::date, n.today) AS since,
                coalesce($3::date, coalesce($2::date, n.today) + $4::integer) AS until
            FROM (SELECT ($6::timestamptz AT TIME ZONE u.time_zone)::date AS today) n) d
        LEFT JOIN hotel_room_types t ON t.book_id = k.id AND t.deleted_at IS NULL
            AND t.id = coalesce($5::uuid, t.id)
        """
        + _ROOMS
        + _STAYS
        + """
        WHERE k.id = $1
        ORDER BY lower(t.name), t.id
        """,
        book_id,
        *days,
        nights,
        room_type_id,
        now,
    )
