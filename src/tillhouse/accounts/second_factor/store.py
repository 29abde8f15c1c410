"""Statements on second factors. They belong to people, who may be in several businesses."""

from collections.abc import Sequence
from datetime import datetime

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import UserId


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


async def upsert_secret(db: Db, user_id: UserId, sealed: bytes, now: datetime) -> bool:
    """Keep the secret of a factor that begins; False when one is on already."""
    done = await db.execute(
        """
        INSERT INTO second_factors AS f (user_id, sealed_secret, begun_at) VALUES ($1, $2, $3)
        ON CONFLICT (user_id) DO UPDATE SET sealed_secret = $2, begun_at = $3, last_step = 0
        WHERE f.confirmed_at IS NULL
        """,
        user_id,
        sealed,
        now,
    )
    return done.endswith(" 1")


async def update_confirmed(
    db: Db, user_id: UserId, sealed: bytes, step: int, digests: Sequence[bytes], now: datetime
) -> bool:
    """Turn a factor on by the first code of this secret; False when it is not the one begun."""
    done = await db.execute(
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
    return done.endswith(" 1")


async def take_step(db: Db, user_id: UserId, sealed: bytes, step: int) -> bool:
    """Use the code of a step up; False when it, or a later one, was used before."""
    done = await db.execute(
        """
        UPDATE second_factors SET last_step = $3
        WHERE user_id = $1 AND sealed_secret = $2 AND confirmed_at IS NOT NULL AND last_step < $3
        """,
        user_id,
        sealed,
        step,
    )
    return done.endswith(" 1")


async def has_recovery_code(db: Db, user_id: UserId, digest: bytes) -> bool:
    """Whether a recovery code was not used yet."""
    return bool(
        await db.fetchval(
            """
            SELECT true FROM second_factors
            WHERE user_id = $1 AND confirmed_at IS NOT NULL AND $2 = ANY(recovery_digests)
            """,
            user_id,
            digest,
        )
    )


async def take_recovery_code(db: Db, user_id: UserId, digest: bytes) -> bool:
    """Use a recovery code up; False when it was used before."""
    done = await db.execute(
        """
        UPDATE second_factors SET recovery_digests = array_remove(recovery_digests, $2)
        WHERE user_id = $1 AND confirmed_at IS NOT NULL AND $2 = ANY(recovery_digests)
        """,
        user_id,
        digest,
    )
    return done.endswith(" 1")


async def update_recovery_codes(db: Db, user_id: UserId, digests: Sequence[bytes]) -> bool:
    """Replace the recovery codes of a factor that is on; whether there is one."""
    done = await db.execute(
        """
        UPDATE second_factors SET recovery_digests = $2
        WHERE user_id = $1 AND confirmed_at IS NOT NULL
        """,
        user_id,
        digests,
    )
    return done.endswith(" 1")


async def delete_factor(db: Db, user_id: UserId) -> bool:
    """Turn the factor of a person off; whether one was on."""
    return bool(
        await db.fetchval(
            """
            WITH gone AS (DELETE FROM second_factors WHERE user_id = $1 RETURNING confirmed_at)
            SELECT true FROM gone WHERE confirmed_at IS NOT NULL
            """,
            user_id,
        )
    )
