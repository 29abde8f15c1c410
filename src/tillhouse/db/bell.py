"""Wakes workers after a commit, here and in other processes, without a word in the commit.

NOTIFY inside a transaction takes a lock over the whole database until the commit is on disk,
which puts all commits in line. So the bell is rung after the commit, by a statement of its own,
many rings at once. A ring that is lost (a crash between the two) costs a poll's time, no more.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg

CHANNEL = "tillhouse_work"
# Rings of this long are one notification.
GATHER_S = 0.01
_RECONNECT_S = 1.0


class Bell:
    """Rung by those who queue work, waited for by those who do it."""

    def __init__(self) -> None:
        self._here = asyncio.Event()
        self._tell: asyncio.Event = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def ring(self) -> None:
        """There is work, committed."""
        self._here.set()
        self._tell.set()

    def ring_here(self) -> None:
        """There is work for this process alone to look at."""
        self._here.set()

    async def wait(self, timeout_s: float) -> None:
        """Return when there may be work, or when the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._here.wait()
        self._here.clear()

    def start(
        self,
        connect: Callable[[], Awaitable[asyncpg.Connection]],
        notify: Callable[[], Awaitable[Any]],
        *,
        listens: bool,
    ) -> None:
        """Pass rings on to other processes, and hear theirs where `listens`."""
        self._tasks.append(asyncio.create_task(self._pass_on(notify)))
        if listens:
            self._tasks.append(asyncio.create_task(self._listen(connect)))

    async def stop(self) -> None:
        """Fall silent."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _pass_on(self, notify: Callable[[], Awaitable[Any]]) -> None:
        while True:
            await self._tell.wait()
            await asyncio.sleep(GATHER_S)
            self._tell.clear()
            with contextlib.suppress(
                asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError
            ):
                await notify()

    async def _listen(self, connect: Callable[[], Awaitable[asyncpg.Connection]]) -> None:
        """Hold one connection on the channel; polling covers the time without it."""
        while True:
            with contextlib.suppress(
                asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError
            ):
                connection = await connect()
                gone = asyncio.Event()
                connection.add_termination_listener(lambda *_, gone=gone: gone.set())
                await connection.add_listener(CHANNEL, lambda *_: self._here.set())
                try:
                    await gone.wait()
                finally:
                    connection.terminate()
            await asyncio.sleep(_RECONNECT_S)
