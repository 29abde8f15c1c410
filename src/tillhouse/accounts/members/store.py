"""Statements on members and invitations."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.accounts.members.types import MemberShown
from tillhouse.db.pool import Db
from tillhouse.db.sweep import Sweep
from tillhouse.kit.ids import BookId, BusinessId, UserId
from tillhouse.kit.page import Page

# Invitations that are over.
delete_old_invitations = Sweep("invitations", by="expires_at")


class NewInvitationRow(msgspec.Struct, frozen=True, kw_only=True):
    """An invitation as it is written."""

    business_id: UUID
    id: UUID
    email: str
    role: str
    invited_by: UUID
    created_at: datetime
    expires_at: datetime


async def count_people(db: Db, business_id: BusinessId, now: datetime) -> int:
    """How many members a business has, and how many invitations that stand."""
    return await db.fetchval(
        """
        SELECT (SELECT count(*) FROM members WHERE business_id = $1)
            + (SELECT count(*) FROM invitations WHERE business_id = $1 AND expires_at > $2)
        """,
        business_id,
        now,
    )


# The columns of members and invitations `p` that a list and a page of one tell.
_SHOWN = """
    SELECT p.id, u.name, coalesce(p.email, u.email) AS email, p.role,
        CASE WHEN p.email IS NULL THEN 'active' ELSE 'invited' END AS status,
        CASE WHEN p.email IS NULL THEN iso(p.created_at) END AS joined_at,
        iso(s.seen_at) AS last_seen_at, iso(p.expires_at) AS expires_at
    FROM p
    LEFT JOIN users u ON u.id = p.id AND p.email IS NULL
    LEFT JOIN LATERAL (
        SELECT max(refreshed_at) AS seen_at FROM sessions
        WHERE user_id = p.id AND business_id = $1
    ) s ON true
