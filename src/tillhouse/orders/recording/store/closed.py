"""Whether the books are closed at the moment of a sale."""

from datetime import datetime

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId


async def find_closed_days(db: Db, book_id: BookId, at: datetime) -> str | None:
    """The last closed day and the day of the moment, as JSON; None where the books are open.

    They are the DETAIL of the constraint that decides, which reads the row with a lock.
    """
    return await db.fetchval("SELECT closed_days($1, $2)", book_id, at)
