"""Statements that lock reservations and change how far they are."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.hotel.reservations.store.reading import SHOWN, SHOWN_FROM
from tillhouse.kit.ids import BookId, BookKey

_CHANGE: LiteralString = "WITH v AS (UPDATE hotel_reservations SET "
_CHANGED: LiteralString = (
    " WHERE book_id = $1 AND id = $2 RETURNING *)" + SHOWN + " FROM v " + SHOWN_FROM
)


async def lock_reservation(db: Db, book_id: BookId, reservation_id: UUID) -> bool:
    """Lock a reservation against changes and charges; whether there is one."""
    return await db.execute_one(
        """
        SELECT id FROM hotel_reservations WHERE book_id = $1 AND id = $2 FOR NO KEY UPDATE
        """,
        book_id,
        reservation_id,
    )


async def update_checked_in(db: Db, key: BookKey, now: datetime) -> Record | None:
    """Somebody has moved in."""
    return await db.fetchrow(
        _CHANGE + "status = 'checked_in', checked_in_at = $3, updated_at = $3" + _CHANGED,
        *key,
        now,
    )


async def update_check_in_undone(db: Db, key: BookKey, now: datetime) -> Record | None:
    """Undo a check-in: the guest is expected, as before."""
    return await db.fetchrow(
        _CHANGE + "status = 'booked', checked_in_at = NULL, updated_at = $3" + _CHANGED,
        *key,
        now,
    )


async def update_checked_out(db: Db, key: BookKey, now: datetime) -> Record | None:
    """Somebody has left."""
    return await db.fetchrow(
        _CHANGE + "status = 'checked_out', checked_out_at = $3, updated_at = $3" + _CHANGED,
        *key,
        now,
    )


async def update_confirmed(db: Db, key: BookKey, now: datetime) -> Record | None:
    """The guest says that they will come; the first time counts."""
    return await db.fetchrow(
        _CHANGE
        + """confirmed_at = coalesce(confirmed_at, $3),
                updated_at = CASE WHEN confirmed_at IS NULL THEN $3 ELSE updated_at END
        """
        + _CHANGED,
        *key,
        now,
    )


async def update_cancelled(
    db: Db, key: BookKey, reason: str | None, now: datetime
) -> Record | None:
    """A reservation was cancelled: its room is free again."""
    return await db.fetchrow(
        _CHANGE
        + """status = 'cancelled', cancelled_at = $4,
                cancel_reason = $3, updated_at = $4
        """
        + _CHANGED,
        *key,
        reason,
        now,
    )


async def update_no_show(db: Db, key: BookKey, now: datetime) -> Record | None:
    """The guest didn't come: the room is free again."""
    return await db.fetchrow(
        _CHANGE + "status = 'no_show', no_show_at = $3, updated_at = $3" + _CHANGED,
        *key,
        now,
    )


# Free rooms of the type of the stay `n`: its own first, then those to move into at once.
_FREE_AGAIN: LiteralString = """
    SELECT r.id FROM hotel_reservations n
    JOIN hotel_rooms r ON r.book_id = n.book_id AND r.room_type_id = n.room_type_id
        AND r.deleted_at IS NULL AND r.status <> 'out_of_service'
    WHERE n.book_id = $1 AND n.id = $2 AND r.id = coalesce($3::uuid, r.id) AND NOT EXISTS (
        SELECT FROM hotel_reservations o
        WHERE o.book_id = r.book_id AND o.room_id = r.id AND o.status IN ('booked', 'checked_in')
            AND o.check_in_on < n.check_out_on AND o.check_out_on > n.check_in_on)
    ORDER BY r.id = n.room_id DESC, r.status = 'clean' AND NOT EXISTS (
            SELECT FROM hotel_reservations i
            WHERE i.book_id = r.book_id AND i.room_id = r.id AND i.status = 'checked_in') DESC,
        length(r.number), lower(r.number), r.id
    LIMIT 1
"""


async def update_booked_again(
    db: Db, key: BookKey, room_id: UUID | None, now: datetime
) -> Record | None:
    """Somebody is expected after all, in a free room of the type; None: none is free.

    The room type is locked by then, so that no other request chooses the same room.
    """
    return await db.fetchrow(
        "WITH free AS ("
        + _FREE_AGAIN
        + """), v AS (
            UPDATE hotel_reservations b SET status = 'booked', no_show_at = NULL,
                room_id = free.id, is_room_chosen = b.is_room_chosen AND free.id = b.room_id,
                updated_at = $4
            FROM free WHERE b.book_id = $1 AND b.id = $2 RETURNING b.*)
        """
        + SHOWN
        + " FROM v "
        + SHOWN_FROM,
        *key,
        room_id,
        now,
    )
