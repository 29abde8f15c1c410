"""Wakes workers after a commit, here and in other processes, without a word in the commit.

NOTIFY inside a transaction takes a lock over the whole database until the commit is on disk,
which puts all commits in line. So the notification follows the commit, in a statement of its own,
one for many commits. A notification that is lost (a crash between the two) costs a poll's time.

One sender of webhooks consumes a notification of work. A follower of events gets each of these that
names its book, and those of events that queue no work. Jobs have a channel of their own.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterator
from typing import Any
from uuid import UUID

import asyncpg

from tillhouse.kit.errors import Unavailable

CHANNEL = "tillhouse_work"
EVENTS_CHANNEL = "tillhouse_news"
JOBS = "tillhouse_jobs"
# The text of a notification that names no single books: all who follow look.
ANY_BOOK = "*"
# The text of one that is about no events, as when a delivery is sent again.
NO_BOOK = "-"
# So many ids fit into one notification, which holds 8,000 bytes.
NAMED_BOOKS_MAX = 200
# Commits of this long share one notification.
GATHER_S = 0.01
# The time between notifications of events while there are no followers: each costs a look for some.
UNHEARD_S = 0.25
# The names of the connections that listen: for workers, and for followers of events.
WORKING = "tillhouse"
FOLLOWING = "tillhouse stream"
_RECONNECT_S = 1.0
# However many notifications come, a follower looks no more often than this, and all of a process
# no more often than that.
APART_S = 0.02
LOOKS_PER_S = 500
# A notification may wake many followers; requests still find a connection.
LOOKS_AT_ONCE = 2
LOOK_WITHIN_S = 1.0

_Connect = Callable[[str], Awaitable[asyncpg.Connection]]
_Notify = Callable[[str, str], Awaitable[bool]]
_FAILURES = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    Unavailable,
)


class Notifier:
    """Wakes workers when work is committed, and followers when events are."""

    def __init__(self) -> None:
        self._here = asyncio.Event()
        self._work = _Committed()
        self._events = _Committed()
        self._jobs = _Committed()
        self._listeners: list[NotificationListener] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._connect: _Connect | None = None
        self._listening: dict[str, asyncio.Task[None]] = {}
        self._has_workers = False
        # By their books; those of every book under None.
        self._followers: dict[UUID | None, set[Follower]] = {}
        self._looks = asyncio.Semaphore(LOOKS_AT_ONCE)

    def notify_work(self, books: Collection[UUID] = ()) -> None:
        """Wake senders, here and elsewhere: work is committed; and followers of these books."""
        self._here.set()
        self._wake_followers(books)
        self._work.add(books)

    def notify_followers(self, books: Collection[UUID]) -> None:
        """Wake followers of these books, here and elsewhere: events are committed, and no work."""
        self._wake_followers(books)
        self._events.add(books)

    def notify_jobs(self) -> None:
        """Wake the workers of jobs, here and elsewhere: due jobs are committed."""
        self._wake_listeners()
        self._jobs.add(())

    def add_listener(self, listener: "NotificationListener") -> None:
        """Wake this worker when jobs are due, as long as the process lives."""
        self._listeners.append(listener)

    def wake_here(self) -> None:
        """Wake the sender of this process alone."""
        self._here.set()

    async def wait(self, timeout_s: float) -> None:
        """Return when there may be work, or when the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._here.wait()
        self._here.clear()

    @contextlib.contextmanager
    def following(self, book_id: UUID | None = None) -> Iterator["Follower"]:
        """Get every notification of a book, or of all; all followers share one connection."""
        follower = Follower(lambda: sum(map(len, self._followers.values())))
        self._followers.setdefault(book_id, set()).add(follower)
        self._listen_if_wanted()
        try:
            yield follower
        finally:
            self._followers[book_id].discard(follower)
            if not self._followers[book_id]:
                del self._followers[book_id]
            self._listen_if_wanted()

    @contextlib.asynccontextmanager
    async def look(self) -> AsyncIterator[None]:
        """A slot among the few followers that look at once; TimeoutError when none is free soon."""
        async with asyncio.timeout(LOOK_WITHIN_S):
            await self._looks.acquire()
        try:
            yield
        finally:
            self._looks.release()

    def start(self, connect: _Connect, notify: _Notify, *, listens: bool) -> None:
        """Notify other processes; listen to theirs where `listens`, and while one follows."""
        self._begin(self._pass_on(notify, self._work, CHANNEL))
        self._begin(self._pass_on(notify, self._jobs, JOBS))
        self._begin(self._pass_events_on(notify))
        self._connect = connect
        self._has_workers = listens
        self._listen_if_wanted()

    async def stop(self) -> None:
        """Stop notifying and listening."""
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

    def _hear_work(self, books: str) -> None:
        self._here.set()
        self._hear_events(books)

    def _hear_events(self, books: str) -> None:
        self._wake_followers(_named(books))

    def _hear_jobs(self, _books: str) -> None:
        self._wake_listeners()

    def _wake_listeners(self) -> None:
        for listener in self._listeners:
            listener.wake()

    def _wake_followers(self, books: Collection[UUID] | None) -> None:
        """Wake those of some books and of all, or everybody."""
        names = self._followers if books is None else (None, *books) if books else ()
        for name in names:
            for follower in self._followers.get(name, ()):
                follower.wake()

    def _listen_if_wanted(self) -> None:
        """Hold a connection while a worker or follower here needs notifications, and no longer."""
        wanted = {WORKING: self._has_workers, FOLLOWING: bool(self._followers)}
        for name, is_wanted in wanted.items():
            is_there = name in self._listening
            if is_wanted and not is_there and self._connect is not None:
                self._listening[name] = self._begin(self._listen(self._connect, name))
            elif is_there and not is_wanted:
                self._listening.pop(name).cancel()

    async def _pass_on(self, notify: _Notify, committed: "_Committed", channel: str) -> None:
        while True:
            await committed.wait()
            await asyncio.sleep(GATHER_S)
            with contextlib.suppress(*_FAILURES):
                await notify(channel, committed.take())

    async def _pass_events_on(self, notify: _Notify) -> None:
        clock = asyncio.get_running_loop().time
        is_heard, told_s = False, 0.0
        while True:
            await self._events.wait()
            apart_s = GATHER_S if is_heard else UNHEARD_S
            await asyncio.sleep(max(GATHER_S, told_s + apart_s - clock()))
            told_s = clock()
            with contextlib.suppress(*_FAILURES):
                is_heard = await notify(EVENTS_CHANNEL, self._events.take())

    async def _listen(self, connect: _Connect, name: str) -> None:
        """Hold one connection on the channels; polling covers the time without it."""
        hears = {CHANNEL: self._hear_work, JOBS: self._hear_jobs}
        if name == FOLLOWING:
            hears = {CHANNEL: self._hear_events, EVENTS_CHANNEL: self._hear_events}
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
                        await connection.add_listener(
                            channel, lambda *told, hear=hear: hear(told[-1])
                        )
                        # Notifications of the meantime were missed.
                        hear(ANY_BOOK)
                    await gone.wait()
                finally:
                    connection.terminate()
            await asyncio.sleep(_RECONNECT_S)


