"""Statements on guests."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.hotel.guests.rules import GuestFacts
from tillhouse.hotel.guests.types import Guest
from tillhouse.kit.ids import BookId, BookKey, CustomerId
from tillhouse.kit.page import Page

_GUEST: LiteralString = """
    SELECT g.id, g.customer_id, g.name, c.phone_number, c.email, g.document_type,
        g.document_number, g.nationality, g.notes,
        iso(g.created_at) AS created_at, iso(g.updated_at) AS updated_at
    FROM hotel_guests g JOIN customers c ON c.book_id = g.book_id AND c.id = g.customer_id
    WHERE g.book_id = $1 AND g.deleted_at IS NULL
"""


async def upsert_guest(
    db: Db, key: BookKey, customer_id: CustomerId, facts: GuestFacts, now: datetime
) -> Record:
    """The guest that a customer is, with what was not known yet; made, when there is none."""
    row = await db.fetchrow(
        """
        INSERT INTO hotel_guests (book_id, id, customer_id, name, document_type, document_number,
            nationality, notes, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
        ON CONFLICT (book_id, customer_id) WHERE deleted_at IS NULL
        DO UPDATE SET
            document_type = coalesce(hotel_guests.document_type, EXCLUDED.document_type),
            document_number = coalesce(hotel_guests.document_number, EXCLUDED.document_number),
            nationality = coalesce(hotel_guests.nationality, EXCLUDED.nationality),
            notes = coalesce(hotel_guests.notes, EXCLUDED.notes)
        RETURNING id, name, xmax = 0 AS is_new
        """,
        *key,
        customer_id,
        *msgspec.structs.astuple(facts),
        now,
    )
    assert row is not None, "it inserts or updates"  # noqa: S101
    return row


async def update_guest(db: Db, key: BookKey, facts: GuestFacts, now: datetime) -> None:
    """The stored fields of a guest."""
    await db.execute(
        """
        UPDATE hotel_guests SET name = $3, document_type = $4, document_number = $5,
            nationality = $6, notes = $7, updated_at = $8
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *msgspec.structs.astuple(facts),
        now,
    )


async def delete_guest(db: Db, key: BookKey, now: datetime) -> None:
    """Take a guest out of the list; reservations keep them."""
    await db.execute(
        "UPDATE hotel_guests SET deleted_at = $3, updated_at = $3 WHERE book_id = $1 AND id = $2",
        *key,
        now,
    )


async def show_guest(db: Db, book_id: BookId, guest_id: UUID) -> Guest | None:
    """One guest."""
    row = await db.fetchrow(_GUEST + " AND g.id = $2", book_id, guest_id)
    return Guest(**row) if row else None


async def lock_guest(db: Db, book_id: BookId, guest_id: UUID) -> Guest | None:
    """One guest, for whom nobody books meanwhile."""
    row = await db.fetchrow(_GUEST + " AND g.id = $2 FOR UPDATE OF g", book_id, guest_id)
    return Guest(**row) if row else None


async def has_open_reservation(db: Db, book_id: BookId, guest_id: UUID) -> bool:
    """Whether the guest is expected, or there."""
    return await db.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM hotel_reservations
            WHERE book_id = $1 AND guest_id = $2 AND status IN ('booked', 'checked_in'))
        """,
        book_id,
        guest_id,
    )


def _where(fixed: Where, customer_id: UUID | None, words: str | None) -> Where:
    return (
        fixed.and_("g.customer_id = $", customer_id)
        .and_("customer_words(g.book_id, g.name) @@ customer_query($1, $)", words)
        # A query of mere punctuation leaves only the book, which every guest matches.
        .and_("numnode(customer_query($1, $)) > 1", words)
    )


async def count_guests(db: Db, book_id: BookId, customer_id: UUID | None, words: str | None) -> int:
    """How many guests fit."""
    where = _where(Where(book_id), customer_id, words)
    return await db.fetchval(
        "SELECT count(*) FROM hotel_guests g WHERE g.book_id = $1 AND g.deleted_at IS NULL"
        + where.sql(),
        *where.args,
    )


async def list_guests(
    db: Db, book_id: BookId, customer_id: UUID | None, words: str | None, page: Page
) -> list[Guest]:
    """One page of the guests that fit, the newest first."""
    where = _where(Where(book_id), customer_id, words)
    rows = await db.fetch(
        _GUEST
        + where.sql()
        + " ORDER BY g.id DESC LIMIT "
        + where.slot(page.per_page)
        + " OFFSET "
        + where.slot(page.offset),
        *where.args,
    )
    return [Guest(**row) for row in rows]
