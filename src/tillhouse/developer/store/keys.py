"""Statements on API keys."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.developer.types import Key, WithdrawalPolicy
from tillhouse.http.wire import decode
from tillhouse.kit.ids import AppId, BookId, BookKey, BusinessId, KeyId, UserId
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
    made_by: UserId | None
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
            withdrawal_policy, expires_at, made_by, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb, $13, $14, $15, $15)
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


# Keys that may do what their maker's role may let no key do, by (scope, role that may grant it);
# also those whose maker is no member any more.
_BEYOND: LiteralString = """
    FROM api_keys k
    JOIN books b ON b.id = k.book_id
    LEFT JOIN members m ON m.business_id = b.business_id AND m.user_id = k.made_by
    CROSS JOIN LATERAL (
        SELECT array_agg(DISTINCT g.scope ORDER BY g.scope) AS beyond
        FROM unnest($1::text[]) g (scope)
        WHERE g.scope = ANY (k.scopes) AND NOT EXISTS (
            SELECT FROM unnest($1::text[], $2::text[]) w (scope, role)
            WHERE w.scope = g.scope AND w.role = m.role)
    ) g
    WHERE k.scopes && $1::text[] AND k.revoked_at IS NULL
        AND coalesce(k.expires_at > $3, true) AND g.beyond IS NOT NULL
"""


async def list_beyond(
    db: Db, granted: tuple[list[str], list[str]], now: datetime, most: int
) -> Sequence[Record]:
    """Keys of every business that may do what their maker may not grant; granted by (scope, role).

    The oldest first, as far as the audit log was told of them or not.
    """
    return await db.fetch(
        """
        SELECT k.book_id, k.id, k.name, b.business_id, b.environment, m.role, g.beyond
        """
        + _BEYOND
        + " ORDER BY k.id LIMIT $4",
        *granted,
        now,
        most,
    )


async def update_noted(
    db: Db, granted: tuple[list[str], list[str]], now: datetime, most: int
) -> Sequence[Record]:
    """Take some such keys that the audit log wasn't told of; from the commit on it was."""
    return await db.fetch(
        """
        WITH found AS (
            SELECT k.book_id, k.id, b.business_id, b.environment, m.role, g.beyond
        """
        + _BEYOND
        + """
                AND k.noted_at IS NULL
            ORDER BY k.id LIMIT $4 FOR NO KEY UPDATE OF k SKIP LOCKED
        )
        UPDATE api_keys k SET noted_at = $3 FROM found f
        WHERE k.book_id = f.book_id AND k.id = f.id
        RETURNING k.id, k.name, f.business_id, f.environment, f.role, f.beyond
        """,
        *granted,
        now,
        most,
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
    """Write the fields that may change: (name, scopes, origins, ranges), policy and expiry."""
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
    db: Db, key: BookKey, secret: tuple[str, bytes, bytes], made_by: UserId, now: datetime
) -> None:
    """Replace the secret, (prefix, digest, sealed); the old one is unknown from the commit on."""
    await db.execute(
        """
        UPDATE api_keys SET secret_prefix = $3, secret_digest = $4, secret_sealed = $5,
            made_by = $6, noted_at = NULL, updated_at = $7
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *secret,
        made_by,
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
    """Remove a key and its own counts."""
    await db.execute(
        """
        WITH cell AS (DELETE FROM rate_cells WHERE book_id = $1 AND key_id = $2)
        DELETE FROM api_keys WHERE book_id = $1 AND id = $2
        """,
        *row_key,
    )


async def list_payout_accounts(db: Db, book_id: BookId, ids: list[UUID]) -> set[UUID]:
    """Those of the ids that are payout accounts of the book."""
    rows = await db.fetch(
        "SELECT id FROM payout_accounts WHERE book_id = $1 AND id = ANY($2)", book_id, ids
    )
    return {row["id"] for row in rows}


async def find_business(db: Db, business_id: BusinessId) -> Record:
    """Facts about the business that the rules of keys need."""
    row = await db.fetchrow("SELECT currency, time_zone FROM businesses WHERE id = $1", business_id)
    assert row is not None, "a caller has a business"  # noqa: S101
    return row
