"""Workers that are killed at work: a local job happens once, an outside job as its kind wants."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import pytest

from tests.jobs.desk import Desk
from tests.waiting import ended, within

pytestmark = pytest.mark.proof

RACED = 1000


@asynccontextmanager
async def working(url: str, place: Path) -> AsyncIterator[int]:
    """A process that runs jobs; its id. It is killed at the end, if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.jobs.processes", url, str(place), stdout=PIPE
    )
    assert process.stdout is not None
    try:
        yield int(await ended(process.stdout.readline()))
    finally:
        if process.returncode is None:
            process.kill()
        await ended(process.wait())


def asked(place: Path) -> list[str]:
    """The subjects that were asked about, in order."""
    return place.read_text("ascii").splitlines() if place.exists() else []


async def until_asked(place: Path, count: int) -> None:
    """Wait until so many askings were noted."""
    async with within():
        while len(asked(place)) < count:  # noqa: ASYNC110 - another process writes the file
            await asyncio.sleep(0.01)


async def until_done(desk: Desk, subject_id: UUID) -> None:
    """Wait until the job is gone."""
    async with within():
        while await desk.find(subject_id) is not None:  # noqa: ASYNC110 - no notification comes here
            await asyncio.sleep(0.02)


async def test_two_processes_race_for_a_thousand_jobs(
    desk: Desk, jobs_url: str, tmp_path: Path
) -> None:
    """Each local job has its effect once, each outside job is asked about once."""
    place = tmp_path / "asked"
    local = [await desk.queue("keep") for _ in range(RACED)]
    outside = [await desk.queue("ask_once") for _ in range(RACED // 10)]
    async with working(jobs_url, place), working(jobs_url, place), within():
        while await desk.sql.fetchval("SELECT count(*) FROM jobs"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    effects = await desk.effects()
    assert effects == dict.fromkeys(
        [*((one, "kept") for one in local), *((one, "answered") for one in outside)], 1
    )
    assert sorted(asked(place)) == sorted(f"ask_once {one}" for one in outside)


async def test_a_local_job_that_is_killed_happens_once(
    desk: Desk, jobs_url: str, tmp_path: Path
) -> None:
    """The work of the killed worker is undone with its transaction."""
    place = tmp_path / "asked"
    subject_id = await desk.queue("keep", key="hang")
    async with working(jobs_url, place) as pid:
        await until_asked(place, 1)
        os.kill(pid, signal.SIGKILL)
    await desk.sql.execute("UPDATE jobs SET key = '' WHERE subject_id = $1", subject_id)
    async with working(jobs_url, place):
        await until_done(desk, subject_id)
    assert await desk.effects() == {(subject_id, "kept"): 1}


async def test_a_job_killed_while_it_asks_is_asked_again(
    desk: Desk, jobs_url: str, tmp_path: Path
) -> None:
    """At least once: when the lease has ended, the next worker asks."""
    place = tmp_path / "asked"
    subject_id = await desk.queue("ask", key="hang")
    async with working(jobs_url, place) as pid:
        await until_asked(place, 1)
        os.kill(pid, signal.SIGKILL)
    held = await desk.find(subject_id)
    assert held is not None
    assert (held.is_leased, held.attempts) == (True, 1)
    await desk.sql.execute("UPDATE jobs SET key = '' WHERE subject_id = $1", subject_id)
    async with working(jobs_url, place):
        await until_done(desk, subject_id)
    assert asked(place) == [f"ask {subject_id}"] * 2
    assert await desk.effects() == {(subject_id, "answered"): 1}


async def test_a_job_killed_while_it_asks_may_be_asked_never_again(
    desk: Desk, jobs_url: str, tmp_path: Path
) -> None:
    """At most once: the next worker is told, and notes that nobody knows."""
    place = tmp_path / "asked"
    subject_id = await desk.queue("ask_once", key="hang")
    async with working(jobs_url, place) as pid:
        await until_asked(place, 1)
        os.kill(pid, signal.SIGKILL)
    async with working(jobs_url, place):
        await until_done(desk, subject_id)
    assert asked(place) == [f"ask_once {subject_id}"]
    assert await desk.effects() == {(subject_id, "unknown"): 1}
