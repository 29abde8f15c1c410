"""Statements on links that set a password. They belong to people, who may be in many businesses."""

from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.sweep import Sweep

# Links that are over.
delete_old_links = Sweep("password_links", by="expires_at")


class PasswordLinkRow(msgspec.Struct, frozen=True, kw_only=True):
    """A link as it is written."""

    user_id: UUID
    token_digest: bytes
    requested_at: datetime
    expires_at: datetime
    password_changed_at: datetime


async def find_for_address(db: Db, email: str) -> Record | None:
    """The person with this address, and the newest link that was made for them."""
    return await db.fetchrow(
        """
        SELECT u.id, u.email, u.password_changed_at, l.token_digest, l.requested_at,
            l.used_at IS NOT NULL AS is_used, l.password_changed_at AS link_password_at
        FROM users u LEFT JOIN password_links l ON l.user_id = u.id
        WHERE u.email = $1
        """,
        email,
    )


async def upsert_link(db: Db, row: PasswordLinkRow) -> None:
    """Make a link, unless a newer one was made; the one before is void."""
    await db.execute(
        """
        INSERT INTO password_links AS l
            (user_id, token_digest, requested_at, expires_at, password_changed_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (user_id) DO UPDATE SET token_digest = $2, requested_at = $3, expires_at = $4,
            password_changed_at = $5, used_at = NULL
        WHERE l.requested_at < $3
        """,
        *msgspec.structs.astuple(row),
    )


async def find_link(db: Db, token_digest: bytes, now: datetime) -> Record | None:
    """The person of a link that stands."""
    return await db.fetchrow(
        """
        SELECT u.id, u.email, u.name
        FROM password_links l JOIN users u ON u.id = l.user_id
        WHERE l.token_digest = $1 AND l.used_at IS NULL AND l.expires_at > $2
            AND l.password_changed_at = u.password_changed_at
        """,
        token_digest,
        now,
    )


async def take_link(db: Db, token_digest: bytes, now: datetime) -> UUID | None:
    """Use a link up: whose it is; None when it is void, or was used before."""
    return await db.fetchval(
        """
        UPDATE password_links l SET used_at = $2 FROM users u
        WHERE l.token_digest = $1 AND l.used_at IS NULL AND l.expires_at > $2
            AND u.id = l.user_id AND l.password_changed_at = u.password_changed_at
        RETURNING l.user_id
        """,
        token_digest,
        now,
    )
