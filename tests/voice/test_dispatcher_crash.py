"""A dispatcher that is killed between any two steps dials nobody twice and leaves no slot.

TILLHOUSE_TEST_FUZZ=1 kills before and after every statement instead of at some.
"""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from tests.system.killed_steps import Step
from tests.system.killing_proxy import Proxy
from tests.voice.desk import NUMBERS, Desk, phone
from tests.voice.processes import DIALLED
from tests.voice.test_simulated_calls import COMPLETED, FAILED, STARTED, events
from tests.voice.virtual import Network, VirtualClock
from tests.waiting import ended
from tillhouse.app import App
from tillhouse.kit.clock import now

EVERYTHING = bool(os.environ.get("TILLHOUSE_TEST_FUZZ"))
# Connecting takes the first ones; then come the claim, the rings, the answer, talk, and the end.
SOME = (16, 20, 24, 27, 30, 33, 40, 48, 54)
RECONCILED_WITHIN = timedelta(seconds=30)


@pytest.fixture
async def proxy(network_url: str) -> AsyncIterator[Proxy]:
    """The database, by way of somebody who kills."""
    with tempfile.TemporaryDirectory() as folder:
        async with Proxy(Path(folder), network_url) as made:
            yield made


def targets(points: tuple[int, ...]) -> Iterator[Step]:
    """Where it is killed."""
    for number in count(1) if EVERYTHING else iter(points):
        for is_after in (False, True):
            yield Step(number, is_after=is_after)


async def _run(proxy: Proxy, master_key: str, folder: Path, target: Step) -> int:
    """Let a dispatcher work until it ends or is ended; its exit code."""
    proxy.target = target
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.voice.processes", proxy.url, master_key, str(folder)
    )
    try:
        return await ended(process.wait())
    finally:
        proxy.target = None
        if process.returncode is None:
            process.kill()


@pytest.mark.parametrize(
    "points",
    [pytest.param((30,), id="one"), pytest.param(SOME, id="some", marks=pytest.mark.proof)],
)
async def test_whenever_it_is_killed_a_call_is_dialled_once(
    caller: Desk,
    network_app: App,
    proxy: Proxy,
    master_key: str,
    tmp_path: Path,
    points: tuple[int, ...],
) -> None:
    """One dial, one end that is told once, and a free slot within 30 seconds."""
    killed = 0
    for target in targets(points):
        placed = await caller.place(customer_phone=phone())
        code = await _run(proxy, master_key, tmp_path, target)
        assert code in (0, -signal.SIGKILL), code
        # Half a minute later, another dispatcher.
        await Network(network_app.services, VirtualClock(now() + RECONCILED_WITHIN)).run()
        await _check(caller, placed["id"], tmp_path)
        if code == 0:
            break
        killed += 1
    assert killed >= len(points), "it was hardly ever killed"


async def _check(caller: Desk, call_id: str, folder: Path) -> None:
    call = await caller.call(call_id)
    number = call["customer"]["phoneNumber"]
    dialled = (folder / DIALLED).read_text() if (folder / DIALLED).exists() else ""
    times = sum(line.endswith(number) for line in dialled.splitlines())
    assert times <= 1, f"dialled {times} times"
    assert call["status"] in ("completed", "failed"), call
    if call["status"] == "failed":
        assert call["endedReason"] == "outcome_unknown"
        [attempt] = call["attempts"]
        assert (attempt["result"], attempt["endedAt"] is not None) == ("outcome_unknown", True)
    told = [one["type"] for one in await events(caller, call_id)]
    assert told.count(COMPLETED) + told.count(FAILED) == 1, told
    assert told.count(STARTED) == (call["answeredAt"] is not None), told
    assert (COMPLETED in told) == (call["status"] == "completed")
    line = (await caller.api.get(f"{NUMBERS}/{caller.number_id}", status=200)).data
    assert line["activeCalls"] == 0