"""


async def list_people(
    db: Db, business_id: BusinessId, now: datetime, page: Page
) -> list[MemberShown]:
    """One page: the members of a business, the first joined first, then those who are invited."""
    rows = await db.fetch(
        """
        WITH p AS (
            SELECT user_id AS id, role, created_at, NULL AS email, NULL::timestamptz AS expires_at
            FROM members WHERE business_id = $1
            UNION ALL
            SELECT id, role, created_at, email, expires_at FROM invitations
            WHERE business_id = $1 AND expires_at > $2
            ORDER BY expires_at NULLS FIRST, created_at, id LIMIT $3 OFFSET $4
        )
        """
        + _SHOWN
        + " ORDER BY p.expires_at NULLS FIRST, p.created_at, p.id",
        business_id,
        now,
        page.per_page,
        page.offset,
    )
    return [MemberShown(**row) for row in rows]


async def find_one(
    db: Db, business_id: BusinessId, user_id: UserId, now: datetime
) -> Record | None:
    """A member, or an invitation that stands, by its id."""
    return await db.fetchrow(
        """
        WITH p AS (
            SELECT user_id AS id, role, created_at, NULL AS email, NULL::timestamptz AS expires_at
            FROM members WHERE business_id = $1 AND user_id = $3
            UNION ALL
            SELECT id, role, created_at, email, expires_at FROM invitations
            WHERE business_id = $1 AND expires_at > $2 AND id = $3
        )
        """
        + _SHOWN,
        business_id,
        now,
        user_id,
    )


async def lock_member(
    db: Db, business_id: BusinessId, user_id: UserId, caller_id: UserId
) -> Record | None:
    """A member with the number of owners and the role of the caller, as they are now."""
    return await db.fetchrow(
        """
        SELECT u.email, m.role,
            (SELECT count(*) FROM members o WHERE o.business_id = $1 AND o.role = 'owner')
                AS owners,
            (SELECT c.role FROM members c WHERE c.business_id = $1 AND c.user_id = $3)
                AS callers_role
        FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.business_id = $1 AND m.user_id = $2
        FOR UPDATE OF m
        """,
        business_id,
        user_id,
        caller_id,
    )


async def update_role(db: Db, business_id: BusinessId, user_id: UserId, role: str) -> None:
    """Give a member another role."""
    await db.execute(
        "UPDATE members SET role = $3 WHERE business_id = $1 AND user_id = $2",
        business_id,
        user_id,
        role,
    )


async def update_sessions_ended(
    db: Db, business_id: BusinessId, user_id: UserId, now: datetime
) -> None:
    """Let no session of a member that was opened before now come back by a switch."""
    await db.execute(
        "UPDATE members SET sessions_ended_at = $3 WHERE business_id = $1 AND user_id = $2",
        business_id,
        user_id,
        now,
    )


async def delete_member(db: Db, business_id: BusinessId, user_id: UserId) -> None:
    """Remove a person from a business, and the invitations that stand by their word."""
    await db.execute(
        """
        WITH invited AS (DELETE FROM invitations WHERE business_id = $1 AND invited_by = $2)
        DELETE FROM members WHERE business_id = $1 AND user_id = $2
        """,
        business_id,
        user_id,
    )


async def delete_invitations_by(db: Db, business_id: BusinessId, user_id: UserId) -> None:
    """Take back the invitations of a member who may invite no more."""
    await db.execute(
        "DELETE FROM invitations WHERE business_id = $1 AND invited_by = $2", business_id, user_id
    )


async def find_inviting(
    db: Db, business_id: BusinessId, email: str, caller_id: UserId, now: datetime
) -> Record:
    """Whether an address is a member's, how many invitations stand, and the caller's role."""
    [row] = await db.fetch(
        """
        SELECT EXISTS (
                SELECT FROM users u JOIN members m ON m.user_id = u.id
                WHERE u.email = $2 AND m.business_id = $1) AS is_member,
            (SELECT count(*) FROM invitations WHERE business_id = $1 AND email <> $2
                AND expires_at > $4) AS invitations,
            (SELECT role FROM members WHERE business_id = $1 AND user_id = $3) AS callers_role
        """,
        business_id,
        email,
        caller_id,
        now,
    )
    return row


async def upsert_invitation(db: Db, row: NewInvitationRow) -> None:
    """Invite an address; an invitation that stood is over."""
    await db.execute(
        """
        INSERT INTO invitations (business_id, id, email, role, invited_by, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (business_id, email) DO UPDATE SET id = excluded.id, role = excluded.role,
            invited_by = excluded.invited_by, created_at = excluded.created_at,
            expires_at = excluded.expires_at
        """,
        *msgspec.structs.astuple(row),
    )


async def find_invitation(
    db: Db, business_id: BusinessId, invitation_id: UUID, now: datetime
) -> Record | None:
    """An invitation that stands, with the business's name."""
    return await db.fetchrow(
        """
        SELECT i.email, i.role, i.created_at, b.name AS business_name
        FROM invitations i JOIN businesses b ON b.id = i.business_id
        WHERE i.business_id = $1 AND i.id = $2 AND i.expires_at > $3
        """,
        business_id,
        invitation_id,
        now,
    )


async def lock_invitation(
    db: Db, business_id: BusinessId, invitation_id: UUID, caller_id: UserId, now: datetime
) -> Record | None:
    """An invitation that stands with the role of the caller, as they are now."""
    return await db.fetchrow(
        """
        SELECT i.email, i.role,
            (SELECT c.role FROM members c WHERE c.business_id = $1 AND c.user_id = $3)
                AS callers_role
        FROM invitations i WHERE i.business_id = $1 AND i.id = $2 AND i.expires_at > $4
        FOR UPDATE OF i
        """,
        business_id,
        invitation_id,
        caller_id,
        now,
    )


async def delete_invitation(
    db: Db, business_id: BusinessId, invitation_id: UUID, now: datetime
) -> str | None:
    """Use an invitation up: the role that it gives; None when it is over or was used."""
    return await db.fetchval(
        """
        DELETE FROM invitations WHERE business_id = $1 AND id = $2 AND expires_at > $3
        RETURNING role
        """,
        business_id,
        invitation_id,
        now,
    )


async def insert_member(
    db: Db, business_id: BusinessId, user_id: UserId, role: str, now: datetime
) -> bool:
    """Let a person join; False when they belong to the business already."""
    return await db.execute_one(
        """
        INSERT INTO members (business_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING
        """,
        business_id,
        user_id,
        role,
        now,
    )


async def find_business_of(db: Db, book_id: BookId) -> BusinessId:
    """The business of a book."""
    return await db.fetchval("SELECT business_id FROM books WHERE id = $1", book_id)


async def list_made_keys(
    db: Db, books: Sequence[BookId], user_id: UserId, now: datetime
) -> Sequence[Record]:
    """The active keys that a person made."""
    return await db.fetch(
        """
        SELECT k.id, k.name, b.environment, k.scopes
        FROM api_keys k JOIN books b ON b.id = k.book_id
        WHERE k.book_id = ANY($1) AND k.made_by = $2 AND k.revoked_at IS NULL
            AND coalesce(k.expires_at > $3, true)
        ORDER BY k.id
        """,
        books,
        user_id,
        now,
    )
