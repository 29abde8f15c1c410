"""Statements on the queue of jobs."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, NewJob

# Jobs queued in one statement with the rows that they are about. It reads the CTE `queueing` of
# the statement around it, with the columns (book_id, kind, subject_id, key, payload, due_at,
# queued_at). One that is there is left alone, one that died begins anew.
QUEUE: LiteralString = """
    queued AS (
        INSERT INTO jobs (book_id, id, kind, subject_id, key, payload, due_at, created_at)
        SELECT book_id, new_id(queued_at), kind, subject_id, key, payload, due_at, queued_at
        FROM queueing
        ON CONFLICT (book_id, kind, subject_id, key) DO UPDATE SET
            due_at = excluded.due_at, payload = excluded.payload, attempts = 0,
            generation = jobs.generation + 1, dead_at = NULL, reason = NULL
        WHERE jobs.dead_at IS NOT NULL
    )
"""

_JOB: LiteralString = """
    d.book_id, d.id, d.kind, d.subject_id, d.key, d.payload, d.attempts, d.generation,
    d.is_leased AS is_lapsed
"""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The next state of a job that has failed: due again, or dead."""

    attempts: int
    due_at: datetime
    dead_at: datetime | None
    reason: str


async def queue_job(db: Db, new: NewJob, due_at: datetime, now: datetime) -> None:
    """Queue a job in the transaction of what it is about; the commit wakes the workers."""
    await db.execute(
        """
        WITH queueing AS (
            SELECT $1::uuid AS book_id, $2::text AS kind, $3::uuid AS subject_id, $4::text AS key,
                $5::bytea AS payload, $6::timestamptz AS due_at, $7::timestamptz AS queued_at
        ),
        """
        + QUEUE
        + "SELECT",
        *msgspec.structs.astuple(new),
        due_at,
        now,
    )
    db.queues_jobs = True


async def lock_due(db: Db, kinds: Sequence[str], now: datetime) -> Job | None:
    """A job whose time has come, of any book_id, locked; the earlier kinds go first."""
    row = await db.fetchrow(
        """
        SELECT j.* FROM unnest($1::text[]) k (kind) CROSS JOIN LATERAL (
            SELECT
        """
        + _JOB
        + """
            FROM jobs d
            WHERE d.kind = k.kind AND d.dead_at IS NULL AND d.due_at <= $2
            ORDER BY d.due_at LIMIT 1 FOR UPDATE SKIP LOCKED
        ) j LIMIT 1
        """,
        kinds,
        now,
    )
    return Job(**row) if row else None


async def find_next_due(db: Db, kinds: Sequence[str]) -> datetime | None:
    """When the next job of these kinds, of any book_id, is due or its lease ends."""
    return await db.fetchval(
        """
        SELECT min(j.due_at) FROM unnest($1::text[]) k (kind) CROSS JOIN LATERAL (
            SELECT d.due_at FROM jobs d
            WHERE d.kind = k.kind AND d.dead_at IS NULL
            ORDER BY d.due_at LIMIT 1
        ) j
        """,
        kinds,
    )


async def lock_job(db: Db, book_id: UUID, kind: str, subject_id: UUID) -> Job | None:
    """The job of a subject, whenever it is due, locked; None when it is held, dead or gone."""
    row = await db.fetchrow(
        "SELECT"
        + _JOB
        + """
        FROM jobs d
        WHERE d.book_id = $1 AND d.kind = $2 AND d.subject_id = $3 AND d.key = ''
            AND d.dead_at IS NULL AND NOT d.is_leased
        FOR UPDATE
        """,
        book_id,
        kind,
        subject_id,
    )
    return Job(**row) if row else None


async def update_lease(db: Db, job: Job, until: datetime) -> None:
    """Hold a locked job until then: a new generation, and one attempt more."""
    await db.execute(
        """
        UPDATE jobs SET is_leased = true, due_at = $3, generation = generation + 1,
            attempts = attempts + 1
        WHERE book_id = $1 AND id = $2
        """,
        job.book_id,
        job.id,
        until,
    )


async def delete_job(db: Db, job: Job) -> bool:
    """The job is done; False when another worker has taken it meanwhile."""
    return bool(
        await db.fetchval(
            "DELETE FROM jobs WHERE book_id = $1 AND id = $2 AND generation = $3 RETURNING true",
            job.book_id,
            job.id,
            job.generation,
        )
    )


async def update_done(db: Db, job: Job, due_at: datetime) -> None:
    """A step of the job is done, and the next one is due then."""
    await db.execute(
        """
        UPDATE jobs SET due_at = $4, generation = generation + 1, attempts = 0, reason = NULL
        WHERE book_id = $1 AND id = $2 AND generation = $3
        """,
        job.book_id,
        job.id,
        job.generation,
        due_at,
    )


async def update_failed(db: Db, job: Job, failure: Failure) -> bool:
    """The job has failed; False when another worker has taken it meanwhile."""
    return bool(
        await db.fetchval(
            """
            UPDATE jobs SET is_leased = false, generation = generation + 1, attempts = $4,
                due_at = $5, dead_at = $6, reason = $7
            WHERE book_id = $1 AND id = $2 AND generation = $3 RETURNING true
            """,
            job.book_id,
            job.id,
            job.generation,
            *msgspec.structs.astuple(failure),
        )
    )


async def delete_dead(db: Db, before: datetime, limit: int) -> int:
    """Forget some jobs, of any book_id, that died before then; how many."""
    done = await db.execute(
        """
        DELETE FROM jobs WHERE (book_id, id) IN (
            SELECT book_id, id FROM jobs WHERE dead_at < $1
            ORDER BY dead_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        """,
        before,
        limit,
    )
    return int(done.rpartition(" ")[2])


async def list_dead(db: Db, since: datetime) -> Sequence[Record]:
    """Jobs that died since then, by kind: how many, of how many books, when and why the last."""
    return await db.fetch(
        """
        SELECT kind, count(*) AS count, count(DISTINCT book_id) AS books, max(dead_at) AS last_at,
            (array_agg(reason ORDER BY dead_at DESC))[1] AS last_reason
        FROM jobs WHERE dead_at >= $1 GROUP BY kind ORDER BY kind
        """,
        since,
    )
