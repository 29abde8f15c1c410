"""How long the work of one task holds the event loop: the longest stretch without a pause.

While a task runs from one `await` that waits to the next, no other request is answered. Each such
stretch of every task that begins meanwhile is measured in the processor's own time.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.api import Response
from tests.yardstick import slower_processor

HELD_S = 0.1
# The processor's own time grows with what others do to its caches: the best of these counts.
TRIES = 20
TRIES_OF_A_TABLE = 5
# A file to which each measurement is added, a line each: `python -m tests.routes` prints the ten
# longest.
NOTES = os.environ.get("TILLHOUSE_TEST_HELD")


class _Measured(Coroutine[Any, Any, Any]):
    """A coroutine that tells how long each of its stretches took."""

    def __init__(self, inner: Coroutine[Any, Any, Any], longest: "Longest") -> None:
        self._inner = inner
        self._longest = longest

    def send(self, value: Any) -> Any:
        began = time.thread_time()
        try:
            return self._inner.send(value)
        finally:
            self._longest.note(time.thread_time() - began)

    def throw(self, *error: Any) -> Any:
        return self._inner.throw(*error)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Iterator[Any]:
        raise TypeError("a task runs it")


class Longest:
    """The longest stretch so far."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def note(self, seconds: float) -> None:
        """One more stretch."""
        self.seconds = max(self.seconds, seconds)


@contextmanager
def longest_stretch() -> Iterator[Longest]:
    """Measure every task that begins in the block."""
    longest, loop = Longest(), asyncio.get_running_loop()
    before = loop.get_task_factory()

    def measured(
        loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any
    ) -> asyncio.Task[Any]:
        return asyncio.Task(_Measured(coroutine, longest), loop=loop, **options)

    loop.set_task_factory(measured)
    try:
        yield longest
    finally:
        loop.set_task_factory(before)


def note(route: str, kind: str, seconds: float) -> None:
    """Keep how long a body held the loop, where somebody wants to know."""
    if NOTES:
        with Path(NOTES).open("a") as file:
            file.write(json.dumps([route, kind, seconds]) + "\n")


async def held_s(ask: Callable[[], Coroutine[Any, Any, Response]]) -> float:
    """How long a request holds the loop, on a machine as quick as the yardstick's."""
    best_s = float("inf")
    # A table tells the best of some tries of what is dear at all, and not the first below the bar.
    enough_s = HELD_S / 4 if NOTES else HELD_S
    for tried in range(1, TRIES + 1):
        with longest_stretch() as longest:
            answer = await asyncio.create_task(ask())
        assert answer.status < 500, answer
        is_slow = longest.seconds > enough_s
        best_s = min(best_s, longest.seconds / (slower_processor() if is_slow else 1))
        if best_s <= enough_s or (best_s <= HELD_S and tried >= TRIES_OF_A_TABLE):
            break
    return best_s
