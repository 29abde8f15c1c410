"""Statements of the list of customers. It is ordered by id, which rises with time, or by change."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.customers.store import CUSTOMER
from tillhouse.customers.types import Customer
from tillhouse.db.changes import and_after
from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Page, Position

_THESE: LiteralString = " AND c.id = ANY($2) ORDER BY array_position($2, c.id)"


class CustomerPage(msgspec.Struct, frozen=True):
    """The ids on one page, and how many there are on all."""

    total: int
    ids: list[UUID]


class Matching(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on customers; `words` is a text search."""

    words: str | None = None
    email: str | None = None
    phone_number: str | None = None
    # As it is written in a search: somebody's phone number, or their number for messages.
    any_number: str | None = None
    since: datetime | None = None

    @property
    def is_everybody(self) -> bool:
        """Whether there is no condition."""
        return self == Matching()


async def find_newest(db: Db, book_id: BookId, page: Page) -> CustomerPage:
    """A page of everybody: the ids come from their index alone, however far the page is."""
    row = await db.fetchrow(
        """
        SELECT
            (SELECT coalesce(sum(customers), 0)::bigint FROM customer_tallies
             WHERE book_id = $1) AS total,
            ARRAY(SELECT id FROM customers WHERE book_id = $1 AND deleted_at IS NULL
                  ORDER BY id DESC LIMIT $2 OFFSET $3) AS ids
        """,
        book_id,
        page.per_page,
        page.offset,
    )
    return _found(row)


async def find_matching(db: Db, book_id: BookId, matching: Matching, page: Page) -> CustomerPage:
    """A page of matching customers; found first, or the plan would walk by their order."""
    where = _where(book_id, matching)
    row = await db.fetchrow(
        """
        WITH found AS MATERIALIZED (
            SELECT c.id FROM customers c
            WHERE c.book_id = $1 AND c.deleted_at IS NULL
        """
        + where.sql()
        + """)
        SELECT (SELECT count(*) FROM found) AS total,
            ARRAY(SELECT id FROM found ORDER BY id DESC
        """
        + (" LIMIT " + where.window(page))
        + ") AS ids",
        *where.args,
    )
    return _found(row)


def _found(row: Record | None) -> CustomerPage:
    return CustomerPage(row["total"], row["ids"]) if row else CustomerPage(0, [])


async def list_customers(db: Db, book_id: BookId, ids: list[UUID]) -> list[Customer]:
    """These customers, in this order."""
    return [Customer(**row) for row in await db.fetch(CUSTOMER + _THESE, book_id, ids)]


async def count_matching(db: Db, book_id: BookId, matching: Matching) -> int:
    """How many customers match."""
    where = _where(book_id, matching)
    return await db.fetchval(
        "SELECT count(*) FROM customers c WHERE c.book_id = $1 AND c.deleted_at IS NULL"
        + where.sql(),
        *where.args,
    )


async def list_changed(
    db: Db, book_id: BookId, matching: Matching, position: Position | None, count: int
) -> Sequence[Customer]:
    """So many matching customers after a place, the oldest change first."""
    where = and_after(_where(book_id, matching), "c.updated_at, c.id", position)
    rows = await db.fetch(
        CUSTOMER + where.sql() + " ORDER BY c.updated_at, c.id LIMIT " + where.slot(count),
        *where.args,
    )
    return [Customer(**row) for row in rows]


def _where(book_id: BookId, matching: Matching) -> Where:
    return (
        Where(book_id)
        .and_("customer_words(c.book_id, c.name) @@ customer_query($1, $)", matching.words)
        # A query of mere punctuation leaves only the book, which every customer matches.
        .and_("numnode(customer_query($1, $)) > 1", matching.words)
        .and_("lower(c.email) = $", matching.email)
        .and_("c.phone_number = $", matching.phone_number)
        .and_("c.phone_number = $ OR c.whatsapp_number = $", matching.any_number)
        .and_("c.updated_at >= $", matching.since)
    )
