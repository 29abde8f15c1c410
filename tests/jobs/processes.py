"""Processes that do nothing but run jobs, to be killed.

`python -m tests.jobs.processes DATABASE_URL PLACE` runs local jobs and jobs that ask outside. The
outside is the file at PLACE, in which each asking leaves a line. A subject whose key is `hang` is
asked about and never answered.
"""

import asyncio
import os
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from tillhouse.db.pool import Db, Pool
from tillhouse.jobs.kinds import Again, Job, LocalKind, OutsideKind, Retry
from tillhouse.jobs.runner import workers_for

LEASE = timedelta(seconds=2)
RETRY = Retry(attempts_max=3, base=timedelta(milliseconds=10), most=timedelta(milliseconds=50))


class Handlers:
    """Jobs whose effects are rows of the table `effects`, and lines of a file."""

    def __init__(self, place: Path) -> None:
        self._place = place

    async def keep(self, db: Db, job: Job) -> bool:
        """A local effect, which hangs before its commit when it is told to."""
        await db.execute(
            "INSERT INTO effects (subject_id, what) VALUES ($1, 'kept')", job.subject_id
        )
        if job.key == "hang":
            self._note(job)
            await asyncio.Event().wait()
        return False

    async def begin(self, _db: Db, job: Job) -> Job | None:
        """At least once: whatever an earlier worker did."""
        return job

    async def begin_once(self, db: Db, job: Job) -> Job | None:
        """At most once: nobody is asked again after a lapse."""
        if job.is_lapsed:
            await db.execute(
                "INSERT INTO effects (subject_id, what) VALUES ($1, 'unknown')", job.subject_id
            )
            return None
        return job

    async def ask(self, job: Job) -> str:
        """Ask the outside."""
        self._note(job)
        if job.key == "hang":
            await asyncio.Event().wait()
        return "answered"

    async def record(self, db: Db, job: Job, _asked: Any, came: Any) -> Again | None:
        """Write the answer down."""
        await db.execute("INSERT INTO effects (subject_id, what) VALUES ($1, $2)",
            job.subject_id, came)  # fmt: skip
        return None

    def _note(self, job: Job) -> None:
        with self._place.open("a", encoding="ascii") as file:
            file.write(f"{job.kind} {job.subject_id}\n")

    def kinds(self) -> tuple[LocalKind, OutsideKind, OutsideKind]:
        """One of each sort."""
        return (
            LocalKind(name="keep", run=self.keep, retry=RETRY),
            OutsideKind(
                name="ask", begin=self.begin, run=self.ask, record=self.record,
                lease=LEASE, retry=RETRY,
            ),
            OutsideKind(
                name="ask_once", begin=self.begin_once, run=self.ask, record=self.record,
                lease=LEASE, retry=RETRY,
            ),
        )  # fmt: skip


async def main(database_url: str, place: str) -> None:
    """Run jobs until killed."""
    pool = await Pool.open(database_url, size=4)
    pool.notifier.start(pool.dedicated, pool.notify, listens=True)
    for worker in workers_for(pool, Handlers(Path(place)).kinds(), Counter()):
        worker.start()
    sys.stdout.write(f"{os.getpid()}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
