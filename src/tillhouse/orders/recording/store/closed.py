"""Whether the books are closed at the moment of a sale."""

from datetime import datetime

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId


async def find_closed_days(db: Db, book_id: BookId, at: datetime) -> str | None:
    """The last closed day and the day of the moment, as JSON; None where the books are open.

    They are the DETAIL of the constraint that decides, which reads the row with a lock.
    """
    return await db.fetchval(
        """
        SELECT jsonb_build_object(
            'closed_until', ((k.closed_until AT TIME ZONE b.time_zone)::date - 1)::text,
            'day', (($2 AT TIME ZONE b.time_zone)::date)::text)::text
        FROM books k JOIN businesses b ON b.id = k.business_id
        WHERE k.id = $1 AND k.closed_until > $2::timestamptz
        """,
        book_id,
        at,
    )
