"""Statements on voice numbers."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, StoreId
from tillhouse.kit.page import Page
from tillhouse.voice.numbers.rules import NumberFacts

_NUMBER: LiteralString = """
    SELECT n.id, n.phone_number, n.label, n.provider, n.status, n.is_default, n.default_agent_id,
        n.store_id, n.max_concurrent_calls, n.calls_per_second, n.calls_from, n.calls_until,
        n.allowed_prefixes,
        (SELECT count(*) FROM voice_calls c
         WHERE c.book_id = n.book_id AND c.number_id = n.id AND c.lease_until > now()
        ) AS active_calls,
        iso(n.created_at) AS created_at, iso(n.updated_at) AS updated_at
    FROM voice_numbers n WHERE n.book_id = $1 AND n.deleted_at IS NULL
"""


class NumberRow(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a number that never change."""

    phone_number: str
    provider: str


async def insert_number(
    db: Db, key: BookKey, row: NumberRow, facts: NumberFacts, now: datetime
) -> None:
    """A number."""
    await db.execute(
        """
        INSERT INTO voice_numbers (book_id, id, phone_number, provider, label, status, is_default,
            default_agent_id, store_id, max_concurrent_calls, calls_per_second, calls_from,
            calls_until, allowed_prefixes, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)
        """,
        *key,
        *msgspec.structs.astuple(row),
        *msgspec.structs.astuple(facts),
        now,
    )


async def update_number(db: Db, key: BookKey, facts: NumberFacts, now: datetime) -> None:
    """Everything that may change of a number, but its settings."""
    await db.execute(
        """
        UPDATE voice_numbers SET label = $3, status = $4, is_default = $5, default_agent_id = $6,
            store_id = $7, max_concurrent_calls = $8, calls_per_second = $9, calls_from = $10,
            calls_until = $11, allowed_prefixes = $12, updated_at = $13
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *msgspec.structs.astuple(facts),
        now,
    )
    # Calls may have waited for that.
    db.queues_jobs = True


async def update_settings(db: Db, key: BookKey, sealed: bytes | None) -> None:
    """The settings of a number, sealed."""
    await db.execute(
        "UPDATE voice_numbers SET settings_sealed = $3 WHERE book_id = $1 AND id = $2",
        *key,
        sealed,
    )


async def update_no_default(db: Db, book_id: BookId) -> None:
    """No number is the default one now."""
    await db.execute(
        "UPDATE voice_numbers SET is_default = false WHERE book_id = $1 AND is_default", book_id
    )


async def delete_number(db: Db, key: BookKey, now: datetime) -> bool:
    """Take a number out of use, unless calls from it have not ended; whether it went."""
    done = await db.execute(
        """
        UPDATE voice_numbers n SET deleted_at = $3, updated_at = $3, is_default = false,
            settings_sealed = NULL
        WHERE n.book_id = $1 AND n.id = $2 AND NOT EXISTS (
            SELECT FROM voice_calls c
            WHERE c.book_id = $1 AND c.number_id = $2 AND (c.status = 'queued'
                OR c.lease_until IS NOT NULL))
        """,
        *key,
        now,
    )
    return done.endswith(" 1")


async def lock_number(db: Db, book_id: BookId, number_id: UUID) -> Record | None:
    """One number, locked against changes and dialling until the transaction ends."""
    return await db.fetchrow(_NUMBER + " AND n.id = $2 FOR UPDATE OF n", book_id, number_id)


async def show_number(db: Db, book_id: BookId, number_id: UUID) -> Record | None:
    """One number."""
    return await db.fetchrow(_NUMBER + " AND n.id = $2", book_id, number_id)


async def count_numbers(db: Db, book_id: BookId) -> int:
    """How many numbers there are."""
    return await db.fetchval(
        "SELECT count(*) FROM voice_numbers WHERE book_id = $1 AND deleted_at IS NULL", book_id
    )


async def list_numbers(db: Db, book_id: BookId, page: Page) -> Sequence[Record]:
    """One page of the numbers, the default one first, then the oldest."""
    return await db.fetch(
        _NUMBER + " ORDER BY n.is_default DESC, n.id LIMIT $2 OFFSET $3",
        book_id,
        page.per_page,
        page.offset,
    )


async def find_known(
    db: Db, book_id: BookId, agent_id: UUID | None, store_id: StoreId | None
) -> Record:
    """Whether the book has an agent and a store, where they are named; and its country."""
    [row] = await db.fetch(
        """
        SELECT $2::uuid IS NULL OR EXISTS (
                SELECT FROM voice_agents
                WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL) AS has_agent,
            $3::uuid IS NULL OR EXISTS (
                SELECT FROM stores
                WHERE book_id = $1 AND id = $3 AND deleted_at IS NULL) AS has_store,
            b.country
        FROM books k JOIN businesses b ON b.id = k.business_id WHERE k.id = $1
        """,
        book_id,
        agent_id,
        store_id,
    )
    return row