class _Committed:
    """Commits that other processes have yet to hear of on one channel, and in which books."""

    def __init__(self) -> None:
        self._is_any = asyncio.Event()
        self._books: set[UUID] = set()

    def add(self, books: Collection[UUID]) -> None:
        """Something is committed, in these books."""
        self._is_any.set()
        self._books.update(books)

    async def wait(self) -> None:
        """Return when there is something to tell."""
        await self._is_any.wait()

    def take(self) -> str:
        """The books, as a notification names them; from now on there is nothing to tell."""
        self._is_any.clear()
        books, self._books = self._books, set()
        if len(books) > NAMED_BOOKS_MAX:
            return ANY_BOOK
        return ",".join(book_id.hex for book_id in books) or NO_BOOK


def _named(books: str) -> Collection[UUID] | None:
    """The books that a notification names; None for all, also where it has no text."""
    if books == NO_BOOK:
        return ()
    try:
        return [UUID(text) for text in books.split(",")]
    except ValueError:
        return None


class NotificationListener:
    """A worker's own event: it misses no notification, whichever others get it."""

    def __init__(self) -> None:
        self._is_woken = asyncio.Event()

    def wake(self) -> None:
        """Let `wait` return."""
        self._is_woken.set()

    async def wait(self, timeout_s: float) -> None:
        """Return when there may be something to do, or when the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._is_woken.wait()
        self._is_woken.clear()


class Follower:
    """A reader of events that looks at each notification, and consumes none."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._is_woken = asyncio.Event()
        self._woken_s = 0.0

    def wake(self) -> None:
        """Let `wait` return."""
        self._is_woken.set()

    async def wait(self, timeout_s: float) -> None:
        """Return when there may be something to see, or when the time is over."""
        clock = asyncio.get_running_loop().time
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._is_woken.wait()
        apart_s = max(APART_S, self._count() / LOOKS_PER_S)
        await asyncio.sleep(self._woken_s + apart_s - clock())
        # Before the look: a notification during it calls for another one.
        self._is_woken.clear()
        self._woken_s = clock()
