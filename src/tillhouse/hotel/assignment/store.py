"""Statements on the rooms of a type and the stays in them, and those that change rooms."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.hotel.assignment.rules import Occupancy, RoomStays
from tillhouse.kit.ids import BookId


async def list_in_service(
    db: Db, book_id: BookId, room_type_ids: Sequence[UUID], without: UUID | None = None
) -> Sequence[Record]:
    """The rooms of some types that can be booked, and whether somebody could move in now."""
    return await db.fetch(
        """
        SELECT r.room_type_id, r.id, r.number, r.status = 'clean' AS is_clean,
            EXISTS (
                SELECT FROM hotel_reservations n
                WHERE n.book_id = r.book_id AND n.room_id = r.id AND n.status = 'checked_in'
            ) AS is_occupied
        FROM hotel_rooms r
        WHERE r.book_id = $1 AND r.room_type_id = ANY($2) AND r.deleted_at IS NULL
            AND r.status <> 'out_of_service' AND r.id IS DISTINCT FROM $3
        ORDER BY length(r.number), lower(r.number), r.id
        """,
        book_id,
        room_type_ids,
        without,
    )


async def find_load(
    db: Db,
    book_id: BookId,
    room_type_id: UUID,
    since: date,
    until: date,
    without: UUID | None = None,
) -> tuple[int, int]:
    """How many stays of a type meet the days, and how many rooms the fullest night takes."""
    [row] = await db.fetch(
        """
        WITH v AS (
            SELECT v.check_in_on, v.check_out_on FROM hotel_reservations v
            JOIN hotel_rooms r ON r.book_id = v.book_id AND r.id = v.room_id
                AND r.deleted_at IS NULL AND r.status <> 'out_of_service'
                AND r.id IS DISTINCT FROM $5
            WHERE v.book_id = $1 AND v.room_type_id = $2 AND v.status IN ('booked', 'checked_in')
                AND v.check_in_on < $4 AND v.check_out_on > $3
        ), c AS (
            SELECT greatest(check_in_on, $3) AS day, 1 AS change FROM v
            UNION ALL
            SELECT check_out_on, -1 FROM v
        ), n AS (
            SELECT sum(sum(change)) OVER (ORDER BY day) AS taken FROM c GROUP BY day
        )
        SELECT (SELECT count(*) FROM v), (SELECT coalesce(max(taken), 0)::bigint FROM n)
        """,
        book_id,
        room_type_id,
        since,
        until,
        without,
    )
    return row[0], row[1]


# The first and the last day on which stays of each type are near enough to be looked at.
_NEAR: LiteralString = """
    WITH n AS MATERIALIZED (
        SELECT t.id,
            coalesce((
                SELECT b.check_in_on FROM hotel_reservations b
                WHERE b.book_id = $1 AND b.room_type_id = t.id
                    AND b.status IN ('booked', 'checked_in') AND b.check_in_on < $4
                ORDER BY b.check_in_on DESC OFFSET t.most LIMIT 1), '-infinity') AS since,
            coalesce((
                SELECT a.check_in_on FROM hotel_reservations a
                WHERE a.book_id = $1 AND a.room_type_id = t.id
                    AND a.status IN ('booked', 'checked_in') AND a.check_in_on >= $5
                ORDER BY a.check_in_on OFFSET t.most LIMIT 1), 'infinity') AS until
        FROM unnest($2::uuid[], $3::integer[]) AS t (id, most)
"""
# The stays `v` of these types near the days, and then the rooms `r` with the columns of each.
# Where few stays come before the days, all of them are near: no room is asked for an earlier one.
_STAYS: LiteralString = """
    ), v AS (
        SELECT m.*, m.status = 'booked' AND NOT m.is_room_chosen AND m.check_in_on >= n.since
            AND m.check_out_on <= n.until AS is_movable
        FROM n CROSS JOIN LATERAL (
            SELECT t.id, t.room_id, t.status, t.is_room_chosen, t.check_in_on, t.check_out_on
            FROM hotel_reservations t
            WHERE t.book_id = $1 AND t.room_type_id = n.id
                AND t.status IN ('booked', 'checked_in')
                AND t.check_in_on >= n.since AND t.check_in_on < n.until
            UNION ALL
            SELECT e.id, r.id, e.status, e.is_room_chosen, e.check_in_on, e.check_out_on
            FROM hotel_rooms r CROSS JOIN LATERAL (
                SELECT o.id, o.status, o.is_room_chosen, o.check_in_on, o.check_out_on
                FROM hotel_reservations o
                WHERE o.book_id = $1 AND o.room_id = r.id
                    AND o.status IN ('booked', 'checked_in') AND o.check_in_on < n.since
                ORDER BY o.check_in_on DESC LIMIT 1) e
            WHERE n.since > '-infinity' AND r.book_id = $1 AND r.room_type_id = n.id
                AND r.deleted_at IS NULL AND e.check_out_on > n.since) m
    ), s AS (
        SELECT v.room_id, array_agg(v.is_movable) AS movable,
"""
_OF_ROOMS: LiteralString = """
        FROM v GROUP BY v.room_id
    )
    SELECT r.room_type_id, r.id, s.* FROM hotel_rooms r LEFT JOIN s ON s.room_id = r.id
    WHERE r.book_id = $1 AND r.room_type_id = ANY($2) AND r.deleted_at IS NULL
        AND r.status <> 'out_of_service'
    ORDER BY length(r.number), lower(r.number), r.id
