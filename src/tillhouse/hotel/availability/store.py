"""The statement on free rooms."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId

# The rooms of a type; those of them that are empty on all of the days `d`, and those in which no
# stay on these days keeps its room. Stays in one room don't overlap: the last one that begins
# before the end of the days is the only one that can meet them.
_ROOMS: LiteralString = """
    LEFT JOIN LATERAL (
        SELECT count(*) AS rooms_count,
            count(*) FILTER (WHERE r.status = 'out_of_service') AS out_of_service,
            count(*) FILTER (WHERE r.status <> 'out_of_service' AND coalesce((
                SELECT e.check_out_on FROM hotel_reservations e
                WHERE e.book_id = r.book_id AND e.room_id = r.id
                    AND e.status IN ('booked', 'checked_in') AND e.check_in_on < d.until
                ORDER BY e.check_in_on DESC LIMIT 1) <= d.since, true)) AS empty,
            count(*) FILTER (WHERE r.status <> 'out_of_service' AND coalesce((
                SELECT e.check_out_on FROM hotel_reservations e
                WHERE e.book_id = r.book_id AND e.room_id = r.id
                    AND (e.status = 'checked_in' OR e.status = 'booked' AND e.is_room_chosen)
                    AND e.check_in_on < d.until
                ORDER BY e.check_in_on DESC LIMIT 1) <= d.since, true)) AS unkept
        FROM hotel_rooms r
        WHERE r.book_id = t.book_id AND r.room_type_id = t.id AND r.deleted_at IS NULL
    ) r ON true
"""
# The stays that meet the days, by type: how many they are, and how many rooms more (or fewer) are
# taken from a day on. Those that began before are counted; later arrivals and departures are
# tallied. Days are numbers from the first one.
_STAYS: LiteralString = """
    SELECT e.room_type_id, array_agg(e.day - d.since) AS days, array_agg(e.change) AS changes,
        coalesce(sum(e.change) FILTER (WHERE e.comes), 0)::integer AS stays
    FROM d CROSS JOIN LATERAL (
        SELECT y.id AS room_type_id, d.since AS day, v.stays AS change, true AS comes
        FROM hotel_room_types y CROSS JOIN LATERAL (
            SELECT count(*) AS stays FROM hotel_reservations v
            WHERE v.book_id = y.book_id AND v.room_type_id = y.id
                AND v.status IN ('booked', 'checked_in')
                AND v.check_in_on < d.since AND v.check_out_on > d.since) v
        WHERE y.book_id = $1
        UNION ALL SELECT t.room_type_id, t.day, t.stays, true FROM hotel_stay_tallies t
        WHERE t.book_id = $1 AND t.side = 'arrival' AND t.period = 'day'
            AND t.day >= d.since AND t.day < d.until AND t.status IN ('booked', 'checked_in')
        UNION ALL SELECT t.room_type_id, t.day, -t.stays, false FROM hotel_stay_tallies t
        WHERE t.book_id = $1 AND t.side = 'departure' AND t.period = 'day'
            AND t.day > d.since AND t.day < d.until AND t.status IN ('booked', 'checked_in')
        UNION ALL SELECT c.room_type_id, c.day, c.change, c.comes
        FROM (
            SELECT n.room_type_id, p.day, p.change, p.comes FROM hotel_stay_tally_changes n
            CROSS JOIN LATERAL (VALUES (n.check_in_on, n.stays, true),
                (n.check_out_on, -n.stays, false)) p (day, change, comes)
            WHERE n.book_id = $1 AND n.status IN ('booked', 'checked_in')) c
        WHERE c.day < d.until AND (c.day > d.since OR c.day = d.since AND c.comes)) e
    GROUP BY e.room_type_id
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
    where no type fits it has none. A stay whose room was closed before such stays were moved
    counts, too: it needs a room of the type.
    """
    return await db.fetch(
        """
        WITH d AS (
            SELECT n.today, coalesce($2::date, n.today) AS since,
                coalesce($3::date, coalesce($2::date, n.today) + $4::integer) AS until
            FROM (
                SELECT ($6::timestamptz AT TIME ZONE u.time_zone)::date AS today
                FROM books k JOIN businesses u ON u.id = k.business_id WHERE k.id = $1) n
        ), s AS MATERIALIZED ("""
        + _STAYS
        + """
        )
        SELECT d.today, d.since, d.until, t.id AS room_type_id, t.name, t.capacity, t.rate,
            r.rooms_count, r.out_of_service, r.empty, r.unkept, coalesce(s.stays, 0) AS stays,
            s.days, s.changes
        FROM d
        LEFT JOIN hotel_room_types t ON t.book_id = $1 AND t.deleted_at IS NULL
            AND t.id = coalesce($5::uuid, t.id)
        """
        + _ROOMS
        + """
        LEFT JOIN s ON s.room_type_id = t.id
        ORDER BY lower(t.name), t.id
        """,
        book_id,
        *days,
        nights,
        room_type_id,
        now,
    )
