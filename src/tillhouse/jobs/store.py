"""Statements on the queue of jobs."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.sweep import Sweep
from tillhouse.jobs.kinds import Job, NewJob
from tillhouse.jobs.turns import ReadyBook

# Jobs queued in one statement with the rows that they are about. It reads the CTE `queueing` of
# the statement around it, with the columns (book_id, kind, subject_id, key, payload, due_at,
# queued_at). One that is there is left alone, one that died begins anew. One that is due already
# stands in the line of its book.
QUEUE: LiteralString = """
    queued AS (
        INSERT INTO jobs (book_id, id, kind, subject_id, key, payload, due_at, is_ready, created_at)
        SELECT book_id, new_id(queued_at), kind, subject_id, key, payload, due_at,
            due_at <= queued_at, queued_at
        FROM queueing
        ON CONFLICT (book_id, kind, subject_id, key) DO UPDATE SET
            due_at = excluded.due_at, is_ready = excluded.is_ready, payload = excluded.payload,
            attempts = 0, generation = jobs.generation + 1, dead_at = NULL, reason = NULL
        WHERE jobs.dead_at IS NOT NULL
    )
"""

_JOB: LiteralString = """
    d.book_id, d.id, d.kind, d.subject_id, d.key, d.payload, d.attempts, d.generation,
    d.is_leased AS is_lapsed
"""

# Jobs that died long ago.
delete_dead = Sweep("jobs", by="dead_at")


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The next state of a job that has failed: due again, or dead."""

    attempts: int
    due_at: datetime
    dead_at: datetime | None
    reason: str


async def queue_job(db: Db, new: NewJob, due_at: datetime, now: datetime) -> None:
    """Queue a job in the transaction of its cause; the commit wakes the workers."""
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


async def queue_jobs(db: Db, news: Sequence[NewJob], due_at: datetime, now: datetime) -> None:
    """Queue jobs of one book_id that are done in this order: each is due a moment after another."""
    await db.execute(
        """
        WITH queueing AS (
            SELECT book_id, kind, subject_id, key, payload,
                $6::timestamptz + place * interval '1 ms' AS due_at, $7::timestamptz AS queued_at
            FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::bytea[])
                WITH ORDINALITY n (book_id, kind, subject_id, key, payload, place)
        ),
        """
        + QUEUE
        + "SELECT",
        [new.book_id for new in news],
        [new.kind for new in news],
        [new.subject_id for new in news],
        [new.key for new in news],
        [new.payload for new in news],
        due_at,
        now,
    )
    db.queues_jobs = True


async def update_ready(db: Db, kinds: Sequence[str], now: datetime, limit: int) -> int:
    """Let some jobs whose time has come stand in the lines of their books; how many.

    Those whose lease ended come back as well.
    """
    row = await db.write_once(
        """
        WITH due AS (
            SELECT j.book_id, j.id FROM unnest($1::text[]) k (kind) CROSS JOIN LATERAL (
                SELECT d.book_id, d.id FROM jobs d
                WHERE d.kind = k.kind AND d.dead_at IS NULL AND NOT d.is_ready AND d.due_at <= $2
                ORDER BY d.due_at LIMIT $3 FOR UPDATE SKIP LOCKED
            ) j
        ), made AS (
            UPDATE jobs SET is_ready = true FROM due
            WHERE jobs.book_id = due.book_id AND jobs.id = due.id
            RETURNING 1
        )
        SELECT count(*) FROM made
        """,
        kinds,
        now,
        limit,
    )
    return row[0] if row else 0


async def list_ready(db: Db, kinds: Sequence[str], first: UUID, limit: int) -> Sequence[ReadyBook]:
    """The books that have jobs ready, by book_id from the first one on: so many of each kind.

    Each book costs one look into the index, however many jobs it has.
    """
    rows = await db.fetch(
        """
        WITH RECURSIVE found AS (
            SELECT k.kind, b.book_id, 1 AS place FROM unnest($1::text[]) k (kind)
            CROSS JOIN LATERAL (
                SELECT d.book_id FROM jobs d
                WHERE d.kind = k.kind AND d.dead_at IS NULL AND d.is_ready AND d.book_id >= $2
                ORDER BY d.book_id LIMIT 1
            ) b
            UNION ALL
            SELECT f.kind, b.book_id, f.place + 1 FROM found f CROSS JOIN LATERAL (
                SELECT d.book_id FROM jobs d
                WHERE d.kind = f.kind AND d.dead_at IS NULL AND d.is_ready
                    AND d.book_id > f.book_id
                ORDER BY d.book_id LIMIT 1
            ) b WHERE f.place < $3
        )
        SELECT kind, book_id FROM found
        """,
        kinds,
        first,
        limit,
    )
    return [ReadyBook(row["kind"], row["book_id"]) for row in rows]


async def lock_ready(db: Db, book_id: UUID, kinds: Sequence[str], now: datetime) -> Job | None:
    """The job of a book that is ready for the longest, locked; the earlier kinds go first."""
    row = await db.fetchrow(
        """
        SELECT j.* FROM unnest($2::text[]) k (kind) CROSS JOIN LATERAL (
            SELECT
        """
        + _JOB
        + """
            FROM jobs d
            WHERE d.kind = k.kind AND d.book_id = $1 AND d.dead_at IS NULL AND d.is_ready
                AND d.due_at <= $3
            ORDER BY d.due_at LIMIT 1 FOR UPDATE SKIP LOCKED
        ) j LIMIT 1
        """,
        book_id,
        kinds,
        now,
    )
    return Job(**row) if row else None


