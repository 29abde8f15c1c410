"""Statements on attempts at passwords and their counts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.sweep import Sweep

# Failures that lock nothing any more.
delete_old_failures = Sweep("login_failures", by="last_failed_at")
# Cells that are empty again.
delete_empty_cells = Sweep("attempt_cells", by="full_at")
# Sessions that ended or expired.
delete_old_sessions = Sweep("sessions", by="LEAST(ended_at, expires_at)")


async def is_known_network(db: Db, user_id: UUID, network: str) -> bool:
    """Whether the user has logged in from the network with the present password."""
    return await db.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM sessions s JOIN users u ON u.id = s.user_id
            WHERE s.user_id = $1 AND s.network = $2 AND s.created_at >= u.password_changed_at
        )
        """,
        user_id,
        network,
    )


async def find_failures(db: Db, account_digest: bytes, network: str) -> Record | None:
    """The wrong passwords for an account from a network."""
    return await db.fetchrow(
        """
        SELECT failures, last_failed_at FROM login_failures
        WHERE account_digest = $1 AND network = $2
        """,
        account_digest,
        network,
    )


async def lock_failures(db: Db, account_digest: bytes, network: str) -> Record | None:
    """The same, after all that is being counted."""
    return await db.fetchrow(
        """
        SELECT failures, last_failed_at FROM login_failures
        WHERE account_digest = $1 AND network = $2 FOR UPDATE
        """,
        account_digest,
        network,
    )


async def add_failure(
    db: Db, account_digest: bytes, network: str, now: datetime, limits: tuple[int, timedelta]
) -> bool:
    """Count a wrong password; False when (most, so long) locks account and network already."""
    return await db.execute_one(
        """
        INSERT INTO login_failures AS f (account_digest, network, failures, last_failed_at)
        VALUES ($1, $2, 1, $3)
        ON CONFLICT (account_digest, network) DO UPDATE
        SET failures = CASE WHEN f.last_failed_at <= $3 - $5::interval
                THEN 1 ELSE f.failures + 1 END,
            last_failed_at = greatest(f.last_failed_at, $3)
        WHERE f.failures < $4 OR f.last_failed_at <= $3 - $5::interval
        RETURNING true
        """,
        account_digest,
        network,
        now,
        *limits,
    )


async def forget_failures(db: Db, account_digest: bytes, network: str) -> None:
    """A right password clears the count of its account and network."""
    await db.execute(
        "DELETE FROM login_failures WHERE account_digest = $1 AND network = $2",
        account_digest,
        network,
    )


async def list_cells(db: Db, subjects: list[bytes]) -> Sequence[Record]:
    """How full the cells of some subjects are."""
    return await db.fetch(
        "SELECT subject, full_at FROM attempt_cells WHERE subject = ANY($1)", subjects
    )


async def lock_cell(db: Db, subject: bytes) -> datetime | None:
    """How full the cell of a subject is, after all that is being counted."""
    return await db.fetchval(
        "SELECT full_at FROM attempt_cells WHERE subject = $1 FOR UPDATE", subject
    )


async def take_attempt(
    db: Db, subject: bytes, every: timedelta, most: timedelta, now: datetime
) -> bool:
    """Count one attempt of a subject; False when its cell is full."""
    return await db.execute_one(
        """
        INSERT INTO attempt_cells AS c (subject, full_at)
        VALUES ($1, $4::timestamptz + $2::interval)
        ON CONFLICT (subject) DO UPDATE SET full_at = greatest(c.full_at, $4) + $2
        WHERE greatest(c.full_at, $4) + $2 <= $4 + $3::interval
        RETURNING true
        """,
        subject,
        every,
        most,
        now,
    )
