"""Statements on the accounts that targets are paid into."""

from datetime import datetime
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.payins.types import VirtualAccount

_ACCOUNT: LiteralString = """
    SELECT a.book_id, a.id, a.target_type, a.target_id, a.provider, a.reference, a.status,
        a.amount, a.currency, a.provider_reference, a.account_number, a.bank_name, a.account_name,
        a.url, a.error, a.expires_at, a.asked_at, a.created_at, a.updated_at
    FROM virtual_accounts a WHERE a.book_id = $1
"""
_OF_TARGET: LiteralString = " AND a.target_type = $2 AND a.target_id = $3"


class AccountToOpen(msgspec.Struct, frozen=True, kw_only=True):
    """An account that is about to be opened."""

    target_type: str
    target_id: UUID
    provider: str
    reference: str
    amount: Decimal
    currency: str
    expires_at: datetime | None
    order_id: UUID | None


class OpenedRow(msgspec.Struct, frozen=True, kw_only=True):
    """An account as its provider opened it."""

    provider_reference: str
    account_number: str | None
    bank_name: str | None
    account_name: str | None
    url: str | None
    expires_at: datetime | None


async def lock_current(
    db: Db, book_id: BookId, target_type: str, target_id: UUID
) -> VirtualAccount | None:
    """The account of a target that is open or being opened, locked."""
    row = await db.fetchrow(
        _ACCOUNT + _OF_TARGET + " AND a.status IN ('opening', 'open') FOR NO KEY UPDATE OF a",
        book_id,
        target_type,
        target_id,
    )
    return VirtualAccount(**row) if row else None


async def find_open(
    db: Db, book_id: BookId, target: tuple[str, UUID], now: datetime
) -> VirtualAccount | None:
    """The account of a target (type, id) that can be paid into now."""
    row = await db.fetchrow(
        _ACCOUNT
        + _OF_TARGET
        + " AND a.status = 'open' AND (a.expires_at IS NULL OR a.expires_at > $4)",
        book_id,
        *target,
        now,
    )
    return VirtualAccount(**row) if row else None


async def find_latest(db: Db, book_id: BookId, target: tuple[str, UUID]) -> VirtualAccount | None:
    """The last account of a target (type, id), in whatever state."""
    row = await db.fetchrow(
        _ACCOUNT + _OF_TARGET + " ORDER BY a.created_at DESC, a.id DESC LIMIT 1",
        book_id,
        *target,
    )
    return VirtualAccount(**row) if row else None


async def find_account(db: Db, key: BookKey) -> VirtualAccount | None:
    """One account."""
    row = await db.fetchrow(_ACCOUNT + " AND a.id = $2", *key)
    return VirtualAccount(**row) if row else None


async def find_by_reference(
    db: Db, book_id: BookId, provider: str, reference: str
) -> VirtualAccount | None:
    """The account with this reference of ours."""
    row = await db.fetchrow(
        _ACCOUNT + " AND a.reference = $2 AND a.provider = $3", book_id, reference, provider
    )
    return VirtualAccount(**row) if row else None


async def find_elsewhere(db: Db, book_id: BookId, provider: str, reference: str) -> Record | None:
    """The account of another book_id with this reference."""
    return await db.fetchrow(
        """
        SELECT a.book_id, a.id, k.environment
        FROM virtual_accounts a JOIN books k ON k.id = a.book_id
        WHERE a.reference = $2 AND a.book_id <> $1 AND a.provider = $3
        """,
        book_id,
        reference,
        provider,
    )


async def find_by_number(
    db: Db, book_id: BookId, provider: str, number: str
) -> VirtualAccount | None:
    """The account with this number; where the provider gave it out again, the last."""
    row = await db.fetchrow(
        _ACCOUNT
        + " AND a.provider = $2 AND a.account_number = $3"
        + " ORDER BY a.created_at DESC, a.id DESC LIMIT 1",
        book_id,
        provider,
        number,
    )
    return VirtualAccount(**row) if row else None


async def insert_account(db: Db, key: BookKey, new: AccountToOpen, now: datetime) -> bool:
    """Begin to open an account; False where the target has one."""
    return await db.execute_one(
        """
        INSERT INTO virtual_accounts (book_id, id, target_type, target_id, provider, reference,
            amount, currency, expires_at, order_id, status, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'opening', $11, $11)
        ON CONFLICT (book_id, target_type, target_id) WHERE status IN ('opening', 'open')
            DO NOTHING
        """,
        *key,
        *msgspec.structs.astuple(new),
        now,
    )


async def touch_opening(db: Db, key: BookKey, now: datetime) -> None:
    """Ask once more for an account that somebody began to open and never recorded."""
    await db.execute(
        """
        UPDATE virtual_accounts SET updated_at = $3
        WHERE book_id = $1 AND id = $2 AND status = 'opening'
        """,
        *key,
        now,
    )


async def update_opened(db: Db, key: BookKey, row: OpenedRow, now: datetime) -> bool:
    """Record the account that was opened; False where somebody else did, or it was given up."""
    return await db.execute_one(
        """
        UPDATE virtual_accounts SET status = 'open', provider_reference = $3, account_number = $4,
            bank_name = $5, account_name = $6, url = $7, expires_at = coalesce($8, expires_at),
            updated_at = $9
        WHERE book_id = $1 AND id = $2 AND status = 'opening'
        """,
        *key,
        *msgspec.structs.astuple(row),
        now,
    )


async def update_failed(db: Db, key: BookKey, error: str, now: datetime) -> None:
    """Record that no account was opened, and why."""
    await db.execute(
        """
        UPDATE virtual_accounts SET status = 'failed', error = $3, updated_at = $4
        WHERE book_id = $1 AND id = $2 AND status = 'opening'
        """,
        *key,
        error,
        now,
    )


async def update_closed(db: Db, key: BookKey, now: datetime) -> None:
    """Close an account: a later payment into it is booked all the same."""
    await db.execute(
        """
        UPDATE virtual_accounts SET status = 'closed', updated_at = $3
        WHERE book_id = $1 AND id = $2 AND status IN ('opening', 'open')
        """,
        *key,
        now,
    )


async def update_expired(db: Db, key: BookKey, at: datetime) -> None:
    """Let the time of an account be over at a moment."""
    await db.execute(
        "UPDATE virtual_accounts SET expires_at = $3 WHERE book_id = $1 AND id = $2", *key, at
    )


async def update_attempt_failed(db: Db, key: BookKey, error: str, now: datetime) -> None:
    """Note a payment that failed; the account can still be paid into."""
    await db.execute(
        """
        UPDATE virtual_accounts SET error = $3, updated_at = $4
        WHERE book_id = $1 AND id = $2 AND error IS DISTINCT FROM $3
        """,
        *key,
        error,
        now,
    )


async def claim_asking(db: Db, key: BookKey, before: datetime, now: datetime) -> bool:
    """Ask now about an account, unless it was asked about since a moment; False: wait."""
    return await db.execute_one(
        """
        UPDATE virtual_accounts SET asked_at = $4
        WHERE book_id = $1 AND id = $2 AND (asked_at IS NULL OR asked_at <= $3)
        """,
        *key,
        before,
        now,
    )
