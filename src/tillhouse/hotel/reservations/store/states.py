"""Statements that lock reservations and change how far they are."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.hotel.reservations.store.reading import SHOWN, SHOWN_FROM
from tillhouse.kit.ids import BookId, BookKey

_CHANGED: LiteralString = "WHERE book_id = $1 AND id = $2 RETURNING *)" + SHOWN + " FROM v "


async def lock_reservation(db: Db, book_id: BookId, reservation_id: UUID) -> bool:
    """Let nobody change a reservation, or charge to it, meanwhile; whether there is one."""
    found = await db.fetchval(
        """
        SELECT id FROM hotel_reservations WHERE book_id = $1 AND id = $2 FOR NO KEY UPDATE
        """,
        book_id,
        reservation_id,
    )
    return found is not None


async def update_checked_in(db: Db, key: BookKey, now: datetime) -> Record | None:
    """Somebody has moved in."""
    return await db.fetchrow(
        """
        WITH v AS (
            UPDATE hotel_reservations SET status = 'checked_in', checked_in_at = $3,
                updated_at = $3
        """
        + _CHANGED
        + SHOWN_FROM,
        *key,
        now,
    )


async def update_checked_out(db: Db, key: BookKey, now: datetime) -> Record | None:
    """Somebody has left."""
    return await db.fetchrow(
        """
        WITH v AS (
            UPDATE hotel_reservations SET status = 'checked_out', checked_out_at = $3,
                updated_at = $3
        """
        + _CHANGED
        + SHOWN_FROM,
        *key,
        now,
    )


async def update_confirmed(db: Db, key: BookKey, now: datetime) -> Record | None:
    """The guest says that they will come; the first time counts."""
    return await db.fetchrow(
        """
        WITH v AS (
            UPDATE hotel_reservations SET confirmed_at = coalesce(confirmed_at, $3),
                updated_at = CASE WHEN confirmed_at IS NULL THEN $3 ELSE updated_at END
        """
        + _CHANGED
        + SHOWN_FROM,
        *key,
        now,
    )


async def update_cancelled(
    db: Db, key: BookKey, reason: str | None, now: datetime
) -> Record | None:
    """A reservation was cancelled: its room is free again."""
    return await db.fetchrow(
        """
        WITH v AS (
            UPDATE hotel_reservations SET status = 'cancelled', cancelled_at = $4,
                cancel_reason = $3, updated_at = $4
        """
        + _CHANGED
        + SHOWN_FROM,
        *key,
        reason,
        now,
    )


async def update_no_show(db: Db, key: BookKey, now: datetime) -> Record | None:
    """Nobody came: the room is free again."""
    return await db.fetchrow(
        """
        WITH v AS (
            UPDATE hotel_reservations SET status = 'no_show', no_show_at = $3, updated_at = $3
        """
        + _CHANGED
        + SHOWN_FROM,
        *key,
        now,
    )
