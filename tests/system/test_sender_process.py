"""The process that sends beside `tillhouse serve`: replaced when it dies, gone when `serve` is."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from structlog.testing import capture_logs

from tests.cli.command import environment
from tests.system.serving import Serving, children, until
from tests.waiting import ended
from tillhouse.cli.child_process import ChildProcess, child_order

SENDS = "tillhouse.cli.sending"
DEATHS = 3


async def _sender(serving: Serving, *, after: int = 0) -> int:
    """The process that sends, once it does; another one than this."""
    await until(lambda: bool(set(children(serving.pid, SENDS)) - {after}), "a process that sends")
    [pid] = children(serving.pid, SENDS)
    return pid


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_a_sender_that_dies_is_replaced(database_url: str, master_key: str) -> None:
    """However it dies; `serve` answers meanwhile, and takes the next one along at its end."""
    serving = await Serving.up(DATABASE_URL=database_url, MASTER_KEY=master_key)
    try:
        sender = 0
        # At once, before it has taken its order, and in the midst of its start.
        for _ in range(DEATHS):
            sender = await _sender(serving, after=sender)
            os.kill(sender, signal.SIGKILL)
            await until(lambda pid=sender: not _is_there(pid), "its end")
        sender = await _sender(serving, after=sender)
        await serving.stop()
        await until(lambda: not _is_there(sender), "the end of the last")
    finally:
        serving.kill()


async def test_a_sender_that_is_stuck_is_replaced(database_url: str, master_key: str) -> None:
    """It lives, and says nothing."""
    serving = await Serving.up(DATABASE_URL=database_url, MASTER_KEY=master_key)
    try:
        await until(lambda: "sender_started" in serving.log, "a process that sends")
        stuck = await _sender(serving)
        os.kill(stuck, signal.SIGSTOP)
        await until(lambda: "child_silent" in serving.log, "it is noticed")
        await until(lambda: not _is_there(stuck), "its end")
        await _sender(serving, after=stuck)
        assert await serving.stop() == 0
    finally:
        serving.kill()


class PatientlyStopped(ChildProcess):
    """A process that has an hour for what it has under way, as long as it says that it works."""

    stopped_within_s = 3600.0


async def test_a_stop_does_not_wait_for_a_suspended_sender(
    database_url: str, master_key: str
) -> None:
    """It can't say that it has nothing to do, and is killed as the stop sees that it is silent."""
    order = child_order({}, database_url, master_key)
    sender = PatientlyStopped("webhook sender", SENDS, order)
    sender.environment = environment()
    sender.start()
    await until(lambda: sender.has_begun, "a process that sends")
    [suspended] = children(os.getpid(), SENDS)
    os.kill(suspended, signal.SIGSTOP)
    try:
        with capture_logs() as told:
            await ended(sender.stop())
        assert [one["event"] for one in told] == ["sender_killed"]
        assert not _is_there(suspended)
    finally:
        with suppress(ProcessLookupError):
            os.kill(suspended, signal.SIGKILL)


async def test_a_sender_leaves_with_its_server(database_url: str, master_key: str) -> None:
    """Also when that is killed."""
    serving = await Serving.up(DATABASE_URL=database_url, MASTER_KEY=master_key)
    await until(lambda: "sender_started" in serving.log, "a process that sends")
    sender = await _sender(serving)
    serving.kill()
    await until(lambda: not _is_there(sender), "the end of the sender")


async def test_without_work_nothing_sends(database_url: str, master_key: str) -> None:
    """Other machines may do that."""
    serving = await Serving.up("--no-work", DATABASE_URL=database_url, MASTER_KEY=master_key)
    try:
        assert children(serving.pid) == []
    finally:
        await serving.stop()
        serving.kill()
