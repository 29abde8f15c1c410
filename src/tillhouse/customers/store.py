"""Statements on customers."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.customers.rules import Contact
from tillhouse.customers.types import Customer
from tillhouse.db.pool import Db
from tillhouse.kit.columns import by_field
from tillhouse.kit.ids import BookId, CustomerId

CUSTOMER = """
    SELECT c.id, c.name, c.email, c.phone_number, c.whatsapp_number, c.notes,
        coalesce((SELECT b.credits - b.debits FROM ledger_balances b
            WHERE b.book_id = c.book_id AND b.kind = 'customer_credit' AND b.owner_id = c.id), 0)
            AS credit_balance,
        iso(c.created_at) AS created_at, iso(c.updated_at) AS updated_at
    FROM customers c WHERE c.book_id = $1 AND c.deleted_at IS NULL
"""
"""Customers of a book as answers show them; further conditions follow."""

# Adds the rows that the statement made to the tally, each connection to a slot of its own.
_TALLY: LiteralString = """
    tally AS (
        INSERT INTO customer_tallies (book_id, slot, customers)
        SELECT $1, pg_backend_pid() % 64, count(*) FROM made HAVING count(*) > 0
        ON CONFLICT (book_id, slot)
        DO UPDATE SET customers = customer_tallies.customers + EXCLUDED.customers
    )
"""

MAKE: LiteralString = (
    """
    made AS (
        INSERT INTO customers (book_id, id, name, created_at, updated_at)
        SELECT $1, n.id, n.name, $2, $2 FROM newcomer n RETURNING id
    ), """
    + _TALLY
)
"""Makes the customers of `newcomer (id, name)` in book $1 at $2; `lock_names` goes before."""
IS_NEW: LiteralString = """
    NOT EXISTS (SELECT FROM newcomer n JOIN customers c
        ON c.book_id = $1 AND lower(c.name) = lower(n.name) AND c.deleted_at IS NULL)
    AND (SELECT count(*) = count(DISTINCT lower(n.name)) FROM newcomer n)
"""
"""Whether none of their names was taken, and no two are the same."""


async def find_country(db: Db, book_id: BookId) -> str:
    """The country in which a book's national numbers are dialled."""
    return await db.fetchval(
        "SELECT s.country FROM books b JOIN businesses s ON s.id = b.business_id WHERE b.id = $1",
        book_id,
    )


async def insert_customer(
    db: Db, book_id: BookId, customer_id: CustomerId, contact: Contact, now: datetime
) -> Customer | None:
    """A customer; None when phone number or address is another's, also one made this moment."""
    row = await db.fetchrow(
        """
        WITH made AS (
            INSERT INTO customers (book_id, id, name, email, phone_number, whatsapp_number, notes,
                created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT DO NOTHING RETURNING *
        ),
        """
        + _TALLY
        + """
        SELECT id, name, email, phone_number, whatsapp_number, notes, 0::numeric AS credit_balance,
            iso(created_at) AS created_at, iso(updated_at) AS updated_at
        FROM made
        """,
        book_id,
        customer_id,
        *msgspec.structs.astuple(contact),
        now,
    )
    return Customer(**row) if row else None


async def insert_customers(
    db: Db, book_id: BookId, ids: list[UUID], contacts: list[Contact], now: datetime
) -> set[UUID]:
    """Many customers in one go; those that were made: not whose number is another's by now."""
    rows = await db.fetch(
        """
        WITH made AS (
            INSERT INTO customers (book_id, id, name, email, phone_number, whatsapp_number, notes,
                created_at, updated_at)
            SELECT $1, n.id, n.name, n.email, n.phone_number, n.whatsapp_number, n.notes, $3, $3
            FROM unnest($2::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
                AS n (id, name, email, phone_number, whatsapp_number, notes)
            ON CONFLICT DO NOTHING RETURNING id
        ),
        """
        + _TALLY
        + "SELECT id FROM made",
        book_id,
        ids,
        now,
        *by_field(contacts, Contact),
    )
    return {row["id"] for row in rows}


async def lock_reachable(
    db: Db, book_id: BookId, phone_numbers: list[str], emails: list[str]
) -> list[Customer]:
    """Lock and return the owners of any of the numbers or addresses."""
    rows = await db.fetch(
        CUSTOMER
        + """
            AND c.id IN (
                SELECT id FROM customers
                WHERE book_id = $1 AND phone_number = ANY($2) AND deleted_at IS NULL
                UNION
                SELECT id FROM customers
                WHERE book_id = $1 AND lower(email) = ANY($3) AND deleted_at IS NULL)
            ORDER BY c.id FOR NO KEY UPDATE
        """,
        book_id,
        phone_numbers,
        emails,
    )
    return [Customer(**row) for row in rows]


async def list_named(db: Db, book_id: BookId, names: list[str]) -> set[str]:
    """Which of these names some customer has, in whatever case."""
    rows = await db.fetch(
        """
        SELECT n.name FROM unnest($2::text[]) AS n (name)
        WHERE EXISTS (
            SELECT FROM customers c
            WHERE c.book_id = $1 AND lower(c.name) = lower(n.name) AND c.deleted_at IS NULL)
        """,
        book_id,
        names,
    )
    return {row["name"] for row in rows}