"""


async def list_near(
    db: Db, book_id: BookId, near_max: Mapping[UUID, int], since: date, until: date
) -> dict[UUID, list[Occupancy]]:
    """The stays of each type near the days, and which of them may change rooms for these days.

    Near are those that meet the days, so many more before and after them, and all that meet these.
    A stay that reaches beyond them keeps its room: the stays that it would meet there are not read.
    """
    rows = await db.fetch(
        _NEAR
        + _STAYS
        + """
            array_agg(v.id) AS ids, array_agg(v.check_in_on) AS begins,
            array_agg(v.check_out_on) AS ends
        """
        + _OF_ROOMS,
        book_id,
        [*near_max],
        [*near_max.values()],
        since,
        until,
    )
    found: dict[UUID, list[Occupancy]] = {}
    for row in rows:
        columns = (row[column] or () for column in ("ids", "begins", "ends", "movable"))
        found.setdefault(row["room_type_id"], []).extend(
            Occupancy(stay_id, row["id"], *days) for stay_id, *days in zip(*columns, strict=True)
        )
    return found


async def list_days_near(
    db: Db, book_id: BookId, near_max: Mapping[UUID, int], since: date, until: date
) -> dict[UUID, list[RoomStays]]:
    """The same stays by their rooms, as no more than days: numbers from the first one."""
    rows = await db.fetch(
        _NEAR
        + _STAYS
        + """
            array_agg(v.check_in_on - $4::date) AS begins,
            array_agg(v.check_out_on - $4::date) AS ends
        """
        + _OF_ROOMS,
        book_id,
        [*near_max],
        [*near_max.values()],
        since,
        until,
    )
    found: dict[UUID, list[RoomStays]] = {}
    for row in rows:
        stays = RoomStays(row["begins"] or (), row["ends"] or (), row["movable"] or ())
        found.setdefault(row["room_type_id"], []).append(stays)
    return found


async def lock_movable(db: Db, book_id: BookId, stay_ids: Sequence[UUID]) -> set[UUID]:
    """Those of the stays that may change rooms, and that no other transaction has locked."""
    rows = await db.fetch(
        """
        SELECT id FROM hotel_reservations
        WHERE book_id = $1 AND id = ANY($2) AND status = 'booked' AND NOT is_room_chosen
        ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
        """,
        book_id,
        stay_ids,
    )
    return {row["id"] for row in rows}


async def update_rooms(db: Db, book_id: BookId, moves: Mapping[UUID, UUID], now: datetime) -> None:
    """Stays have other rooms of their type, all at once: they may swap them."""
    await db.execute(
        """
        UPDATE hotel_reservations v SET room_id = m.room_id, updated_at = $4
        FROM unnest($2::uuid[], $3::uuid[]) AS m (id, room_id)
        WHERE v.book_id = $1 AND v.id = m.id
        """,
        book_id,
        [*moves],
        [*moves.values()],
        now,
    )
