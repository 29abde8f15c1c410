"""Statements on sessions, and on users as far as they log in."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import BusinessId, UserId

_PERSON = """
    SELECT s.id, s.user_id, s.business_id, s.expires_at, u.name, u.email, m.role,
        s.password_verified_at, t.id AS test_book_id, l.id AS live_book_id,
        b.name AS business_name, b.type AS business_type, b.currency, b.time_zone,
        c.status AS subscription_status, c.trial_ends_at, c.api_access,
        CASE WHEN m.role = ANY (b.second_factor_roles) THEN NOT EXISTS (
            SELECT FROM second_factors f WHERE f.user_id = s.user_id AND f.confirmed_at IS NOT NULL
        ) ELSE false END AS needs_factor
    FROM sessions s
    JOIN members m ON m.business_id = s.business_id AND m.user_id = s.user_id
    JOIN users u ON u.id = s.user_id
    JOIN businesses b ON b.id = s.business_id
    JOIN books t ON t.business_id = s.business_id AND t.environment = 'test'
    JOIN books l ON l.business_id = s.business_id AND l.environment = 'live'
    JOIN subscriptions c ON c.business_id = s.business_id
    WHERE s.ended_at IS NULL AND s.expires_at > $1
"""


async def find_session(
    db: Db, session_id: UUID, user_id: UserId, business_id: BusinessId, now: datetime
) -> Record | None:
    """The person behind a session that stands, with role, books and subscription as of now."""
    return await db.fetchrow(
        _PERSON + " AND s.id = $2 AND s.user_id = $3 AND s.business_id = $4",
        now,
        session_id,
        user_id,
        business_id,
    )


async def find_session_by_cookie(
    db: Db, digest: bytes, now: datetime, renewed_after: datetime
) -> Record | None:
    """The same behind the session of a browser; its cookie may have been renewed a moment ago."""
    return await db.fetchrow(
        _PERSON
        + """ AND (s.cookie_digest = $2
            OR s.previous_cookie_digest = $2 AND s.cookie_renewed_at > $3)""",
        now,
        digest,
        renewed_after,
    )


async def list_standing(db: Db, session_ids: Sequence[UUID], now: datetime) -> Sequence[Record]:
    """The same behind those of these sessions that stand."""
    return await db.fetch(_PERSON + " AND s.id = ANY($2)", now, session_ids)


class Cookie(msgspec.Struct, frozen=True):
    """The cookie that a session of a browser is known by from now on."""

    digest: bytes
    expires_at: datetime
    device: str


async def update_cookie(db: Db, session_id: UUID, new: Cookie, now: datetime) -> bool:
    """Give a session that stands a new cookie; whether it stood. None before is good any more."""
    return await db.execute_one(
        """
        UPDATE sessions SET cookie_digest = $2, previous_cookie_digest = NULL, expires_at = $3,
            device = $4, refreshed_at = $5
        WHERE id = $1 AND ended_at IS NULL AND expires_at > $5
        """,
        session_id,
        new.digest,
        new.expires_at,
        new.device,
        now,
    )


async def update_cookie_of(
    db: Db, old: bytes, new: Cookie, now: datetime, *, keeps_old: bool
) -> UUID | None:
    """Exchange the cookie of a session that stands; None when it has another one by now."""
    return await db.fetchval(
        """
        UPDATE sessions SET cookie_digest = $2, expires_at = $3, device = $4, refreshed_at = $5,
            previous_cookie_digest = CASE WHEN $6 THEN $1 END, cookie_renewed_at = $5
        WHERE cookie_digest = $1 AND ended_at IS NULL AND expires_at > $5
        RETURNING id
        """,
        old,
        new.digest,
        new.expires_at,
        new.device,
        now,
        keeps_old,
    )


async def update_cookie_end(db: Db, session_id: UUID, now: datetime, expires_at: datetime) -> None:
    """Let the session of a browser that is in use go on."""
    await db.execute(
        """
        UPDATE sessions SET expires_at = $3, refreshed_at = $2
        WHERE id = $1 AND ended_at IS NULL AND expires_at < $3
        """,
        session_id,
        now,
        expires_at,
    )


async def find_user_by_email(db: Db, email: str) -> Record | None:
    """A user with the business to log in to, the one joined first, and the second factor."""
    return await db.fetchrow(
        """
        SELECT u.id, u.name, u.password_hash, u.password_changed_at, m.business_id,
            f.sealed_secret AS factor
        FROM users u
        LEFT JOIN second_factors f ON f.user_id = u.id AND f.confirmed_at IS NOT NULL
        LEFT JOIN LATERAL (
            SELECT business_id FROM members WHERE user_id = u.id
            ORDER BY created_at, business_id LIMIT 1
        ) m ON true
        WHERE u.email = $1
        """,
        email,
    )


async def find_password(db: Db, user_id: UserId) -> Record:
    """The stored hash of a user's password, and since when it is the password."""
    row = await db.fetchrow(
        "SELECT password_hash, password_changed_at FROM users WHERE id = $1", user_id
    )
    return existing(row)


