"""When the days of a list begin: by the business's clock, or by that of one store."""

from typing import LiteralString

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, StoreId
from tillhouse.kit.values import DayClock

CLOCK: LiteralString = """
    SELECT b.currency, coalesce(s.time_zone, b.time_zone) AS name,
        make_interval(mins => coalesce(s.day_cutoff_minutes, 0)) AS cutoff
    FROM books k JOIN businesses b ON b.id = k.business_id
    LEFT JOIN stores s ON s.book_id = $1 AND s.id = $2
    WHERE k.id = $1
"""
"""The zone and the cut-off by which the days of book $1 are counted, or those of its store $2."""


async def find_clock(db: Db, book_id: BookId, store_id: StoreId | None) -> DayClock:
    """The clock of a store, or of the business."""
    row = await db.fetchrow(CLOCK, book_id, store_id)
    assert row is not None, "every call has a book"  # noqa: S101
    return DayClock(row["name"], row["cutoff"])
