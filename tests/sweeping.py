"""Runs a chore to its end, as a process does when it is due."""

import asyncio

from tests.waiting import within
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT, chores_of
from tillhouse.jobs.kinds import INSTALLATION, Job

JOB = Job(
    book_id=INSTALLATION, id=INSTALLATION, kind="", subject_id=INSTALLATION, key="", payload=None,
    attempts=0, generation=0, is_lapsed=False,
)  # fmt: skip


async def sweep(services: Services, name: str) -> int:
    """Run a chore until it says that nothing is left; how often it ran."""
    [chore] = [one for one in chores_of(PRODUCT, services) if one.name == name]
    # Each application runs it once at its start; what the test makes is not for that run.
    async with services.pool.reading() as db, within(20):
        while not await db.fetchval(  # noqa: ASYNC110 - another connection commits it
            "SELECT true FROM jobs WHERE kind = $1 AND due_at > now()", name
        ):
            await asyncio.sleep(0.01)
    count = 0
    has_more = True
    while has_more:
        async with services.pool.transaction() as db:
            has_more = await chore.run(db, JOB)
        count += 1
    return count
