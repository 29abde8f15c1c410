"""Waits with a limit that fail when it is over.

`asyncio.wait_for` and `asyncio.timeout` end a wait by cancelling the work. Work that takes its
cancellation for a proper end, as a stream does, returns as if it had ended by itself, and the
test passes.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")

# The one guard against hanging: longer than anything takes on the slowest machine.
HUNG_S = 120


async def ended(work: asyncio.Task[T] | Coroutine[Any, Any, T], within_s: float = HUNG_S) -> T:
    """Wait until the work has ended by itself; its result."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=within_s)
    if not task.done():
        task.cancel()
        raise TimeoutError(f"not over within {within_s} s: {task}")
    return task.result()


@asynccontextmanager
async def within(seconds: float = HUNG_S) -> AsyncIterator[None]:
    """Let the block take so long, and no longer."""
    async with asyncio.timeout(seconds) as limit:
        yield
    # The block may have taken its cancellation for an end.
    if limit.expired():
        raise TimeoutError(f"not over within {seconds} s")
