"""Statements on API keys."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.developer.types import Key, WithdrawalPolicy
from tillhouse.http.wire import decode
from tillhouse.kit.ids import AppId, BookId, BookKey, BusinessId, KeyId
from tillhouse.kit.json import encode

LISTED_MAX = 1000

_KEY = """
    SELECT k.id, b.business_id, k.developer_app_id, k.name, b.environment, k.public_key,
        k.secret_prefix, k.scopes, k.allowed_origins, k.allowed_ip_ranges, k.withdrawal_policy,
        CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'
            WHEN k.expires_at <= $2 THEN 'expired' ELSE 'active' END AS status,
        iso(u.last_used_at) AS last_used_at, u.last_used_ip, iso(k.expires_at) AS expires_at,
        iso(k.revoked_at) AS revoked_at, iso(k.created_at) AS created_at,
        iso(k.updated_at) AS updated_at
    FROM api_keys k
    JOIN books b ON b.id = k.book_id
    LEFT JOIN api_key_uses u ON u.book_id = k.book_id AND u.key_id = k.id
    WHERE k.book_id = ANY($1)
"""


class KeyRow(msgspec.Struct, kw_only=True):
    """An API key as it is written."""

    book_id: BookId
    id: UUID
    developer_app_id: AppId
    name: str
    public_key: str
    secret_prefix: str
    secret_digest: bytes
    secret_sealed: bytes
    scopes: list[str]
    allowed_origins: list[str]
    allowed_ip_ranges: list[str]
    withdrawal_policy: dict[str, Any] | None
    expires_at: datetime | None
    created_at: datetime


def _shown(row: Record) -> Key:
    fields: dict[str, Any] = dict(row)
    if policy := fields["withdrawal_policy"]:
        fields["withdrawal_policy"] = WithdrawalPolicy(**decode(policy.encode()))
    return Key(**fields)


def _json(policy: dict[str, Any] | None) -> str | None:
    return None if policy is None else encode(policy).decode()


async def insert_key(db: Db, row: KeyRow) -> None:
    """A new key."""
    await db.execute(
        """
        INSERT INTO api_keys (book_id, id, developer_app_id, name, public_key, secret_prefix,
            secret_digest, secret_sealed, scopes, allowed_origins, allowed_ip_ranges,
            withdrawal_policy, expires_at, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb, $13, $14, $14)
        """,
        *msgspec.structs.astuple(
            msgspec.structs.replace(row, withdrawal_policy=_json(row.withdrawal_policy))
        ),
    )


async def list_keys(db: Db, books: list[BookId], app_id: AppId | None, now: datetime) -> list[Key]:
    """The keys of a business, the newest first."""
    where = Where(books, now).and_("k.developer_app_id = $", app_id)
    rows = await db.fetch(
        _KEY + where.sql() + " ORDER BY k.id DESC LIMIT " + where.slot(LISTED_MAX), *where.args
    )
    return [_shown(row) for row in rows]


async def show_key(db: Db, books: list[BookId], key_id: KeyId, now: datetime) -> Key | None:
    """One key."""
    row = await db.fetchrow(_KEY + " AND k.id = $3", books, now, key_id)
    return _shown(row) if row else None


async def lock_key(db: Db, books: list[BookId], key_id: KeyId) -> Record | None:
    """A key as it stands, locked until the change commits."""
    return await db.fetchrow(
        """
        SELECT k.book_id, k.id, k.developer_app_id, k.name, k.public_key, k.secret_sealed,
            k.scopes, k.allowed_origins, k.allowed_ip_ranges, k.withdrawal_policy,
            k.expires_at, k.revoked_at, b.environment
        FROM api_keys k JOIN books b ON b.id = k.book_id
        WHERE k.book_id = ANY($1) AND k.id = $2
        FOR NO KEY UPDATE OF k
        """,
        books,
        key_id,
    )


async def count_active_keys(db: Db, book_id: BookId, now: datetime) -> int:
    """Keys that can be used, for the limit."""
    return await db.fetchval(
        """
        SELECT count(*) FROM api_keys
        WHERE book_id = $1 AND revoked_at IS NULL AND coalesce(expires_at > $2, true)
        """,
        book_id,
        now,
    )


async def update_key(
    db: Db,
    key: BookKey,
    what: tuple[str, list[str], list[str], list[str]],
    policy: dict[str, Any] | None,
    expires_at: datetime | None,
    now: datetime,
) -> None:
    """Write what may change: (name, scopes, origins, ranges), policy and expiry."""
    await db.execute(
        """
        UPDATE api_keys SET name = $3, scopes = $4, allowed_origins = $5,
            allowed_ip_ranges = $6, withdrawal_policy = $7::jsonb, expires_at = $8,
            updated_at = $9
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *what,
        _json(policy),
        expires_at,
        now,
    )


async def update_secret(
    db: Db, key: BookKey, prefix: str, digest: bytes, sealed: bytes, now: datetime
) -> None:
    """Replace the secret; the old one is unknown from the commit on."""
    await db.execute(
        """
        UPDATE api_keys SET secret_prefix = $3, secret_digest = $4, secret_sealed = $5,
            updated_at = $6
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        prefix,
        digest,
        sealed,
        now,
    )


async def revoke_key(db: Db, row_key: BookKey, now: datetime) -> None:
    """End a key."""
    await db.execute(
        "UPDATE api_keys SET revoked_at = $3, updated_at = $3 WHERE book_id = $1 AND id = $2",
        *row_key,
        now,
    )


async def delete_key(db: Db, row_key: BookKey) -> None:
    """Remove a key and what was counted for it alone."""
    await db.execute(
        """
        WITH cell AS (DELETE FROM rate_cells WHERE book_id = $1 AND key_id = $2)
        DELETE FROM api_keys WHERE book_id = $1 AND id = $2
        """,
        *row_key,
    )


async def find_business(db: Db, business_id: BusinessId) -> Record:
    """Facts about the business that the rules of keys need."""
    row = await db.fetchrow("SELECT currency, time_zone FROM businesses WHERE id = $1", business_id)
    assert row is not None, "a caller has a business"  # noqa: S101
    return row
