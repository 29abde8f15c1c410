"""Statements that read the facts of a business or of a book for rules."""

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BusinessId, UserId


async def find_time_zone(db: Db, business_id: BusinessId) -> str:
    """The zone of a business's day."""
    return await db.fetchval("SELECT time_zone FROM businesses WHERE id = $1", business_id)


async def find_country(db: Db, business_id: BusinessId) -> str:
    """Where numbers without a country code are dialled."""
    return await db.fetchval("SELECT country FROM businesses WHERE id = $1", business_id)


async def find_currency(db: Db, book_id: BookId) -> str:
    """The currency of a book."""
    return await db.fetchval(
        "SELECT u.currency FROM books k JOIN businesses u ON u.id = k.business_id WHERE k.id = $1",
        book_id,
    )


async def lock_role(db: Db, business_id: BusinessId, user_id: UserId) -> str | None:
    """The role of a member, who keeps it until the transaction ends; None: no member any more."""
    return await db.fetchval(
        "SELECT role FROM members WHERE business_id = $1 AND user_id = $2 FOR SHARE",
        business_id,
        user_id,
    )


async def lock_book(db: Db, book_id: BookId) -> None:
    """Put those in line who count before they add, so that no limit is passed together."""
    await db.execute("SELECT FROM books WHERE id = $1 FOR NO KEY UPDATE", book_id)


class BookTerms(msgspec.Struct, frozen=True):
    """The currency and the time zone of a book."""

    currency: str
    time_zone: str


async def find_terms(db: Db, book_id: BookId) -> BookTerms:
    """The currency and the time zone of a book."""
    [row] = await db.fetch(
        """
        SELECT u.currency, u.time_zone FROM books k JOIN businesses u ON u.id = k.business_id
        WHERE k.id = $1
        """,
        book_id,
    )
    return BookTerms(**row)
