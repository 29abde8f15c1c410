"""Wakes workers after a commit, here and in other processes, without a word in the commit.

NOTIFY inside a transaction takes a lock over the whole database until the commit is on disk,
which puts all commits in line. So the bell is rung after the commit, by a statement of its own,
many rings at once. A ring that is lost (a crash between the two) costs a poll's time, no more.

Senders of webhooks take a ring: one of them is enough. Followers, who show what happens, all hear
each, and hear news besides: what happened and is nobody's work. Jobs have a bell of their own.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import Any

import asyncpg

from tillhouse.kit.errors import Unavailable

CHANNEL = "tillhouse_work"
NEWS = "tillhouse_news"
JOBS = "tillhouse_jobs"
# Rings of this long are one notification.
GATHER_S = 0.01
# While nobody follows, news are this far apart: each costs a look whether somebody does by now.
UNHEARD_S = 0.25
# The names of the connections that listen: for workers, and for followers of events.
WORKING = "tillhouse"
FOLLOWING = "tillhouse stream"
_RECONNECT_S = 1.0
# However often it rings, a follower looks no more often than this, and all of a process no more
# often than that: a busy house costs a quiet follower's process little.
APART_S = 0.02
LOOKS_PER_S = 500
# A ring wakes all followers; requests still find a connection.
LOOKS_AT_ONCE = 2
TURN_WITHIN_S = 1.0

_Connect = Callable[[str], Awaitable[asyncpg.Connection]]
_Notify = Callable[[str], Awaitable[bool]]
_FAILURES = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    Unavailable,
)


class Bell:
    """Rung by those who queue work, waited for by those who do it, heard by who follows."""

    def __init__(self) -> None:
        self._here = asyncio.Event()
        self._rung = asyncio.Event()
        self._news = asyncio.Event()
        self._jobs = asyncio.Event()
        self._listeners: list[Listener] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._connect: _Connect | None = None
        self._listening: dict[str, asyncio.Task[None]] = {}
        self._has_workers = False
        self._followers: set[Follower] = set()
        self._looks = asyncio.Semaphore(LOOKS_AT_ONCE)

    def ring(self) -> None:
        """There is work, committed."""
        self._hear()
        self._rung.set()

    def tell(self) -> None:
        """There is something to see, committed, and no work."""
        self._wake_followers()
        self._news.set()

    def ring_jobs(self) -> None:
        """Jobs are due, committed."""
        self._wake_listeners()
        self._jobs.set()

    def add_listener(self, listener: "Listener") -> None:
        """Let a worker hear that jobs are due, as long as the process lives."""
        self._listeners.append(listener)

    def ring_here(self) -> None:
        """There is work for this process alone to look at."""
        self._here.set()

    async def wait(self, timeout_s: float) -> None:
        """Return when there may be work, or when the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._here.wait()
        self._here.clear()

    @contextlib.contextmanager
    def following(self) -> Iterator["Follower"]:
        """Hear every ring inside the block; all who follow share one connection."""
        follower = Follower(self._looks, lambda: len(self._followers))
        self._followers.add(follower)
        self._listen_if_wanted()
        try:
            yield follower
        finally:
            self._followers.discard(follower)
            self._listen_if_wanted()

    def start(self, connect: _Connect, notify: _Notify, *, listens: bool) -> None:
        """Pass rings on to other processes; hear theirs where `listens`, and while one follows."""
        self._begin(self._pass_on(notify, self._rung, CHANNEL))
        self._begin(self._pass_on(notify, self._jobs, JOBS))
        self._begin(self._pass_news_on(notify))
        self._connect = connect
        self._has_workers = listens
        self._listen_if_wanted()

    async def stop(self) -> None:
        """Fall silent."""
        self._connect = None
        self._listening = {}
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _hear(self) -> None:
        self._here.set()
        self._wake_followers()

    def _wake_listeners(self) -> None:
        for listener in self._listeners:
            listener.wake()

    def _wake_followers(self) -> None:
        for follower in self._followers:
            follower.wake()

    def _listen_if_wanted(self) -> None:
        """Hold a connection while somebody here wants to hear what others ring, and no longer."""
        wanted = {WORKING: self._has_workers, FOLLOWING: bool(self._followers)}
        for name, is_wanted in wanted.items():
            is_there = name in self._listening
            if is_wanted and not is_there and self._connect is not None:
                self._listening[name] = self._begin(self._listen(self._connect, name))
            elif is_there and not is_wanted:
                self._listening.pop(name).cancel()

    async def _pass_on(self, notify: _Notify, rung: asyncio.Event, channel: str) -> None:
        while True:
            await rung.wait()
            await asyncio.sleep(GATHER_S)
            rung.clear()
            with contextlib.suppress(*_FAILURES):
                await notify(channel)

    async def _pass_news_on(self, notify: _Notify) -> None:
        clock = asyncio.get_running_loop().time
        is_heard, told_s = False, 0.0
        while True:
            await self._news.wait()
            apart_s = GATHER_S if is_heard else UNHEARD_S
            await asyncio.sleep(max(GATHER_S, told_s + apart_s - clock()))
            self._news.clear()
            told_s = clock()
            with contextlib.suppress(*_FAILURES):
                is_heard = await notify(NEWS)

    async def _listen(self, connect: _Connect, name: str) -> None:
        """Hold one connection on the channels; polling covers the time without it."""
        hears = {CHANNEL: self._hear, JOBS: self._wake_listeners}
        if name == FOLLOWING:
            hears = {CHANNEL: self._wake_followers, NEWS: self._wake_followers}
        while True:
            with contextlib.suppress(*_FAILURES):
                connection = await connect(name)
                gone = asyncio.Event()
                connection.add_termination_listener(lambda *_, gone=gone: gone.set())
                try:
                    # The driver may finish connecting in spite of a cancellation.
                    if self._listening.get(name) is not asyncio.current_task():
                        return
                    for channel, hear in hears.items():
                        await connection.add_listener(channel, lambda *_, hear=hear: hear())
                        # Notifications of the meantime were missed.
                        hear()
                    await gone.wait()
                finally:
                    connection.terminate()
            await asyncio.sleep(_RECONNECT_S)


class Listener:
    """A worker's own ear: it misses no ring, whoever else hears it."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def wake(self) -> None:
        """The bell rings."""
        self._rung.set()

    async def wait(self, timeout_s: float) -> None:
        """Return when there may be something to do, or when the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._rung.wait()
        self._rung.clear()


class Follower:
    """Somebody who looks whenever the bell rings, and takes the ring from nobody."""

    def __init__(self, looks: asyncio.Semaphore, count: Callable[[], int]) -> None:
        self._looks = looks
        self._count = count
        self._rung = asyncio.Event()
        self._woken_s = 0.0

    def wake(self) -> None:
        """The bell rings."""
        self._rung.set()

    async def wait(self, timeout_s: float) -> None:
        """Return when there may be something to see, or when the time is over."""
        clock = asyncio.get_running_loop().time
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._rung.wait()
        apart_s = max(APART_S, self._count() / LOOKS_PER_S)
        await asyncio.sleep(self._woken_s + apart_s - clock())
        # Before the look: a ring during it calls for another one.
        self._rung.clear()
        self._woken_s = clock()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A place among the few who look at once; TimeoutError when there is none soon."""
        async with asyncio.timeout(TURN_WITHIN_S):
            await self._looks.acquire()
        try:
            yield
        finally:
            self._looks.release()