async def upsert_reachable(
    db: Db, book_id: BookId, customer_id: CustomerId, contact: Contact, now: datetime
) -> Sequence[Record]:
    """The owner of the number or address, else the new customer of both.

    No row: somebody else has made one meanwhile, whom the next look finds.
    """
    return await db.fetch(
        """
        WITH found AS (
            SELECT id FROM customers
            WHERE book_id = $1 AND phone_number = $5 AND deleted_at IS NULL
            UNION
            SELECT id FROM customers
            WHERE book_id = $1 AND lower(email) = $4 AND deleted_at IS NULL
        ), made AS (
            INSERT INTO customers (book_id, id, name, email, phone_number, created_at, updated_at)
            SELECT $1, $2, $3, $4, $5, $6, $6 WHERE NOT EXISTS (SELECT FROM found)
            ON CONFLICT DO NOTHING RETURNING id
        ),
        """
        + _TALLY
        + """
        SELECT id, false AS is_new FROM found UNION ALL SELECT id, true FROM made
        """,
        book_id,
        customer_id,
        contact.name,
        contact.email,
        contact.phone_number,
        now,
    )


async def find_named(db: Db, book_id: BookId, name: str) -> CustomerId | None:
    """The oldest customer of exactly this name, in whatever case."""
    return await db.fetchval(
        """
        SELECT id FROM customers
        WHERE book_id = $1 AND lower(name) = lower($2) AND deleted_at IS NULL
        ORDER BY id LIMIT 1
        """,
        book_id,
        name,
    )


async def lock_name(db: Db, book_id: BookId, name: str) -> None:
    """Let one transaction at a time make a customer of a bare name."""
    await db.execute(
        """
        SELECT pg_advisory_xact_lock(
            hashtextextended($1::uuid::text || ' customer ' || lower($2), 0))
        """,
        book_id,
        name,
    )


async def lock_names(db: Db, book_id: BookId, names: Sequence[str]) -> None:
    """The same for several names."""
    await db.execute(
        """
        SELECT pg_advisory_xact_lock(n.key)
        FROM (
            SELECT DISTINCT
                hashtextextended($1::uuid::text || ' customer ' || lower(name), 0) AS key
            FROM unnest($2::text[]) AS name ORDER BY key OFFSET 0
        ) n
        """,
        book_id,
        names,
    )


async def list_owners(
    db: Db, book_id: BookId, contact: Contact, but: UUID | None = None
) -> list[Customer]:
    """The owners of a number and an address, except one."""
    rows = await db.fetch(
        CUSTOMER
        + """
            AND c.id IN (
                SELECT id FROM customers
                WHERE book_id = $1 AND phone_number = $2 AND deleted_at IS NULL
                UNION
                SELECT id FROM customers
                WHERE book_id = $1 AND lower(email) = $3 AND deleted_at IS NULL)
            AND c.id IS DISTINCT FROM $4 ORDER BY c.id
        """,
        book_id,
        contact.phone_number,
        contact.email,
        but,
    )
    return [Customer(**row) for row in rows]


async def find_owners(
    db: Db, book_id: BookId, phone_number: str | None, email: str | None
) -> Record | None:
    """The owner of a number and the owner of an address."""
    return await db.fetchrow(
        """
        SELECT
            (SELECT id FROM customers
             WHERE book_id = $1 AND phone_number = $2 AND deleted_at IS NULL) AS by_phone,
            (SELECT id FROM customers
             WHERE book_id = $1 AND lower(email) = $3 AND deleted_at IS NULL) AS by_email
        """,
        book_id,
        phone_number,
        email,
    )


async def show_customer(db: Db, book_id: BookId, customer_id: CustomerId) -> Customer | None:
    """One customer."""
    row = await db.fetchrow(CUSTOMER + " AND c.id = $2", book_id, customer_id)
    return Customer(**row) if row else None


async def lock_customer(db: Db, book_id: BookId, customer_id: CustomerId) -> Customer | None:
    """One customer, locked until the transaction ends."""
    row = await db.fetchrow(CUSTOMER + " AND c.id = $2 FOR NO KEY UPDATE", book_id, customer_id)
    return Customer(**row) if row else None


async def update_customer(
    db: Db, book_id: BookId, customer_id: CustomerId, contact: Contact, now: datetime
) -> None:
    """The stored fields of a customer."""
    await db.execute(
        """
        UPDATE customers SET name = $3, email = $4, phone_number = $5, whatsapp_number = $6,
            notes = $7, updated_at = changed_at(updated_at, $8)
        WHERE book_id = $1 AND id = $2
        """,
        book_id,
        customer_id,
        *msgspec.structs.astuple(contact),
        now,
    )


async def delete_customer(db: Db, book_id: BookId, customer_id: CustomerId, now: datetime) -> bool:
    """Take a customer out of the list; number and address are free again."""
    return await db.fetchval(
        """
        WITH gone AS (
            UPDATE customers SET deleted_at = $3, updated_at = changed_at(updated_at, $3)
            WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING id
        ), tally AS (
            INSERT INTO customer_tallies (book_id, slot, customers)
            SELECT $1, pg_backend_pid() % 64, -count(*) FROM gone HAVING count(*) > 0
            ON CONFLICT (book_id, slot)
            DO UPDATE SET customers = customer_tallies.customers + EXCLUDED.customers
        )
        SELECT EXISTS (SELECT FROM gone)
        """,
        book_id,
        customer_id,
        now,
    )
