"""The table of guests, who are customers."""

from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.hotel.guests.rules import GuestFacts
from tillhouse.hotel.guests.types import Guest
from tillhouse.kit.ids import BookId, BookKey, CustomerId

# The newest first. A lock keeps others from booking for the guest; reservations keep a deleted one.
GUESTS = BookTable(
    "hotel_guests g",
    Guest,
    shown="""g.customer_id, g.name, c.phone_number, c.email, g.document_type,
        g.document_number, g.nationality, g.notes""",
    joins="JOIN customers c ON c.book_id = g.book_id AND c.id = g.customer_id",
    order="g.id DESC",
    fields=GuestFacts,
    filters={
        "customer_id": "g.customer_id = $",
        # A query of mere punctuation leaves only the book, which every guest matches.
        "words": "customer_words(g.book_id, g.name) @@ customer_query($1, $) "
        "AND numnode(customer_query($1, $)) > 1",
    },
    lock="UPDATE",
)


async def upsert_guest(
    db: Db, key: BookKey, customer_id: CustomerId, facts: GuestFacts, now: datetime
) -> Record:
    """The guest that a customer is, with new facts added; made, when there is none."""
    [row] = await db.fetch(
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
    return row


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
