"""Statements on the rooms of a type and the stays in them, and those that change rooms."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.hotel.assignment.rules import NEAR_MAX, Occupancy
from tillhouse.kit.ids import BookId


async def list_in_service(
    db: Db, book_id: BookId, room_type_ids: Sequence[UUID]
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
            AND r.status <> 'out_of_service'
        ORDER BY length(r.number), lower(r.number), r.id
        """,
        book_id,
        room_type_ids,
    )


async def find_load(
    db: Db, book_id: BookId, room_type_id: UUID, since: date, until: date
) -> tuple[int, int]:
    """How many stays of a type meet the days, and how many rooms the fullest night takes."""
    row = await db.fetchrow(
        """
        WITH v AS (
            SELECT v.check_in_on, v.check_out_on FROM hotel_reservations v
            JOIN hotel_rooms r ON r.book_id = v.book_id AND r.id = v.room_id
                AND r.deleted_at IS NULL AND r.status <> 'out_of_service'
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
    )
    assert row is not None, "it has no condition"  # noqa: S101
    return row[0], row[1]


# The first and the last day on which stays of each type are near enough to be looked at.
_NEAR: LiteralString = """
    SELECT t.id,
        coalesce((
            SELECT b.check_in_on FROM hotel_reservations b
            WHERE b.book_id = $1 AND b.room_type_id = t.id
                AND b.status IN ('booked', 'checked_in') AND b.check_in_on < $3
            ORDER BY b.check_in_on DESC OFFSET $5 LIMIT 1), '-infinity') AS since,
        coalesce((
            SELECT a.check_in_on FROM hotel_reservations a
            WHERE a.book_id = $1 AND a.room_type_id = t.id
                AND a.status IN ('booked', 'checked_in') AND a.check_in_on >= $4
            ORDER BY a.check_in_on OFFSET $5 LIMIT 1), 'infinity') AS until
    FROM unnest($2::uuid[]) AS t (id)
"""


async def list_near(
    db: Db,
    book_id: BookId,
    room_type_ids: Sequence[UUID],
    since: date,
    until: date,
    near_max: int = NEAR_MAX,
) -> dict[UUID, list[Occupancy]]:
    """The stays of each type near the days, and which of them may change rooms for these days.

    Near are those that meet the days, so many more before and after them, and all that meet these.
    A stay that reaches beyond them keeps its room: what it would meet there is not looked at.
    """
    rows = await db.fetch(
        "WITH n AS MATERIALIZED ("
        + _NEAR
        + """)
        SELECT n.id AS room_type_id, array_agg(v.id) AS ids, array_agg(v.room_id) AS room_ids,
            array_agg(v.check_in_on) AS begins, array_agg(v.check_out_on) AS ends,
            array_agg(v.status = 'booked' AND NOT v.is_room_chosen AND v.check_in_on >= n.since
                AND v.check_out_on <= n.until) AS movable
        FROM n CROSS JOIN LATERAL (
            SELECT * FROM hotel_reservations v
            WHERE v.book_id = $1 AND v.room_type_id = n.id
                AND v.status IN ('booked', 'checked_in')
                AND v.check_in_on >= n.since AND v.check_in_on < n.until
            UNION ALL
            SELECT e.* FROM hotel_rooms r CROSS JOIN LATERAL (
                SELECT * FROM hotel_reservations e
                WHERE e.book_id = $1 AND e.room_id = r.id AND e.status IN ('booked', 'checked_in')
                    AND e.check_in_on < n.since
                ORDER BY e.check_in_on DESC LIMIT 1) e
            WHERE r.book_id = $1 AND r.room_type_id = n.id AND r.deleted_at IS NULL
                AND e.check_out_on > n.since) v
        GROUP BY n.id
        """,
        book_id,
        room_type_ids,
        since,
        until,
        near_max,
    )
    columns = ("ids", "room_ids", "begins", "ends", "movable")
    return {
        row["room_type_id"]: [*map(Occupancy, *(row[column] for column in columns))] for row in rows
    }


async def lock_movable(db: Db, book_id: BookId, stay_ids: Sequence[UUID]) -> set[UUID]:
    """Those of the stays that may change rooms, and that nobody else changes at this moment."""
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
