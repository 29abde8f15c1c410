"""Statements on the providers that books have connected."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.jobs.store import QUEUE
from tillhouse.kit.ids import BookId, BookKey

_CONNECTION: LiteralString = """
    SELECT p.book_id, p.id, b.business_id, p.provider, p.is_selected, p.credentials_sealed, p.hint,
        p.account_mark, p.down_until, p.last_error, p.created_at, p.updated_at
    FROM payment_providers p JOIN books b ON b.id = p.book_id WHERE p.book_id = $1
"""


class ConnectionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A connection as it is written; without secrets, those that are there stay."""

    provider: str
    is_selected: bool
    credentials_sealed: bytes | None
    hint: str | None


async def find_connection(db: Db, book_id: BookId, provider: str) -> Record | None:
    """One provider of a book, connected or not any more."""
    return await db.fetchrow(_CONNECTION + " AND p.provider = $2", book_id, provider)


async def lock_connection(db: Db, book_id: BookId, provider: str) -> Record | None:
    """One provider of a book, locked until the transaction ends."""
    return await db.fetchrow(
        _CONNECTION + " AND p.provider = $2 FOR NO KEY UPDATE OF p", book_id, provider
    )


async def list_connections(db: Db, book_id: BookId) -> Sequence[Record]:
    """The providers of a book, by name."""
    return await db.fetch(_CONNECTION + " ORDER BY p.provider", book_id)


async def list_selected(db: Db, book_id: BookId) -> Sequence[Record]:
    """Those that new accounts are opened with, by name."""
    return await db.fetch(
        _CONNECTION + " AND p.is_selected AND p.credentials_sealed IS NOT NULL ORDER BY p.provider",
        book_id,
    )


async def upsert_connection(db: Db, key: BookKey, row: ConnectionRow, now: datetime) -> None:
    """Connect a provider, or change how it is connected."""
    await db.execute(
        """
        INSERT INTO payment_providers (book_id, id, provider, is_selected, credentials_sealed,
            hint, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
        ON CONFLICT (book_id, provider) DO UPDATE SET is_selected = excluded.is_selected,
            credentials_sealed =
                coalesce(excluded.credentials_sealed, payment_providers.credentials_sealed),
            hint = coalesce(excluded.hint, payment_providers.hint),
            account_mark = CASE WHEN excluded.credentials_sealed IS NULL
                THEN payment_providers.account_mark END,
            down_until = NULL, last_error = NULL, updated_at = excluded.updated_at
        """,
        *key,
        *msgspec.structs.astuple(row),
        now,
    )


async def end_connection(db: Db, book_id: BookId, provider: str, now: datetime) -> bool:
    """Forget the credentials of a provider; whether it was connected."""
    return await db.execute_one(
        """
        UPDATE payment_providers SET is_selected = false, credentials_sealed = NULL, hint = NULL,
            account_mark = NULL, down_until = NULL, updated_at = $3
        WHERE book_id = $1 AND provider = $2 AND credentials_sealed IS NOT NULL
        """,
        book_id,
        provider,
        now,
    )


async def queue_unnamed(db: Db, books: Sequence[UUID], kind: str, now: datetime) -> None:
    """Queue a job for each connection of these books whose account is not known."""
    await db.execute(
        """
        WITH queueing AS (
            SELECT book_id, $2::text AS kind, id AS subject_id, '' AS key, NULL::bytea AS payload,
                $3::timestamptz AS due_at, $3::timestamptz AS queued_at
            FROM payment_providers
            WHERE book_id = ANY($1) AND credentials_sealed IS NOT NULL AND account_mark IS NULL
        ),
        """
        + QUEUE
        + "SELECT",
        books,
        kind,
        now,
    )
    db.queues_jobs = True


async def find_unnamed(db: Db, key: BookKey) -> Record | None:
    """A connection whose account is not known; None: it is, or nothing is connected any more."""
    return await db.fetchrow(
        _CONNECTION
        + " AND p.id = $2 AND p.credentials_sealed IS NOT NULL AND p.account_mark IS NULL",
        *key,
    )


async def update_account(db: Db, key: BookKey, sealed: bytes, mark: bytes) -> None:
    """Keep the mark of the account of these secrets, unless others have taken their place."""
    await db.execute(
        """
        UPDATE payment_providers SET account_mark = $4
        WHERE book_id = $1 AND id = $2 AND credentials_sealed = $3
        """,
        *key,
        sealed,
        mark,
    )


async def update_down(db: Db, book_id: BookId, provider: str, until: datetime, error: str) -> None:
    """Open no new accounts with a provider until then."""
    await db.execute(
        """
        UPDATE payment_providers SET down_until = $3, last_error = $4
        WHERE book_id = $1 AND provider = $2
        """,
        book_id,
        provider,
        until,
        error,
    )


async def find_owner(db: Db, book_id: BookId, user_id: UUID) -> Record | None:
    """The address of an owner of a book, and the name of the business; None: no owner any more."""
    return await db.fetchrow(
        """
        SELECT u.email, o.name AS business_name
        FROM books b
        JOIN businesses o ON o.id = b.business_id
        JOIN members m ON m.business_id = b.business_id AND m.role = 'owner'
        JOIN users u ON u.id = m.user_id
        WHERE b.id = $1 AND m.user_id = $2
        """,
        book_id,
        user_id,
    )


async def find_book(db: Db, book_id: BookId) -> Record | None:
    """A book, with its business and currency."""
    return await db.fetchrow(
        """
        SELECT b.id AS book_id, b.business_id, b.environment, u.currency
        FROM books b JOIN businesses u ON u.id = b.business_id WHERE b.id = $1
        """,
        book_id,
    )
