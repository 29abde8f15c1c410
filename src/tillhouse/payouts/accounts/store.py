"""Statements on payout accounts."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.jobs.store import QUEUE
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.page import Page

_ACCOUNT: LiteralString = """
    SELECT a.id, a.status, a.bank_code, a.bank_name, a.account_number, a.account_name, a.currency,
        a.provider, a.error, iso(a.usable_at) AS usable_at, a.version,
        iso(a.created_at) AS created_at, iso(a.updated_at) AS updated_at
    FROM payout_accounts a WHERE a.book_id = $1
"""


class AccountRow(msgspec.Struct, frozen=True, kw_only=True):
    """A payout account as it is written."""

    provider: str
    bank_code: str
    account_number: str
    currency: str
    created_by_id: UUID
    created_by_name: str


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a check: with a holder the account is active, else it has failed."""

    holder: str | None
    bank_name: str | None
    error: str | None
    usable_at: datetime


async def insert_account(
    db: Db, key: BookKey, row: AccountRow, kind: str, due_at: datetime, now: datetime
) -> None:
    """Keep an account that is to be checked, and queue the check."""
    await db.execute(
        """
        WITH account AS (
            INSERT INTO payout_accounts (book_id, id, status, provider, bank_code,
                account_number, currency, created_by_id, created_by_name, created_at, updated_at)
            VALUES ($1, $2, 'checking', $3, $4, $5, $6, $7, $8, $11, $11)
            RETURNING id
        ), queueing AS (
            SELECT $1::uuid AS book_id, $9::text AS kind, id AS subject_id, '' AS key,
                NULL::bytea AS payload, $10::timestamptz AS due_at, $11::timestamptz AS queued_at
            FROM account
        ),
        """
        + QUEUE
        + "SELECT",
        *key,
        *msgspec.structs.astuple(row),
        kind,
        due_at,
        now,
    )


async def show_account(db: Db, book_id: BookId, account_id: UUID) -> Record | None:
    """One account."""
    return await db.fetchrow(_ACCOUNT + " AND a.id = $2", book_id, account_id)


async def count_accounts(db: Db, book_id: BookId) -> int:
    """How many accounts the book has, inactive ones too."""
    return await db.fetchval("SELECT count(*) FROM payout_accounts WHERE book_id = $1", book_id)


async def list_accounts(db: Db, book_id: BookId, page: Page) -> Sequence[Record]:
    """One page of the accounts, the newest first."""
    return await db.fetch(
        _ACCOUNT + " ORDER BY a.id DESC LIMIT $2 OFFSET $3", book_id, page.per_page, page.offset
    )


async def lock_checking(db: Db, book_id: BookId, account_id: UUID) -> Record | None:
    """An account that is being checked, and its environment; None when that is over."""
    return await db.fetchrow(
        """
        SELECT a.id, a.provider, a.bank_code, a.account_number, a.currency, k.environment
        FROM payout_accounts a JOIN books k ON k.id = a.book_id
        WHERE a.book_id = $1 AND a.id = $2 AND a.status = 'checking'
        FOR NO KEY UPDATE OF a
        """,
        book_id,
        account_id,
    )


async def update_checked(db: Db, key: BookKey, named: CheckResult, now: datetime) -> None:
    """End a check, unless it has ended."""
    await db.execute(
        """
        UPDATE payout_accounts SET account_name = $3::text, bank_name = $4, error = $5,
            usable_at = CASE WHEN $3::text IS NOT NULL THEN $6::timestamptz END,
            status = CASE WHEN $3::text IS NOT NULL THEN 'active' ELSE 'failed' END,
            version = version + 1, updated_at = $7
        WHERE book_id = $1 AND id = $2 AND status = 'checking'
        """,
        *key,
        *msgspec.structs.astuple(named),
        now,
    )


async def update_inactive(db: Db, key: BookKey, now: datetime) -> Record | None:
    """Take an account out of use; None where there is none of this id."""
    return await db.fetchrow(
        """
        WITH before AS (
            SELECT status FROM payout_accounts WHERE book_id = $1 AND id = $2
            FOR NO KEY UPDATE
        )
        UPDATE payout_accounts a SET status = 'inactive',
            version = a.version + (before.status <> 'inactive')::integer,
            updated_at = CASE WHEN before.status = 'inactive' THEN a.updated_at ELSE $3 END
        FROM before WHERE a.book_id = $1 AND a.id = $2
        RETURNING before.status AS before, a.bank_code, a.account_number
        """,
        *key,
        now,
    )
