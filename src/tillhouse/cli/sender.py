"""Keeps the process that sends webhooks beside `tillhouse serve`; its own side is `sending.py`."""

import asyncio
import contextlib
import time
from asyncio.subprocess import Process
from typing import Any

import msgspec
import structlog

from tillhouse.cli.child import hear, start_child

# A successor waits so long, twice as long after each that died young, and no longer than that.
PAUSE_S = 1.0
PAUSE_MAX_S = 5.0
YOUNG_S = 10.0
# A sender records first the attempts that are under way; those that take longer are sent again.
STOPPED_WITHIN_S = 7.0
# It beats until it is done: one that is silent for so long is suspended or stuck.
SILENT_AT_STOP_S = 3.0

log = structlog.get_logger()


class SenderOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The order to a sending process."""

    given: dict[str, Any]
    database_url: str
    master_key: str


def sender_order(given: dict[str, object], database_url: str, master_key: str) -> SenderOrder:
    """The order to the sending process of a server with these flags."""
    return SenderOrder(
        given={name: str(value) for name, value in given.items() if value is not None},
        database_url=database_url,
        master_key=master_key,
    )


class SenderProcess:
    """Keeps one sending process alive until it is stopped."""

    name = "webhook sender"

    def __init__(self, order: SenderOrder) -> None:
        self._order = order
        self._process: Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._leaving = asyncio.Event()
        self._beat_s = time.monotonic()
        self._slowest_s = 0.0
        self._is_new = True

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._task is not None and not self._task.done()

    @property
    def age_s(self) -> float:
        """How long ago the slowest of its workers completed a round."""
        return time.monotonic() - self._beat_s + self._slowest_s

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Let what is under way end, and end."""
        self._leaving.set()
        self._tell_to_leave()
        if self._task is not None:
            if not await self._has_left(self._task):
                self._kill()
            await self._task

    async def _has_left(self, task: asyncio.Task[None]) -> bool:
        """Wait while it works; whether it ended by itself."""
        told_s = time.monotonic()
        while not task.done():
            silent_s = time.monotonic() - max(told_s, self._beat_s)
            rest_s = told_s + STOPPED_WITHIN_S - time.monotonic()
            if (wait_s := min(SILENT_AT_STOP_S - silent_s, rest_s)) <= 0:
                return False
            await asyncio.wait({task}, timeout=wait_s)
        return True

    async def _keep(self) -> None:
        pause_s = PAUSE_S
        while not self._leaving.is_set():
            began_s = time.monotonic()
            try:
                await self._run()
            except OSError as error:
                log.error("sender_not_started", error=str(error))  # noqa: TRY400 - the sentence says it
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._leaving.wait()
            is_young = time.monotonic() - began_s < YOUNG_S
            pause_s = min(PAUSE_MAX_S, 2 * pause_s) if is_young else PAUSE_S

    async def _run(self) -> None:
        """One process, from its start to its end."""
        self._beat_s, self._slowest_s = time.monotonic(), 0.0
        process = self._process = await start_child("tillhouse.cli.sending", self._order)
        if self._leaving.is_set():
            self._tell_to_leave()
        self._is_new = True
        await hear(process, self._take)
        code = await process.wait()
        self._process = None
        if not self._leaving.is_set():
            log.error("sender_died", pid=process.pid, code=code)

    def _take(self, line: bytes) -> None:
        with contextlib.suppress(ValueError):
            # A line of another form, perhaps a library's, is a sign of life too.
            self._slowest_s = float(line)
        self._beat_s = time.monotonic()
        if self._is_new and self._process is not None:
            self._is_new = False
            log.info("sender_started", pid=self._process.pid)

    def _tell_to_leave(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
