"""Statements on second factors, which belong to people, and on the roles that need one."""

from collections.abc import Sequence
from datetime import datetime

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import BusinessId, UserId


async def find_factor(db: Db, user_id: UserId) -> Record | None:
    """The second factor of a person, confirmed or not."""
    return await db.fetchrow(
        """
        SELECT sealed_secret, iso(confirmed_at) AS confirmed_at, last_step,
            cardinality(recovery_digests) AS codes_left
        FROM second_factors WHERE user_id = $1
        """,
        user_id,
    )


async def show_factor(db: Db, user_id: UserId) -> Record:
    """The same, also where there is none; and whether a role of the person needs one."""
    [row] = await db.fetch(
        """
        SELECT f.user_id IS NOT NULL AS is_there, iso(f.confirmed_at) AS confirmed_at,
            cardinality(f.recovery_digests) AS codes_left, EXISTS (
                SELECT FROM members m JOIN businesses b ON b.id = m.business_id
                WHERE m.user_id = p.user_id AND m.role = ANY (b.second_factor_roles)
            ) AS is_required
        FROM (SELECT $1::uuid AS user_id) p LEFT JOIN second_factors f ON f.user_id = p.user_id
        """,
        user_id,
    )
    return row


async def list_roles(db: Db, business_id: BusinessId, roles: Sequence[str]) -> Sequence[Record]:
    """Whether each of these roles needs a second factor in a business, and who has none."""
    return await db.fetch(
        """
        SELECT r.role, r.role = ANY (b.second_factor_roles) AS is_required,
            count(m.user_id) AS members,
            count(m.user_id) FILTER (WHERE f.user_id IS NULL) AS members_without
        FROM businesses b
        CROSS JOIN unnest($2::text[]) WITH ORDINALITY r (role, place)
        LEFT JOIN members m ON m.business_id = $1 AND m.role = r.role
        LEFT JOIN second_factors f ON f.user_id = m.user_id AND f.confirmed_at IS NOT NULL
        WHERE b.id = $1
        GROUP BY r.role, r.place, b.second_factor_roles ORDER BY r.place
        """,
        business_id,
        roles,
    )


async def lock_roles(db: Db, business_id: BusinessId, caller_id: UserId) -> Record:
    """The roles of a business that need a second factor, and the caller's role, as they are now."""
    row = await db.fetchrow(
        """
        SELECT b.second_factor_roles, (
            SELECT m.role FROM members m WHERE m.business_id = $1 AND m.user_id = $2
        ) AS callers_role
        FROM businesses b WHERE b.id = $1 FOR NO KEY UPDATE OF b
        """,
        business_id,
        caller_id,
    )
    return existing(row)


async def update_roles(db: Db, business_id: BusinessId, roles: Sequence[str]) -> None:
    """Set the roles of a business_id that need a second factor."""
    await db.execute(
        "UPDATE businesses SET second_factor_roles = $2 WHERE id = $1", business_id, roles
    )


async def upsert_secret(db: Db, user_id: UserId, sealed: bytes, now: datetime) -> bool:
    """Keep the secret of a factor that begins; False when one is on already."""
    return await db.execute_one(
        """
        INSERT INTO second_factors AS f (user_id, sealed_secret, begun_at) VALUES ($1, $2, $3)
        ON CONFLICT (user_id) DO UPDATE SET sealed_secret = $2, begun_at = $3, last_step = 0
        WHERE f.confirmed_at IS NULL
        """,
        user_id,
        sealed,
        now,
    )


async def is_on(db: Db, user_id: UserId) -> bool:
    """Whether a person has a factor that is on, as of this statement."""
    return await db.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM second_factors WHERE user_id = $1 AND confirmed_at IS NOT NULL)
        """,
        user_id,
    )


async def update_confirmed(
    db: Db, user_id: UserId, sealed: bytes, step: int, digests: Sequence[bytes], now: datetime
) -> bool:
    """Turn a factor on by the first code of this secret; False when it is not the one begun."""
    return await db.execute_one(
        """
        UPDATE second_factors SET confirmed_at = $5, last_step = $3, recovery_digests = $4
        WHERE user_id = $1 AND sealed_secret = $2 AND confirmed_at IS NULL
        """,
        user_id,
        sealed,
        step,
        digests,
        now,
    )


async def take_step(db: Db, user_id: UserId, sealed: bytes, step: int) -> bool:
    """Use the code of a step up; False when it, or a later one, was used before."""
    return await db.execute_one(
        """
        UPDATE second_factors SET last_step = $3
        WHERE user_id = $1 AND sealed_secret = $2 AND confirmed_at IS NOT NULL AND last_step < $3
        """,
        user_id,
        sealed,
        step,
    )


async def has_recovery_code(db: Db, user_id: UserId, digest: bytes) -> bool:
    """Whether a recovery code was not used yet."""
    return await db.execute_one(
        """
        SELECT true FROM second_factors
        WHERE user_id = $1 AND confirmed_at IS NOT NULL AND $2 = ANY(recovery_digests)
        """,
        user_id,
        digest,
    )


async def take_recovery_code(db: Db, user_id: UserId, digest: bytes) -> bool:
    """Use a recovery code up; False when it was used before."""
    return await db.execute_one(
        """
        UPDATE second_factors SET recovery_digests = array_remove(recovery_digests, $2)
        WHERE user_id = $1 AND confirmed_at IS NOT NULL AND $2 = ANY(recovery_digests)
        """,
        user_id,
        digest,
    )


async def update_recovery_codes(db: Db, user_id: UserId, digests: Sequence[bytes]) -> bool:
    """Replace the recovery codes of a factor that is on; whether there is one."""
    return await db.execute_one(
        """
        UPDATE second_factors SET recovery_digests = $2
        WHERE user_id = $1 AND confirmed_at IS NOT NULL
        """,
        user_id,
        digests,
    )


async def delete_factor(db: Db, user_id: UserId) -> bool:
    """Turn the factor of a person off; whether one was on."""
    return await db.execute_one(
        """
        WITH gone AS (DELETE FROM second_factors WHERE user_id = $1 RETURNING confirmed_at)
        SELECT true FROM gone WHERE confirmed_at IS NOT NULL
        """,
        user_id,
    )
