"""Statements on businesses, their books, members and subscriptions."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.accounts.types import Membership
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId, UserId


async def insert_user(
    db: Db, user_id: UserId, email: str, name: str, password_hash: str, now: datetime
) -> None:
    """A person who can log in."""
    await db.execute(
        """
        INSERT INTO users (id, email, name, password_hash, created_at, password_changed_at)
        VALUES ($1, $2, $3, $4, $5, $5)
        """,
        user_id,
        email,
        name,
        password_hash,
        now,
    )


class BusinessRow(msgspec.Struct, frozen=True, kw_only=True):
    """A new business as it is written, with its books, owner and subscription."""

    id: UUID
    test_book_id: UUID
    live_book_id: UUID
    owner_id: UUID
    name: str
    type: str
    currency: str
    time_zone: str
    country: str
    master_version: int
    wrapped_data_key: bytes
    created_at: datetime
    subscription_status: str
    trial_ends_at: datetime | None


async def insert_business(db: Db, new: BusinessRow) -> None:
    """A business with both books, its owner and its subscription, in one statement."""
    await db.execute(
        """
        WITH business AS (
            INSERT INTO businesses (id, name, type, currency, time_zone, country,
                master_version, wrapped_data_key, created_at, updated_at)
            VALUES ($1, $5, $6, $7, $8, $9, $10, $11, $12, $12)
        ), books AS (
            INSERT INTO books (id, business_id, environment)
            VALUES ($2, $1, 'test'), ($3, $1, 'live')
        ), owner AS (
            INSERT INTO members (business_id, user_id, role, created_at)
            VALUES ($1, $4, 'owner', $12)
        )
        INSERT INTO subscriptions (business_id, status, trial_ends_at, api_access, updated_at)
        VALUES ($1, $13, $14, true, $12)
        """,
        *msgspec.structs.astuple(new),
    )


async def list_memberships(db: Db, user_id: UserId) -> list[Membership]:
    """The businesses of a person, the first joined first."""
    rows = await db.fetch(
        """
        SELECT b.id, b.name, b.type, b.currency, b.time_zone, b.country, m.role,
            json_build_object('status', s.status, 'trialEndsAt', iso(s.trial_ends_at),
                'apiAccess', s.api_access) AS subscription
        FROM members m
        JOIN businesses b ON b.id = m.business_id
        JOIN subscriptions s ON s.business_id = m.business_id
        WHERE m.user_id = $1 ORDER BY m.created_at, b.id
        """,
        user_id,
    )
    return [
        Membership(**{**row, "subscription": msgspec.json.decode(row["subscription"])})
        for row in rows
    ]


async def find_subscription(db: Db, business_id: BusinessId) -> Record | None:
    """The subscription of a business; None when there is no such business."""
    return await db.fetchrow(
        """
        SELECT status, api_access, iso(trial_ends_at) AS trial_ends_at
        FROM subscriptions WHERE business_id = $1
        """,
        business_id,
    )


async def update_subscription(
    db: Db, business_id: BusinessId, status: str, trial_ends_at: datetime | None, now: datetime,
    *, api_access: bool,
) -> bool:  # fmt: skip
    """Set a business's subscription; whether there is such a business."""
    return await db.execute_one(
        """
        UPDATE subscriptions SET status = $2, trial_ends_at = coalesce($3, trial_ends_at),
            api_access = $4, updated_at = $5
        WHERE business_id = $1
        """,
        business_id,
        status,
        trial_ends_at,
        api_access,
        now,
    )


async def list_businesses(db: Db) -> Sequence[Record]:
    """Every business of this installation, for the command line."""
    return await db.fetch(
        """
        SELECT b.id, b.name, b.type, b.currency, b.time_zone, b.country,
            iso(b.created_at) AS created_at, s.status AS subscription, s.api_access,
            iso(s.trial_ends_at) AS trial_ends_at
        FROM businesses b JOIN subscriptions s ON s.business_id = b.id
        ORDER BY b.created_at, b.id
        """
    )


async def list_members(db: Db, business_id: BusinessId) -> Sequence[Record]:
    """The people of a business."""
    return await db.fetch(
        """
        SELECT u.id, u.email, u.name, m.role, iso(m.created_at) AS joined_at
        FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.business_id = $1 ORDER BY m.created_at, u.id
        """,
        business_id,
    )


async def upsert_member(
    db: Db, business_id: BusinessId, user_id: UserId, role: str, now: datetime
) -> None:
    """Give a person a role in a business."""
    await db.execute(
        """
        INSERT INTO members (business_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (business_id, user_id) DO UPDATE SET role = excluded.role
        """,
        business_id,
        user_id,
        role,
        now,
    )


async def lock_email(db: Db, email: str) -> None:
    """Put those in line who look for a user and make it when there is none."""
    await db.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"user {email}")


async def list_books(db: Db, business_id: BusinessId) -> Sequence[Record]:
    """Both books of a business; none when there is no such business."""
    return await db.fetch(
        "SELECT id, environment FROM books WHERE business_id = $1 ORDER BY environment",
        business_id,
    )


async def lock_member(db: Db, business_id: BusinessId, email: str) -> Record | None:
    """A person of a business, with the business's number of owners."""
    return await db.fetchrow(
        """
        SELECT u.id, u.name, m.role, (
            SELECT count(*) FROM members o WHERE o.business_id = $1 AND o.role = 'owner'
        ) AS owners
        FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.business_id = $1 AND u.email = $2
        FOR NO KEY UPDATE OF m
        """,
        business_id,
        email,
    )


async def lock_business(db: Db, business_id: BusinessId) -> bool:
    """Lock a business, so that changes of it take turns; whether there is one."""
    return await db.execute_one(
        "SELECT true FROM businesses WHERE id = $1 FOR NO KEY UPDATE", business_id
    )


async def find_user_id(db: Db, email: str) -> UUID | None:
    """The user with this address."""
    return await db.fetchval("SELECT id FROM users WHERE email = $1", email)


async def find_email(db: Db, user_id: UserId) -> str | None:
    """The address of a person."""
    return await db.fetchval("SELECT email FROM users WHERE id = $1", user_id)
