"""The end of a process: where its work awaits something, and in time, whatever holds it up."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import structlog

T = TypeVar("T")

# An operator's stop is over within 10 seconds; some managers kill soon after that.
STOPPED_WITHIN_S = 8.0
# A parent waits a little longer for its children.
CHILDREN_STOPPED_WITHIN_S = 8.5

log = structlog.get_logger()


def run_until_told(work: Coroutine[Any, Any, T], on_signal: Callable[[], None] = lambda: None) -> T:
    """Run it to its end; SIGTERM cancels it where it awaits something, as Ctrl-C does.

    A handler that raised would do so wherever the process happens to be: in the middle of a step
    of the event loop, which leaves the connections of a driver broken. `KeyboardInterrupt` tells
    of the signal when the work has ended.
    """
    before = signal.getsignal(signal.SIGTERM)
    was_told = False

    def leave(task: asyncio.Task[T]) -> None:
        nonlocal was_told
        on_signal()
        if not was_told:
            was_told = True
            task.cancel()

    async def main() -> T:
        task = asyncio.ensure_future(work)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leave, task)
        return await task

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        if was_told:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


class StopLimit:
    """Ends this process when its orderly end takes too long."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def start(self) -> None:
        """Count from the first signal."""
        if self._timer is None:
            self._timer = threading.Timer(STOPPED_WITHIN_S, _end)
            self._timer.daemon = True
            self._timer.start()

    def cancel(self) -> None:
        """The end came by itself."""
        if self._timer is not None:
            self._timer.cancel()


def _end() -> None:
    log.error("stop_forced", after_s=STOPPED_WITHIN_S)
    # The database undoes the work under way, and others do it again, as after a crash.
    os._exit(1)
