"""Starts `tillhouse serve` as a real process and knows how to end it."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.cli.command import COMMAND, environment
from tests.waiting import HUNG_S, within


async def until(is_so: Callable[[], bool], what: str, within_s: float = HUNG_S) -> None:
    """Wait for a condition; fail when it does not come true in time."""
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        await asyncio.sleep(0.01)


def report(figure: str) -> None:
    """Print a figure that was measured; `pytest -s` shows it."""
    sys.stdout.write(f"\n    {figure}\n")


@contextmanager
def kept_port() -> Iterator[int]:
    """A port for servers that come and go: bound here, so that nobody else is given it meanwhile.

    A server that asks for it by its number gets it, since nobody listens at this socket.
    """
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]


# The words of a process that ends a request, a child or itself before they have ended.
_WAITED = ("graceful shutdown exceeded", "stream_cut", "stop_forced", "_killed")


class Serving:
    """One running `tillhouse serve`; its log goes to a file, since a full pipe would stop it."""

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes], began: float) -> None:
        self.process = process
        self.pid = process.pid
        self._log = log
        self._began = began
        self.ready: dict[str, Any] = {}
        self.ready_after_s = 0.0

    @classmethod
    def start(cls, *args: str, path: Path | None = None, **settings: str) -> "Serving":
        """Start it; `wait` tells when it is ready. It finds programs in `path` alone, if given."""
        given = {"PORT": "0", "RATE_LIMIT": "0", "REGISTRATION_LIMIT": "0"} | settings
        log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        process = subprocess.Popen(
            [*COMMAND, "serve", "--json", *args],
            env=environment(**given) | ({} if path is None else {"PATH": str(path)}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        return cls(process, log, time.monotonic())

    @classmethod
    async def up(cls, *args: str, path: Path | None = None, **settings: str) -> "Serving":
        """Start it and wait until it answers."""
        return await cls.start(*args, path=path, **settings).wait()

    async def wait(self) -> "Serving":
        """Wait until it is ready."""
        assert self.process.stdout is not None
        try:
            async with within():
                line = await asyncio.to_thread(self.process.stdout.readline)
        except TimeoutError:
            self.kill()
            raise
        assert line, self.log
        self.ready_after_s = time.monotonic() - self._began
        self.ready = json.loads(line)
        return self

    @property
    def address(self) -> str:
        """Where the API is."""
        return self.ready["address"]

    @property
    def port(self) -> int:
        """The port that was taken."""
        return int(self.address.rpartition(":")[2])

    @property
    def log(self) -> str:
        """The text on its standard error."""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode("utf-8", "replace")

    def assert_left_in_order(self) -> None:
        """The end of every request came by itself: a stop that waited in vain says so."""
        for word in _WAITED:
            assert word not in self.log, self.log

    def signal(self, number: int) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    async def ended(self) -> int:
        """Wait for its end; the exit code."""
        code = await asyncio.to_thread(self.process.wait, HUNG_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    async def stop(self) -> int:
        """End it as an operator does; the exit code."""
        self.signal(signal.SIGTERM)
        return await self.ended()

    def kill(self) -> None:
        """End it at once, if it still runs."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._log.close()


def children(pid: int, module: str = "") -> list[int]:
    """The processes under another one, those that run this module."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [child for child in map(int, text.split()) if _runs(child, module)]


def _runs(pid: int, module: str) -> bool:
    """Whether a process runs this module; one that ended since it was listed doesn't."""
    try:
        return module.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def memory_bytes(pids: Iterable[int]) -> int:
    """The memory that processes hold together; what they share of files is counted once."""
    own, shared = 0, dict[tuple[str, ...], int]()
    for pid in pids:
        mapping: tuple[str, ...] = ()
        resident = 0
        for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
            name, *values = line.split()
            if not name.endswith(":"):
                # Of a mapping's head: its offset, device, inode and path.
                mapping = tuple(values[1:])
            elif name == "Rss:":
                resident = int(values[0])
            elif name == "Anonymous:":
                own += int(values[0])
                shared[mapping] = max(shared.get(mapping, 0), resident - int(values[0]))
    return (own + sum(shared.values())) * 1024
