"""Statements on the daily bound on calls."""

from datetime import datetime

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId


async def show_limits(db: Db, book_id: BookId, now: datetime) -> Record:
    """The bound that the business set, this day of its clock, and the calls placed for it."""
    [row] = await db.fetch(
        """
        SELECT t.today::text AS day, s.calls_per_day, coalesce(d.calls, 0) AS calls_today
        FROM books k
        JOIN businesses u ON u.id = k.business_id
        CROSS JOIN LATERAL (SELECT ($2::timestamptz AT TIME ZONE u.time_zone)::date AS today) t
        LEFT JOIN voice_settings s ON s.book_id = k.id
        LEFT JOIN voice_days d ON d.book_id = k.id AND d.day = t.today
        WHERE k.id = $1
        """,
        book_id,
        now,
    )
    return row


async def upsert_calls_per_day(db: Db, book_id: BookId, calls: int, now: datetime) -> None:
    """How many calls may be placed for a day."""
    await db.execute(
        """
        INSERT INTO voice_settings (book_id, calls_per_day, updated_at) VALUES ($1, $2, $3)
        ON CONFLICT (book_id) DO UPDATE SET calls_per_day = excluded.calls_per_day,
            updated_at = excluded.updated_at
        """,
        book_id,
        calls,
        now,
    )
