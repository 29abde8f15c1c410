"""Statements on the rooms of a type and the stays in them, and those that change rooms."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.hotel.assignment.rules import STAYS_MAX
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


async def list_around(
    db: Db, book_id: BookId, room_type_ids: Sequence[UUID], since: date, until: date
) -> Sequence[Record]:
    """The stays of some types that meet the days, directly or by others that may change rooms.

    `i` numbers the stays that may change rooms by the stretches of days that they make up; the
    stretch of the days that are asked for is the one whose stays could change rooms for them.
    """
    return await db.fetch(
        """
        WITH v AS (
            SELECT v.room_type_id, v.id, v.room_id, v.check_in_on, v.check_out_on,
                v.status = 'booked' AND NOT v.is_room_chosen AS is_movable
            FROM hotel_reservations v
            JOIN hotel_rooms r ON r.book_id = v.book_id AND r.id = v.room_id
                AND r.deleted_at IS NULL AND r.status <> 'out_of_service'
            WHERE v.book_id = $1 AND v.room_type_id = ANY($2)
                AND v.status IN ('booked', 'checked_in')
        ), m AS (
            SELECT room_type_id, id, check_in_on, check_out_on FROM v WHERE is_movable
            UNION ALL
            SELECT t.id, NULL, $3::date, $4::date FROM unnest($2::uuid[]) AS t (id)
        ), s AS (
            SELECT m.*, max(check_out_on) OVER (
                PARTITION BY room_type_id ORDER BY check_in_on, check_out_on, id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach
            FROM m
        ), i AS (
            SELECT s.*, count(*) FILTER (WHERE (check_in_on < reach) IS NOT TRUE) OVER (
                PARTITION BY room_type_id ORDER BY check_in_on, check_out_on, id) AS stretch
            FROM s
        ), h AS (
            SELECT room_type_id, min(check_in_on) AS since, max(check_out_on) AS until
            FROM i GROUP BY room_type_id, stretch HAVING bool_or(id IS NULL)
        )
        SELECT n.* FROM h CROSS JOIN LATERAL (
            SELECT v.* FROM v
            WHERE v.room_type_id = h.room_type_id AND v.check_in_on < h.until
                AND v.check_out_on > h.since
            ORDER BY v.check_in_on, v.id LIMIT $5) n
        """,
        book_id,
        room_type_ids,
        since,
        until,
        STAYS_MAX + 1,
    )


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
