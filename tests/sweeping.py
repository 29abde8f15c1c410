"""Runs a chore to its end, as a process does when it is due."""

import asyncio

import msgspec

from tests.waiting import within
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT, chores_of
from tillhouse.jobs.kinds import INSTALLATION, Job

JOB = Job(
    book_id=INSTALLATION, id=INSTALLATION, kind="", subject_id=INSTALLATION, key="", payload=None,
    attempts=0, generation=0, is_lapsed=False,
)  # fmt: skip


async def until_first_run(services: Services, *names: str) -> None:
    """Wait for the run of chores at the start of an application: a test's rows are not for it."""
    async with services.pool.reading() as db, within():
        while await db.fetchval(  # noqa: ASYNC110 - another connection commits it
            "SELECT count(*) FROM jobs WHERE kind = ANY($1) AND due_at > created_at", names
        ) < len(names):
            await asyncio.sleep(0.01)


async def sweep(services: Services, name: str) -> int:
    """Run a chore until it says that nothing is left; how often it ran."""
    [chore] = [one for one in chores_of(PRODUCT, services) if one.name == name]
    await until_first_run(services, name)
    count = 0
    has_more = True
    while has_more:
        async with services.pool.transaction() as db:
            queued = await db.fetchrow("SELECT id, payload FROM jobs WHERE kind = $1", name)
            assert queued is not None
            job = msgspec.structs.replace(JOB, id=queued["id"], payload=queued["payload"])
            has_more = await chore.run(db, job)
        count += 1
    return count
