"""Does what is left to do of messages: sends, gives up, reports, processes. Many may work."""

import asyncio
import contextlib
from datetime import datetime

import structlog

from tillhouse.access.process import Services
from tillhouse.db.pool import FAILURES
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Unavailable
from tillhouse.messaging import hooks, sending
from tillhouse.providers.messaging.provider import Messenger

POLL_S = 1.0
DRAIN_WITHIN_S = 15.0
# Of what providers told us, so much at once: sending has its turn as well.
_UPDATES_MAX = 100

log = structlog.get_logger()


async def work(services: Services, messenger: Messenger, at: datetime) -> int:
    """One round; how much there was to do at this moment."""
    done = await sending.end_abandoned(services, at)
    done += await sending.report_sandbox(services, at)
    for _ in range(_UPDATES_MAX):
        if not await hooks.process_next(services):
            break
        done += 1
    return done + await sending.send_due(services, messenger, at)


class MessageWorker:
    """Works in this process until it is stopped."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._messenger = sending.messenger_of(services)
        self._loop: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    def start(self) -> None:
        """Begin."""
        self._loop = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """Let what is under way end: what is cut off would count as unknown."""
        self._stopping.set()
        if self._loop is not None:
            await asyncio.wait({self._loop}, timeout=DRAIN_WITHIN_S)
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop

    async def _work(self) -> None:
        while not self._stopping.is_set():
            done = 0
            try:
                done = await work(self._services, self._messenger, now())
            except (*FAILURES, Unavailable) as error:
                log.warning("messages_not_worked_on", error=type(error).__name__)
            except Exception:
                log.exception("messages_not_worked_on")
            if not done:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), POLL_S)
