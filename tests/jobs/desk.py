"""Queues jobs and looks what became of them."""

from collections import Counter
from datetime import datetime
from uuid import UUID

import asyncpg
import msgspec

from tillhouse.db.pool import Pool
from tillhouse.jobs import store
from tillhouse.jobs.kinds import NewJob
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A job as it stands in the table."""

    attempts: int
    generation: int
    is_leased: bool
    due_at: datetime
    dead_at: datetime | None
    reason: str | None


class Desk:
    """One database's queue."""

    def __init__(self, pool: Pool, sql: asyncpg.Connection) -> None:
        self.pool = pool
        self.sql = sql
        self.book_id = new_id()

    async def queue(
        self,
        kind: str,
        *,
        subject_id: UUID | None = None,
        key: str = "",
        due_at: datetime | None = None,
        book_id: UUID | None = None,
    ) -> UUID:
        """Queue a job; its subject."""
        subject_id = subject_id or new_id()
        new = NewJob(book_id=book_id or self.book_id, kind=kind, subject_id=subject_id, key=key)
        at = now()
        async with self.pool.transaction() as db:
            await store.queue_job(db, new, due_at or at, at)
        return subject_id

    async def find(self, subject_id: UUID) -> Row | None:
        """The job of a subject; None when it is done."""
        row = await self.sql.fetchrow(
            """
            SELECT attempts, generation, is_leased, due_at, dead_at, reason FROM jobs
            WHERE subject_id = $1
            """,
            subject_id,
        )
        return Row(**row) if row else None

    async def effects(self) -> Counter[tuple[UUID, str]]:
        """The runs of each kind, by subject, and how many."""
        rows = await self.sql.fetch("SELECT subject_id, what FROM effects")
        return Counter((UUID(str(row["subject_id"])), row["what"]) for row in rows)
