"""Statements on the common facts of a hotel: its currency, and the day there."""

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId


class BookTerms(msgspec.Struct, frozen=True):
    """The currency and the time zone of a book."""

    currency: str
    time_zone: str


async def find_terms(db: Db, book_id: BookId) -> BookTerms:
    """The currency and the time zone of a book."""
    row = await db.fetchrow(
        """
        SELECT u.currency, u.time_zone FROM books k JOIN businesses u ON u.id = k.business_id
        WHERE k.id = $1
        """,
        book_id,
    )
    assert row is not None, "every call has a book"  # noqa: S101
    return BookTerms(**row)