async def find_next_due(db: Db, kinds: Sequence[str]) -> datetime | None:
    """When the next job of these kinds, of any book_id, is due or its lease ends."""
    return await db.fetchval(
        """
        SELECT min(j.due_at) FROM unnest($1::text[]) k (kind) CROSS JOIN LATERAL (
            (SELECT d.due_at FROM jobs d
            WHERE d.kind = k.kind AND d.dead_at IS NULL AND d.is_ready
            ORDER BY d.book_id LIMIT 1)
            UNION ALL
            (SELECT d.due_at FROM jobs d
            WHERE d.kind = k.kind AND d.dead_at IS NULL AND NOT d.is_ready
            ORDER BY d.due_at LIMIT 1)
        ) j
        """,
        kinds,
    )


async def lock_job(db: Db, book_id: UUID, kind: str, subject_id: UUID, key: str = "") -> Job | None:
    """The job of a subject, whenever it is due, locked; None when it is held, dead or gone."""
    row = await db.fetchrow(
        "SELECT"
        + _JOB
        + """
        FROM jobs d
        WHERE d.book_id = $1 AND d.kind = $2 AND d.subject_id = $3 AND d.key = $4
            AND d.dead_at IS NULL AND NOT d.is_leased
        FOR UPDATE
        """,
        book_id,
        kind,
        subject_id,
        key,
    )
    return Job(**row) if row else None


async def update_lease(db: Db, job: Job, until: datetime) -> None:
    """Hold a locked job until then: a new generation, and one attempt more."""
    await db.execute(
        """
        UPDATE jobs SET is_leased = true, is_ready = false, due_at = $3,
            generation = generation + 1, attempts = attempts + 1
        WHERE book_id = $1 AND id = $2
        """,
        job.book_id,
        job.id,
        until,
    )


async def delete_job(db: Db, job: Job) -> bool:
    """The job is done; False when another worker has taken it meanwhile."""
    return await db.execute_one(
        "DELETE FROM jobs WHERE book_id = $1 AND id = $2 AND generation = $3 RETURNING true",
        job.book_id,
        job.id,
        job.generation,
    )


async def update_done(db: Db, job: Job, due_at: datetime, now: datetime) -> None:
    """A step of the job is done, and the next one is due then."""
    await db.execute(
        """
        UPDATE jobs SET due_at = $4, is_ready = $4 <= $5::timestamptz,
            generation = generation + 1, attempts = 0, reason = NULL
        WHERE book_id = $1 AND id = $2 AND generation = $3
        """,
        job.book_id,
        job.id,
        job.generation,
        due_at,
        now,
    )


async def list_books_after(db: Db, book_id: UUID, limit: int) -> list[UUID]:
    """Some books, in the order of their ids, after one."""
    rows = await db.fetch("SELECT id FROM books WHERE id > $1 ORDER BY id LIMIT $2", book_id, limit)
    return [row["id"] for row in rows]


async def update_payload(db: Db, job: Job, payload: bytes | None) -> None:
    """Keep the state of a periodic job for the next time."""
    await db.execute(
        "UPDATE jobs SET payload = $3 WHERE book_id = $1 AND id = $2 "
        "AND payload IS DISTINCT FROM $3",
        job.book_id,
        job.id,
        payload,
    )


async def update_failed(db: Db, job: Job, failure: Failure) -> bool:
    """The job has failed; False when another worker has taken it meanwhile."""
    return await db.execute_one(
        """
        UPDATE jobs SET is_leased = false, is_ready = false, generation = generation + 1,
            attempts = $4, due_at = $5, dead_at = $6, reason = $7
        WHERE book_id = $1 AND id = $2 AND generation = $3 RETURNING true
        """,
        job.book_id,
        job.id,
        job.generation,
        *msgspec.structs.astuple(failure),
    )


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


class StuckRows:
    """Rows of a table on their way that none of some kinds of job brings to their end.

    `names` are the table and its alias, `withdrawals w`; `on_their_way` are its conditions.
    """

    def __init__(
        self,
        names: LiteralString,
        shown: LiteralString,
        kinds: LiteralString,
        on_their_way: LiteralString,
    ) -> None:
        self.table, _, alias = names.partition(" ")
        jobs: LiteralString = (
            "FROM jobs j WHERE j.book_id = " + alias + ".book_id AND j.subject_id = "
            + alias + ".id AND j.kind IN (" + kinds + ") AND "
        )  # fmt: skip
        stuck = on_their_way + " AND NOT EXISTS (SELECT " + jobs + "j.dead_at IS NULL)"
        self._count: LiteralString = (
            "SELECT count(*) AS count, count(DISTINCT " + alias + ".book_id) AS books FROM "
            + names + " WHERE " + stuck
        )  # fmt: skip
        self._list: LiteralString = (
            "SELECT " + shown + ", coalesce((SELECT j.reason " + jobs + "j.dead_at IS NOT NULL "
            "ORDER BY j.dead_at DESC LIMIT 1), 'its job is gone') AS reason FROM " + names
            + " WHERE " + alias + ".book_id = $1 AND " + stuck + " ORDER BY " + alias
            + ".id LIMIT $2"
        )  # fmt: skip

    async def count(self, db: Db) -> Record:
        """How many are stuck in all books, and of how many books they are."""
        [row] = await db.fetch(self._count)
        return row

    async def list(self, db: Db, book_id: UUID, limit: int) -> Sequence[Record]:
        """Those of a book, with why the last job of each gave up."""
        return await db.fetch(self._list, book_id, limit)
