"""A stop reaches every serving process, at whatever moment it comes."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from structlog.testing import capture_logs

from tests.system.conftest import Start
from tests.system.serving import children, until
from tests.waiting import within
from tillhouse.cli.output import CommandError
from tillhouse.cli.stopping import Stop
from tillhouse.cli.worker import WorkerOrder
from tillhouse.cli.workers import WorkerProcesses


@contextmanager
def hearing(stop: Stop) -> Iterator[None]:
    """Signals to this process are those of a stop while the block runs."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    stop.install()
    try:
        yield
    finally:
        for number, heard in before.items():
            signal.signal(number, heard)


async def test_a_worker_that_is_being_started_leaves_with_the_others(
    database_url: str, master_key: str
) -> None:
    """Its process is there, and its owner doesn't know of it yet."""
    order = WorkerOrder(
        given={},
        database_url=database_url,
        master_key=master_key,
        sockets=[],
        runs_workers=False,
    )
    before = set(children(os.getpid()))
    stop = Stop()
    with hearing(stop), capture_logs() as logs:
        serving = asyncio.create_task(WorkerProcesses(order, [], 1, lambda: None, stop).run())
        async with within():
            while not set(children(os.getpid())) - before:  # noqa: ASYNC110 - no event tells of it
                await asyncio.sleep(0)
            os.kill(os.getpid(), signal.SIGTERM)
            await serving
    assert "worker_killed" not in [each["event"] for each in logs]


async def test_workers_that_cannot_begin_end_the_command(master_key: str) -> None:
    """None of them served, so another one would fail alike; their own line says why."""
    order = WorkerOrder(
        given={"pool_size": "none"},
        database_url="postgresql://127.0.0.1:1/tillhouse",
        master_key=master_key,
        sockets=[],
        runs_workers=False,
    )
    stop = Stop()
    with hearing(stop), capture_logs() as logs:
        async with within():
            with pytest.raises(CommandError, match="the line above says why"):
                await WorkerProcesses(order, [], 2, lambda: None, stop).run()
    assert {"worker_died", "worker_killed"}.isdisjoint(each["event"] for each in logs)


@pytest.mark.parametrize(("module", "word"), [("cli.worker", "worker"), ("cli.sending", "sender")])
async def test_a_process_that_others_tell_to_leave_is_replaced(
    start: Start, database_url: str, master_key: str, module: str, word: str
) -> None:
    """The log says so, since it ended well and the server goes on."""
    serving = await start("--workers", "2", DATABASE_URL=database_url, MASTER_KEY=master_key)
    await until(lambda: "sender_started" in serving.log, "the sender")
    old = children(serving.pid, module)
    os.kill(old[0], signal.SIGTERM)
    await until(lambda: f"{word}_left" in serving.log, "its end in the log")
    count = len(old)
    await until(lambda: len(set(children(serving.pid, module)) - {old[0]}) == count, "a new one")
    assert await serving.stop() == 0
    assert serving.log.count("_left") == 1
    assert f"{word}_died" not in serving.log
