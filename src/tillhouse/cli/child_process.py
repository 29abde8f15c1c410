"""Keeps a child process of `tillhouse serve` or `work`: started, replaced if it dies, stopped.

Its own side is `child_work.py`, or `worker.py` where it serves.
"""

import asyncio
import contextlib
import time
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
import structlog

from tillhouse.cli.child import hear, start_child

# The successor of one that died young would die again at once: it waits so long, twice as long
# after each further one, and no longer than that.
PAUSE_S = 1.0
PAUSE_MAX_S = 5.0
YOUNG_S = 10.0

log = structlog.get_logger()


class ChildOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The order to such a process."""

    given: dict[str, Any]
    database_url: str
    master_key: str
    # Whether it leaves by itself when it has nothing to do.
    leaves_when_idle: bool = False


class Beat(msgspec.Struct, frozen=True):
    """The words of such a process about itself, each second."""

    # How long ago the slowest of its workers completed a round.
    slowest_s: float
    # How often it did each kind of work.
    counted: dict[str, int]


def child_order(given: dict[str, object], database_url: str, master_key: str) -> ChildOrder:
    """The order to the child processes of a server with these flags."""
    return ChildOrder(
        given={name: str(value) for name, value in given.items() if value is not None},
        database_url=database_url,
        master_key=master_key,
    )


async def _at_once() -> None:
    return


class ChildProcess:
    """Keeps one process alive until it is stopped, from the time that it is wanted."""

    # It records the work under way first; work that takes longer is repeated by another one.
    stopped_within_s = 7.0
    # It beats until it is done: one that is silent for so long is suspended or stuck.
    silent_at_stop_s = 3.0

    def __init__(
        self,
        name: str,
        module: str,
        order: ChildOrder,
        until_wanted: Callable[[], Awaitable[None]] = _at_once,
    ) -> None:
        # As metrics name it; logs have its last word.
        self.name = name
        self._word = name.split()[-1]
        self._module, self._order, self._until_wanted = module, order, until_wanted
        self._process: Process | None = None
        self.task: asyncio.Task[None] | None = None
        self._leaving = asyncio.Event()
        self._is_wanted = True
        self._beat_s = time.monotonic()
        self._slowest_s = 0.0
        # Whether the process that runs has beaten.
        self.has_begun = False
        # Of the process that runs, and of those before it.
        self._counted: Mapping[str, int] = {}
        self._counted_before: Counter[str] = Counter()
        # Of the process itself, if they are not those of this one.
        self.environment: Mapping[str, str] | None = None
        self.sockets: Sequence[int] = ()

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self.task is not None and not self.task.done()

    @property
    def age_s(self) -> float:
        """How long ago the slowest of its workers completed a round."""
        return time.monotonic() - self._beat_s + self._slowest_s if self._is_wanted else 0.0

    def counted(self) -> Mapping[str, int]:
        """Everything that it counted, and those that it replaced."""
        counted = self._counted_before.copy()
        counted.update(self._counted)
        return counted

    def start(self) -> None:
        """Begin."""
        self.task = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Finish the work under way, then end."""
        self._leaving.set()
        self._tell_to_leave()
        if self.task is not None:
            if not await self._has_left(self.task):
                self._kill()
            await self.task

    async def _has_left(self, task: asyncio.Task[None]) -> bool:
        """Wait while it works; whether it ended by itself."""
        told_s = time.monotonic()
        while not task.done():
            silent_s = time.monotonic() - max(told_s, self._beat_s)
            rest_s = told_s + self.stopped_within_s - time.monotonic()
            if (wait_s := min(self.silent_at_stop_s - silent_s, rest_s)) <= 0:
                return False
            await asyncio.wait({task}, timeout=wait_s)
        return True

    def on_first_beat(self, pid: int) -> None:
        """Tell of a process that has begun its work."""
        log.info(f"{self._word}_started", pid=pid)

    def is_to_be_replaced(self, _pid: int | None) -> bool:
        """Whether another process takes the place of one that ended, or could not be started."""
        return True

    async def _keep(self) -> None:
        pause_s = PAUSE_S
        while await self._is_to_start():
            began_s = time.monotonic()
            try:
                is_idle = await self._run() == 0 and self._order.leaves_when_idle
            except OSError as error:
                log.error(f"{self._word}_not_started", error=str(error))  # noqa: TRY400 - the sentence says it
                self._note_end(None)
                is_idle = False
            if is_idle or time.monotonic() - began_s >= YOUNG_S:
                pause_s = PAUSE_S
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._leaving.wait()
            pause_s = min(PAUSE_MAX_S, 2 * pause_s)

    async def _is_to_start(self) -> bool:
        """Wait until it is wanted; False when all is over first."""
        self._is_wanted = False
        wanted = asyncio.ensure_future(self._until_wanted())
        leaving = asyncio.ensure_future(self._leaving.wait())
        try:
            await asyncio.wait({wanted, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            wanted.cancel()
            leaving.cancel()
        self._is_wanted = True
        return not self._leaving.is_set()

    async def _run(self) -> int:
        """One process, from its start to its end."""
        self._beat_s, self._slowest_s, self.has_begun = time.monotonic(), 0.0, False
        process = self._process = await start_child(
            self._module, self._order, sockets=self.sockets, environment=self.environment
        )
        if self._leaving.is_set():
            self._tell_to_leave()
        await hear(process, self._take)
        code = await process.wait()
        self._process = None
        self._counted_before.update(self._counted)
        self._counted = {}
        self._note_end(process.pid)
        if code and not self._leaving.is_set():
            log.error(f"{self._word}_died", pid=process.pid, code=code)
        elif not (self._order.leaves_when_idle or self._leaving.is_set()):
            # Somebody else told it to.
            log.warning(f"{self._word}_left", pid=process.pid)
        return code

    def _note_end(self, pid: int | None) -> None:
        if not self._leaving.is_set() and not self.is_to_be_replaced(pid):
            self._leaving.set()

    def _take(self, line: bytes) -> None:
        with contextlib.suppress(msgspec.DecodeError):
            # A line of another form, perhaps a library's, is a sign of life too.
            told = msgspec.json.decode(line, type=Beat)
            self._slowest_s, self._counted = told.slowest_s, told.counted
        self._beat_s = time.monotonic()
        if not self.has_begun and self._process is not None:
            self.has_begun = True
            self.on_first_beat(self._process.pid)

    def _tell_to_leave(self) -> None:
        # It may have ended already.
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()

    def _kill(self) -> None:
        if self._process is not None:
            log.error(f"{self._word}_killed", pid=self._process.pid)
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
