"""Statements on the numbers that businesses write from."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, NumberId
from tillhouse.kit.page import Page

_NUMBER: LiteralString = """
    SELECT id, provider, phone_number, provider_number_id, status,
        CASE WHEN provider = 'whatsapp' THEN '/hooks/whatsapp/' || id END AS hook_path,
        iso(created_at) AS created_at, iso(updated_at) AS updated_at
    FROM messaging_numbers WHERE book_id = $1
"""


async def insert_number(
    db: Db,
    key: BookKey,
    what: tuple[str, str, str | None],
    sealed: bytes | None,
    now: datetime,
) -> bool:
    """A new active number: (provider, phone number, provider's id); False when there is one."""
    return await db.execute_one(
        """
        INSERT INTO messaging_numbers (book_id, id, provider, phone_number, provider_number_id,
            credentials_sealed, status, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, 'active', $7, $7)
        ON CONFLICT (book_id) WHERE status = 'active' DO NOTHING
        """,
        *key,
        *what,
        sealed,
        now,
    )


async def count_numbers(db: Db, book_id: BookId) -> int:
    """How many numbers a book has or had."""
    return await db.fetchval("SELECT count(*) FROM messaging_numbers WHERE book_id = $1", book_id)


async def list_numbers(db: Db, book_id: BookId, page: Page) -> Sequence[Record]:
    """One page of the numbers, the active one first, then the latest."""
    return await db.fetch(
        _NUMBER + " ORDER BY status, id DESC LIMIT $2 OFFSET $3",
        book_id,
        page.per_page,
        page.offset,
    )


async def show_number(db: Db, book_id: BookId, number_id: NumberId) -> Record | None:
    """One number."""
    return await db.fetchrow(_NUMBER + " AND id = $2", book_id, number_id)


async def end_number(db: Db, book_id: BookId, number_id: NumberId, now: datetime) -> bool:
    """Disable a number and forget its credentials; whether there is one."""
    return await db.execute_one(
        """
        UPDATE messaging_numbers SET status = 'disabled', credentials_sealed = NULL,
            updated_at = CASE WHEN status = 'active' THEN $3 ELSE updated_at END
        WHERE book_id = $1 AND id = $2
        """,
        book_id,
        number_id,
        now,
    )


async def find_active(db: Db, book_id: BookId) -> Record | None:
    """The number that the book writes from."""
    return await db.fetchrow(
        "SELECT id, provider FROM messaging_numbers WHERE book_id = $1 AND status = 'active'",
        book_id,
    )


async def find_credentials(db: Db, book_id: BookId, number_id: NumberId) -> Record | None:
    """The credentials of a number, sealed."""
    return await db.fetchrow(
        """
        SELECT n.id, b.business_id, n.provider_number_id, n.credentials_sealed
        FROM messaging_numbers n JOIN books b ON b.id = n.book_id
        WHERE n.book_id = $1 AND n.id = $2 AND n.status = 'active'
        """,
        book_id,
        number_id,
    )


async def find_hooked(db: Db, number_id: NumberId) -> Record | None:
    """The active number that a provider calls about; it knows the number and no book."""
    return await db.fetchrow(
        """
        SELECT n.book_id, n.id, b.business_id, b.environment, n.provider_number_id,
            n.credentials_sealed
        FROM messaging_numbers n JOIN books b ON b.id = n.book_id
        WHERE n.id = $1 AND n.provider = 'whatsapp' AND n.status = 'active'
        """,
        number_id,
    )


async def find_reported(db: Db, book_id: BookId, number_id: NumberId) -> Record | None:
    """The number that an update is about, connected or no longer."""
    return await db.fetchrow(
        """
        SELECT b.business_id, b.environment, n.provider_number_id
        FROM messaging_numbers n JOIN books b ON b.id = n.book_id
        WHERE n.book_id = $1 AND n.id = $2
        """,
        book_id,
        number_id,
    )