async def lock_password(db: Db, user_id: UserId) -> datetime | None:
    """Since when a user has the present password; it doesn't change until the transaction ends."""
    return await db.fetchval(
        "SELECT password_changed_at FROM users WHERE id = $1 FOR NO KEY UPDATE", user_id
    )


class SessionToOpen(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it is opened."""

    id: UUID
    user_id: UUID
    business_id: UUID
    created_at: datetime
    expires_at: datetime
    ip: str
    network: str


async def insert_session(
    db: Db, new: SessionToOpen, password_changed_at: datetime, most: int
) -> bool:
    """Open a session, unless the password was changed since; of too many, forget the oldest."""
    return await db.execute_one(
        """
        WITH surplus AS (
            DELETE FROM sessions WHERE user_id = $2 AND id IN (
                SELECT id FROM sessions WHERE user_id = $2
                ORDER BY refreshed_at DESC, id DESC OFFSET $9 - 1
                FOR UPDATE SKIP LOCKED
            )
        )
        INSERT INTO sessions (id, user_id, business_id, refreshed_at, created_at, expires_at,
            ip_address, network, refresh_generation, opened_business_id)
        SELECT $1, id, $3, $4, $4, $5, $6, $7, 1, $3
        FROM users WHERE id = $2 AND password_changed_at = $8 FOR SHARE
        RETURNING true
        """,
        *msgspec.structs.astuple(new),
        password_changed_at,
        most,
    )


async def lock_session(db: Db, session_id: UUID) -> Record | None:
    """A session of a member, to be continued."""
    return await db.fetchrow(
        """
        SELECT s.id, s.user_id, s.business_id, s.refresh_generation, s.refreshed_at,
            s.expires_at, s.ended_at
        FROM sessions s
        JOIN members m ON m.business_id = s.business_id AND m.user_id = s.user_id
        WHERE s.id = $1
        FOR NO KEY UPDATE OF s
        """,
        session_id,
    )


async def find_refresh_digest(db: Db, digest: bytes) -> Record | None:
    """The session and the generation of a refresh token from before generations were counted."""
    return await db.fetchrow(
        """
        SELECT id, CASE WHEN refresh_digest = $1 THEN 0 ELSE -1 END AS generation
        FROM sessions WHERE refresh_digest = $1 OR previous_refresh_digest = $1
        """,
        digest,
    )


async def update_refresh(
    db: Db, session_id: UUID, generation: int, now: datetime, expires_at: datetime
) -> None:
    """Let a session go on in its next generation."""
    await db.execute(
        """
        UPDATE sessions SET refresh_generation = $2, refreshed_at = $3, expires_at = $4
        WHERE id = $1
        """,
        session_id,
        generation,
        now,
        expires_at,
    )


async def list_sessions(db: Db, user_id: UserId, now: datetime, most: int) -> Sequence[Record]:
    """The sessions of a user that stand, the one used last first."""
    return await db.fetch(
        """
        SELECT id, business_id, ip_address, device, iso(created_at) AS created_at,
            iso(refreshed_at) AS refreshed_at, iso(expires_at) AS expires_at
        FROM sessions
        WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2
        ORDER BY sessions.refreshed_at DESC, id DESC LIMIT $3
        """,
        user_id,
        now,
        most,
    )


async def end_session(db: Db, session_id: UUID, now: datetime) -> None:
    """Nothing that names this session is accepted from here on."""
    await db.execute(
        "UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL", session_id, now
    )


async def end_own_session(db: Db, user_id: UserId, session_id: UUID, now: datetime) -> bool:
    """End a session of a user that stands; whether there was one."""
    return await db.execute_one(
        """
        UPDATE sessions SET ended_at = $3
        WHERE id = $2 AND user_id = $1 AND ended_at IS NULL AND expires_at > $3
        """,
        user_id,
        session_id,
        now,
    )


async def end_other_sessions(db: Db, user_id: UserId, kept: UUID | None, now: datetime) -> int:
    """End all sessions of a user but one; how many stood."""
    return await db.fetchval(
        """
        WITH ended AS (
            UPDATE sessions SET ended_at = $3
            WHERE user_id = $1 AND id IS DISTINCT FROM $2 AND ended_at IS NULL
            RETURNING expires_at
        )
        SELECT count(*) FROM ended WHERE expires_at > $3
        """,
        user_id,
        kept,
        now,
    )


async def end_sessions_of(db: Db, business_id: BusinessId, user_id: UserId, now: datetime) -> int:
    """End the sessions of a person that act for a business; how many stood."""
    return await db.fetchval(
        """
        WITH ended AS (
            UPDATE sessions SET ended_at = $3
            WHERE user_id = $2 AND business_id = $1 AND ended_at IS NULL
            RETURNING expires_at
        )
        SELECT count(*) FROM ended WHERE expires_at > $3
        """,
        business_id,
        user_id,
        now,
    )


async def turn_sessions_home(
    db: Db, business_id: BusinessId, user_id: UserId, now: datetime
) -> int:
    """Turn sessions of a person that act for a business back to their own; how many there were.

    Their own is the business that they were opened in, if it is another one of the person's, where
    their sessions were not ended since. The step-up does not go along.
    """
    return await db.fetchval(
        """
        WITH returned AS (
            UPDATE sessions s SET business_id = m.business_id, password_verified_at = NULL
            FROM members m
            WHERE s.user_id = $2 AND s.business_id = $1 AND s.opened_business_id <> $1
                AND s.ended_at IS NULL AND s.expires_at > $3
                AND m.business_id = s.opened_business_id AND m.user_id = s.user_id
                AND (m.sessions_ended_at IS NULL OR m.sessions_ended_at < s.created_at)
            RETURNING s.id
        )
        SELECT count(*) FROM returned
        """,
        business_id,
        user_id,
        now,
    )


async def update_password_verified(db: Db, session_id: UUID, now: datetime | None) -> None:
    """Note when the password was given in this session; None takes the step-up back."""
    await db.execute("UPDATE sessions SET password_verified_at = $2 WHERE id = $1", session_id, now)


async def update_session_business(
    db: Db, session_id: UUID, user_id: UserId, business_id: BusinessId
) -> bool:
    """Turn a session to another business of its person; the step-up does not go along.

    False: the person's sessions there were ended after this one was opened. The membership is held
    meanwhile, so that the transaction that ends them ends this one too, or is seen here.
    """
    return await db.execute_one(
        """
        WITH open_to AS (
            SELECT s.id FROM members m JOIN sessions s ON s.user_id = m.user_id
            WHERE m.business_id = $3 AND m.user_id = $2 AND s.id = $1
                AND (m.sessions_ended_at IS NULL OR m.sessions_ended_at < s.created_at)
            FOR SHARE OF m
        )
        UPDATE sessions SET business_id = $3, password_verified_at = NULL
        WHERE id = (SELECT id FROM open_to)
        """,
        session_id,
        user_id,
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


async def update_hash(db: Db, user_id: UserId, old_hash: str, new_hash: str) -> None:
    """Keep the same password in another form."""
    await db.execute(
        "UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2",
        user_id,
        old_hash,
        new_hash,
    )
