"""The end of a process: in order, in time, and at once when a second Ctrl-C asks for it."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from types import FrameType
from typing import Any, TypeVar

import structlog

T = TypeVar("T")

# An operator's stop is over within 10 seconds; some managers kill soon after that.
STOPPED_WITHIN_S = 8.0
# A parent waits a little longer for its children.
CHILDREN_STOPPED_WITHIN_S = 8.5
# As shells tell the end by Ctrl-C.
INTERRUPTED = 130

log = structlog.get_logger()


class Stop:
    """Ctrl-C, SIGTERM and SIGHUP, heard by one handler until the process is gone.

    The first signal ends the work in order: it is noted, and `leaving_by` tells of it. Nothing is
    raised, which could be in the middle of anything. A second Ctrl-C ends the process at once:
    children are told to end, and nothing else is waited for.
    """

    def __init__(self) -> None:
        # The first signal that came.
        self.number: signal.Signals | None = None
        self._ends_at_once = False
        self._leave: Callable[[], object] | None = None
        self._last_acts: list[Callable[[], None]] = []
        self.limit = StopLimit(self._act_last)

    def install(self) -> None:
        """Hear signals from now on."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hear)
        # Under `nohup`, the end of the terminal is none of the process.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self._hear)

    @property
    def has_begun(self) -> bool:
        """Whether a signal came."""
        return self.number is not None

    def at_last(self, act: Callable[[], None]) -> None:
        """Do this before an end that waits for nothing, in any thread, after those before it."""
        self._last_acts.append(act)

    @contextlib.contextmanager
    def leaving_by(self, leave: Callable[[], object]) -> Iterator[None]:
        """Call this at the first signal; at once when that came before."""
        self._leave = leave
        if self.has_begun:
            leave()
        try:
            yield
        finally:
            self._leave = None

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self.number is None:
            self.number = signal.Signals(number)
            if self._leave is not None:
                self._leave()
        elif number == signal.SIGINT and not self._ends_at_once:
            # The acts below may wait, and each further Ctrl-C would run them within themselves.
            self._ends_at_once = True
            # Commands for people have no log.
            if structlog.is_configured():
                log.warning("stopped_at_once", code=INTERRUPTED)
            self._act_last()
            os._exit(INTERRUPTED)

    def _act_last(self) -> None:
        for act in self._last_acts:
            try:
                act()
            except Exception as error:  # noqa: BLE001 - the others are to be done as well
                log.error("last_act_failed", error=repr(error))  # noqa: TRY400 - one line


def run_until_told(
    work: Coroutine[Any, Any, T], stop: Stop, on_signal: Callable[[], None] = lambda: None
) -> T:
    """Run it to its end; the first signal cancels it where it awaits something.

    `KeyboardInterrupt` tells of the signal when the work has ended.
    """

    async def main() -> T:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()

        def leave() -> None:
            on_signal()
            task.cancel()

        with stop.leaving_by(lambda: loop.call_soon_threadsafe(leave)):
            return await task

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        if stop.has_begun:
            raise KeyboardInterrupt from None
        raise


class StopLimit:
    """Ends this process when its orderly end takes too long."""

    def __init__(self, act_last: Callable[[], None] = lambda: None) -> None:
        self._act_last = act_last
        self._timer: threading.Timer | None = None

    def start(self) -> None:
        """Count from the first signal."""
        if self._timer is None:
            self._timer = threading.Timer(STOPPED_WITHIN_S, self._end)
            self._timer.daemon = True
            self._timer.start()

    def cancel(self) -> None:
        """The end came by itself; no thread is left to meet the end of the interpreter."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()

    def _end(self) -> None:
        log.error("stop_forced", after_s=STOPPED_WITHIN_S)
        self._act_last()
        # The database undoes the work under way, and others do it again, as after a crash.
        os._exit(1)
