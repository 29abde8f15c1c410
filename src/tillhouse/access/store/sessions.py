"""Statements on sessions, and on users as far as they log in."""

from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId, UserId


async def find_session(
    db: Db, session_id: UUID, user_id: UserId, business_id: BusinessId, now: datetime
) -> Record | None:
    """The person behind a session that stands, with role, books and subscription as of now."""
    return await db.fetchrow(
        """
        SELECT u.name, u.email, m.role, s.password_verified_at,
            t.id AS test_book_id, l.id AS live_book_id,
            c.status AS subscription_status, c.trial_ends_at, c.api_access
        FROM sessions s
        JOIN members m ON m.business_id = s.business_id AND m.user_id = s.user_id
        JOIN users u ON u.id = s.user_id
        JOIN books t ON t.business_id = s.business_id AND t.environment = 'test'
        JOIN books l ON l.business_id = s.business_id AND l.environment = 'live'
        JOIN subscriptions c ON c.business_id = s.business_id
        WHERE s.id = $1 AND s.user_id = $2 AND s.business_id = $3
            AND s.ended_at IS NULL AND s.expires_at > $4
        """,
        session_id,
        user_id,
        business_id,
        now,
    )


async def find_user_by_email(db: Db, email: str) -> Record | None:
    """A user with the business to log in to: the one joined first."""
    return await db.fetchrow(
        """
        SELECT u.id, u.name, u.password_hash, m.business_id
        FROM users u
        LEFT JOIN LATERAL (
            SELECT business_id FROM members WHERE user_id = u.id
            ORDER BY created_at, business_id LIMIT 1
        ) m ON true
        WHERE u.email = $1
        """,
        email,
    )


async def find_password_hash(db: Db, user_id: UserId) -> str | None:
    """The stored hash of a user's password."""
    return await db.fetchval("SELECT password_hash FROM users WHERE id = $1", user_id)


async def insert_session(
    db: Db,
    session_id: UUID,
    owner: tuple[UUID, UUID],
    refresh_digest: bytes,
    times: tuple[datetime, datetime],
    origin: tuple[str, str],
) -> None:
    """Open a session of (user, business), with (created, expires) times, from (ip, network)."""
    await db.execute(
        """
        INSERT INTO sessions (id, user_id, business_id, refresh_digest, refreshed_at,
            created_at, expires_at, ip_address, network)
        VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8)
        """,
        session_id,
        *owner,
        refresh_digest,
        *times,
        *origin,
    )


async def lock_session_by_refresh(db: Db, digest: bytes) -> Record | None:
    """The session of a member whose current or previous refresh token this is."""
    return await db.fetchrow(
        """
        SELECT s.id, s.user_id, s.business_id, s.refresh_digest, s.refreshed_at, s.expires_at,
            s.ended_at
        FROM sessions s
        JOIN members m ON m.business_id = s.business_id AND m.user_id = s.user_id
        WHERE s.refresh_digest = $1 OR s.previous_refresh_digest = $1
        FOR NO KEY UPDATE OF s
        """,
        digest,
    )


async def update_refresh(
    db: Db, session_id: UUID, digests: tuple[bytes, bytes], now: datetime, expires_at: datetime
) -> None:
    """Replace a session's refresh token: (new, previous) digests."""
    await db.execute(
        """
        UPDATE sessions SET refresh_digest = $2, previous_refresh_digest = $3,
            refreshed_at = $4, expires_at = $5
        WHERE id = $1
        """,
        session_id,
        *digests,
        now,
        expires_at,
    )


async def end_session(db: Db, session_id: UUID, now: datetime) -> None:
    """Nothing that names this session is accepted from here on."""
    await db.execute(
        "UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL", session_id, now
    )


async def end_other_sessions(db: Db, user_id: UserId, kept: UUID | None, now: datetime) -> None:
    """End all sessions of a user but one."""
    await db.execute(
        """
        UPDATE sessions SET ended_at = $3
        WHERE user_id = $1 AND id IS DISTINCT FROM $2 AND ended_at IS NULL
        """,
        user_id,
        kept,
        now,
    )


async def update_password_verified(db: Db, session_id: UUID, now: datetime) -> None:
    """Note that the password was given in this session."""
    await db.execute("UPDATE sessions SET password_verified_at = $2 WHERE id = $1", session_id, now)


async def update_session_business(db: Db, session_id: UUID, business_id: BusinessId) -> None:
    """Turn a session to another business; the step-up does not go along."""
    await db.execute(
        "UPDATE sessions SET business_id = $2, password_verified_at = NULL WHERE id = $1",
        session_id,
        business_id,
    )


async def update_password(db: Db, user_id: UserId, password_hash: str, now: datetime) -> None:
    """Replace a user's password."""
    await db.execute(
        "UPDATE users SET password_hash = $2, password_changed_at = $3 WHERE id = $1",
        user_id,
        password_hash,
        now,
    )
