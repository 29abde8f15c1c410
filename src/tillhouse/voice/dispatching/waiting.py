"""Whether a dispatcher is needed: its process is started for calls, and leaves without any."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from tillhouse.access.process import Services
from tillhouse.db.connecting import FAILURES
from tillhouse.db.notifier import NotificationListener
from tillhouse.kit.errors import Unavailable
from tillhouse.voice.dispatching.store import leases

# Notifications tell of new calls; lost ones wait so long.
LOOK_EVERY_S = 5.0
# A process that makes calls stays so long after the last one: the next one rings at once.
STAYS_S = 300.0


async def has_calls(services: Services) -> bool:
    """Whether calls wait, are under way, or were left behind."""
    async with services.pool.reading() as db:
        return await leases.has_calls(db)


def until_there_are_calls(services: Services) -> Callable[[], Awaitable[None]]:
    """Return a function that waits for a call."""
    listener = NotificationListener()
    services.pool.notifier.add_listener(listener)

    async def wait() -> None:
        while True:
            with contextlib.suppress(*FAILURES, Unavailable):
                if await has_calls(services):
                    return
            await listener.wait(LOOK_EVERY_S)

    return wait


async def until_idle(
    services: Services, stays_s: float = STAYS_S, look_every_s: float = LOOK_EVERY_S
) -> None:
    """Return when there have been no calls for so long."""
    loop = asyncio.get_running_loop()
    needed_s = loop.time()
    while loop.time() - needed_s < stays_s:
        await asyncio.sleep(look_every_s)
        with contextlib.suppress(*FAILURES, Unavailable):
            if await has_calls(services):
                needed_s = loop.time()
