"""Looks names up: one question per name at a time, and names that hang hold up themselves alone.

The system's resolver blocks a thread until its name server answers, and a dead one takes that
for a minute. Nothing ends such a thread before, so threads are kept apart by the history of a
name: those that answered last time, those that nothing is known of, those that lately did not.
Of the first two, a thread that takes long soon counts apart, so that many may hang.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any

Answers = list[tuple[int, Any]]
LookUp = Callable[[str, int], Answers]

# How long an attempt waits for a name: half of its time. A name that takes longer is silent.
PATIENCE_S = 5.0
SILENT_FOR_S = 60.0
THREADS_PROVEN = 64
THREADS_NEW = 128
THREADS_SILENT = 16
# A look-up that takes longer leaves its slot to others: so many more may hang.
HANGS_AFTER_S = 0.5
THREADS_HANGING = 512
# More names than these many are forgotten, the oldest first.
REMEMBERED = 20_000


def literal(host: str, port: int) -> tuple[int, Any] | None:
    """The socket address that a host spells out; None for a name."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        more = (0, 0) if family == socket.AF_INET6 else ()
        return family, (host, port, *more)
    return None


class NoAnswer(OSError):
    """No name server answered in time."""


def look_up(host: str, port: int) -> Answers:
    """Ask the system's resolver: (family, socket address) of each answer."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(family, sockaddr) for family, _kind, _proto, _name, sockaddr in found]


class _ThreadSlot:
    """Where a thread is counted: in its group, or among those that hang."""

    def __init__(self, threads: asyncio.Semaphore) -> None:
        self.threads = threads
        self.is_hanging = False
        self.is_over = False


class Names:
    """Questions under way, and the history of the names that were asked for."""

    def __init__(self, ask: LookUp, patience_s: float) -> None:
        self._ask = ask
        self._patience_s = patience_s
        self._under_way: dict[str, asyncio.Task[Answers]] = {}
        self._proven: dict[str, None] = {}
        self._silent_until: dict[str, float] = {}
        self._for_proven = asyncio.Semaphore(THREADS_PROVEN)
        self._for_new = asyncio.Semaphore(THREADS_NEW)
        self._for_silent = asyncio.Semaphore(THREADS_SILENT)
        self._hanging = 0

    async def find(self, host: str, port: int) -> Answers:
        """The answers for a name; questions for it that come meanwhile share them."""
        task = self._under_way.get(host)
        if task is None:
            task = self._under_way[host] = asyncio.create_task(self._look_up(host, port))
            task.add_done_callback(lambda done: self._forget(host, done))
        try:
            async with asyncio.timeout(self._patience_s):
                return await asyncio.shield(task)
        except TimeoutError:
            raise NoAnswer(f"no name server answered for {host} in time") from None

    def close(self) -> None:
        """Wait for no answer any more."""
        for task in self._under_way.values():
            task.cancel()

    def _forget(self, host: str, done: asyncio.Task[Answers]) -> None:
        del self._under_way[host]
        # If every waiter has left, the result is never retrieved.
        if not done.cancelled():
            done.exception()

    async def _look_up(self, host: str, port: int) -> Answers:
        loop = asyncio.get_running_loop()
        threads = self._threads(host, loop.time())
        # Its waiters have given up after as long: its answer has no reader.
        async with asyncio.timeout(self._patience_s):
            await threads.acquire()
        silent = loop.call_later(self._patience_s, self._note_silent, host)
        slot = _ThreadSlot(threads)
        loop.call_later(HANGS_AFTER_S, self._let_hang, slot)
        answered = self._begin(loop, slot, host, port)
        try:
            return await answered
        finally:
            silent.cancel()
            # An error is an answer, too, if it comes in time.
            if loop.time() < silent.when():
                self._silent_until.pop(host, None)
                _remember(self._proven, host, None)

    def _threads(self, host: str, now_s: float) -> asyncio.Semaphore:
        if self._silent_until.get(host, 0.0) > now_s:
            return self._for_silent
        if host in self._proven and not self._for_proven.locked():
            return self._for_proven
        return self._for_new

    def _note_silent(self, host: str) -> None:
        self._proven.pop(host, None)
        until = asyncio.get_running_loop().time() + SILENT_FOR_S
        _remember(self._silent_until, host, until)

    def _let_hang(self, slot: "_ThreadSlot") -> None:
        """Count a thread among those that hang, as long as there may be more of them."""
        is_free = self._hanging < THREADS_HANGING and slot.threads is not self._for_silent
        if is_free and not slot.is_over:
            self._hanging += 1
            slot.is_hanging = True
            slot.threads.release()

    def _leave(self, slot: "_ThreadSlot") -> None:
        """A thread has ended."""
        slot.is_over = True
        if slot.is_hanging:
            self._hanging -= 1
        else:
            slot.threads.release()

    def _begin(
        self, loop: asyncio.AbstractEventLoop, slot: "_ThreadSlot", host: str, port: int
    ) -> asyncio.Future[Answers]:
        """Ask in a thread of its own; it counts until its name server lets it go."""
        answered: asyncio.Future[Answers] = loop.create_future()

        def end(answers: Answers, error: Exception | None) -> None:
            self._leave(slot)
            if answered.done():
                return
            if error is None:
                answered.set_result(answers)
            else:
                answered.set_exception(error)

        def run() -> None:
            answers: Answers = []
            failure: Exception | None = None
            try:
                answers = self._ask(host, port)
            except Exception as error:  # noqa: BLE001 - it is raised where somebody waits for it
                failure = error
            # A loop that was closed meanwhile has no waiters.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(end, answers, failure)

        # A process that ends does not wait for a daemon.
        thread = threading.Thread(target=run, name=f"dns {host}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            self._leave(slot)
            raise
        return answered


def _remember(names: dict[str, Any], host: str, what: float | None) -> None:
    names.pop(host, None)
    names[host] = what
    if len(names) > REMEMBERED:
        del names[next(iter(names))]
