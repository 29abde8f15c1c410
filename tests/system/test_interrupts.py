"""A second Ctrl-C: the process ends at once, says so in one line, and leaves nothing running."""

import asyncio
import fcntl
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.cli.command import COMMAND, Command, environment
from tests.system.client import Client
from tests.system.conftest import Start
from tests.system.serving import Serving, children, until
from tests.system.test_serve import accepts
from tillhouse.db.embedded import Embedded

AT_ONCE = 130
# Head and half a body of a request that a stop would wait for.
BEGUN = (
    b"POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    b"content-length: 45\r\n\r\n{"
)


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder whose path is short enough for sockets, and tells its processes."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-interrupts-") as folder:
        yield Path(folder) / "data"


def processes(data: Path) -> list[str]:
    """The processes of a data folder: its database, and all that were given its settings."""
    setting = f"TILLHOUSE_DATA={data}".encode()
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            is_its = str(data / "postgres").encode() in command
            if command and (is_its or setting in (process / "environ").read_bytes().split(b"\0")):
                found.append(command.replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return found


async def assert_nothing_is_left(data: Path) -> None:
    """Its processes end, the database's within the time of its last checkpoint."""
    await until(lambda: not processes(data), "nothing runs any more")


def assert_told_in_lines(log: str) -> list[str]:
    """Standard error has nothing but the log; its events."""
    return [json.loads(line)["event"] for line in log.splitlines()]


@asynccontextmanager
async def waiting_request(serving: Serving, session: aiohttp.ClientSession) -> AsyncIterator[None]:
    """A request that is on its way for as long as the block lasts."""
    _, writer = await asyncio.open_connection("127.0.0.1", serving.port)
    writer.write(BEGUN)
    await writer.drain()
    # Its head was read when this later request is answered.
    await Client(session, serving.address).get("/livez", status=200)
    yield
    writer.close()


@pytest.mark.parametrize(
    ("args", "first"),
    [((), signal.SIGINT), (("--workers", "2"), signal.SIGTERM)],
    ids=["one", "two workers"],
)
async def test_beside_a_request_that_is_waited_for(
    data: Path,
    start: Start,
    session: aiohttp.ClientSession,
    args: tuple[str, ...],
    first: signal.Signals,
) -> None:
    """Workers, senders and the database end as well."""
    serving = await start(*args, DATA=str(data))
    async with waiting_request(serving, session):
        serving.signal(first)
        await until(lambda: not accepts(serving.port), "it takes no more connections")
        serving.signal(signal.SIGINT)
        assert await serving.ended() == AT_ONCE, serving.log
    await assert_nothing_is_left(data)
    assert assert_told_in_lines(serving.log).count("stopped_at_once") == 1


async def test_while_the_database_is_let_go(data: Path, start: Start) -> None:
    """A stop that waits for others to let it stop the database: it is told to all the same."""
    serving = await start("--workers", "2", DATA=str(data))
    with (data / "postgres.start").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        serving.signal(signal.SIGINT)
        await until(lambda: not accepts(serving.port), "it takes no more connections")
        await until(lambda: not children(serving.pid), "its processes have left")
        serving.signal(signal.SIGINT)
        assert await serving.ended() == AT_ONCE, serving.log
    await assert_nothing_is_left(data)
    assert_told_in_lines(serving.log)


async def test_others_keep_the_database(
    data: Path, start: Start, session: aiohttp.ClientSession
) -> None:
    """A database that somebody else uses goes on, and so do its connections."""
    other = await asyncio.to_thread(Embedded.start, data)
    serving = await start("--no-work", DATA=str(data))
    async with waiting_request(serving, session):
        serving.signal(signal.SIGTERM)
        await until(lambda: not accepts(serving.port), "it takes no more connections")
        serving.signal(signal.SIGINT)
        assert await serving.ended() == AT_ONCE, serving.log
    assert other.is_alive()
    assert not await asyncio.to_thread(other.ensure_running)
    await asyncio.to_thread(other.release)
    await assert_nothing_is_left(data)


def is_there(*names: str) -> Callable[[Path], bool]:
    """Whether a file of the data folder is there."""
    return lambda data: (data / Path(*names)).exists()


MOMENTS: dict[str, tuple[str, Callable[[Path], bool]]] = {
    "the folder is made": ("serve", is_there()),
    "the database is being made": ("serve", is_there("postgres.new")),
    "the database runs": ("serve", is_there("postgres", "postmaster.pid")),
    "the key is made": ("serve", is_there("master.key")),
}


def begun(log: Path, data: Path, *args: str) -> subprocess.Popen[bytes]:
    """Start the command with its standard error in this file."""
    with log.open("wb") as file:
        return subprocess.Popen(
            [*COMMAND, *args],
            env=environment(DATA=str(data), PORT="0"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
        )


async def told_until_gone(process: subprocess.Popen[bytes]) -> int:
    """Press Ctrl-C again and again; the exit code."""

    def is_gone() -> bool:
        process.send_signal(signal.SIGINT)
        return process.poll() is not None

    await until(is_gone, "its end")
    return process.returncode


@pytest.mark.parametrize("moment", MOMENTS)
async def test_while_it_starts(data: Path, moment: str) -> None:
    """Told twice before it is ready, at every step of its start."""
    name, has_come = MOMENTS[moment]
    log = data.parent / "log"
    process = begun(log, data, name)
    try:
        await until(lambda: has_come(data), moment)
        # One that has nothing to wait for any more may be gone before it hears the second.
        assert await told_until_gone(process) in (0, AT_ONCE)
    finally:
        process.kill()
    assert_told_in_lines(log.read_text())
    await assert_nothing_is_left(data)


async def test_a_worker_in_the_middle_of_its_end(data: Path) -> None:
    """`tillhouse work` whose database stands still when it is told to leave."""
    server = await asyncio.to_thread(Embedded.start, data)
    await asyncio.to_thread(Command(data).run, "migrate")
    log = data.parent / "log"
    process = begun(log, data, "work")
    try:
        await until(lambda: '"working"' in log.read_text(), "it works")
        stopped = [server.pid, *children(server.pid)]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        assert await told_until_gone(process) == AT_ONCE
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    finally:
        process.kill()
    assert_told_in_lines(log.read_text())
    await asyncio.to_thread(server.release)
    await assert_nothing_is_left(data)
