"""The state of links as it changes, for the pages that are open in one process.

All pages of a process share one look at the database. It is taken when events are committed
anywhere, and now and then besides: the number of pages costs neither connections nor idle work.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from tillhouse.access.attempt_rules import network_of
from tillhouse.access.shares import connections_max
from tillhouse.checkout.store.pages import list_versions
from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Pool
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Limited, Unavailable

PAGES_MAX = 5_000
PAGES_OF_NETWORK_MAX = 1_000
# Each keeps a connection: they leave most of them to other requests.
OF_CONNECTIONS, OF_CONNECTIONS_OF_NETWORK = 4, 8
HEARTBEAT_S = 25.0
# A notification that was lost is made up for by then.
LOOK_EVERY_S = 10.0
# Commits of so long share one look.
GATHER_S = 0.1
_HEARTBEAT = b":\n\n"
_BUSY = "Too many pages are open from your network: reload this one to see what has changed."


class _Page:
    """One open page: the version that it shows, and whether there is another."""

    __slots__ = ("is_old", "version")

    def __init__(self, version: str) -> None:
        self.version = version
        self.is_old = asyncio.Event()


class LivePages:
    """Tells open pages that their link has changed."""

    def __init__(self, connections: int | None = None) -> None:
        places = connections or connections_max()
        self._most = min(PAGES_MAX, places // OF_CONNECTIONS)
        self._most_of_network = min(PAGES_OF_NETWORK_MAX, places // OF_CONNECTIONS_OF_NETWORK)
        self._pages: dict[str, set[_Page]] = {}
        self._of_network: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()

    def check(self, ip: str) -> None:
        """Refuse one page too many; it polls instead."""
        if self._of_network.get(network_of(ip), 0) >= self._most_of_network:
            raise Limited(15, _BUSY)
        if sum(self._of_network.values()) >= self._most:
            raise Unavailable(retry_after_s=15)

    async def follow(
        self, pool: Pool, ip: str, reference: str, version: str
    ) -> AsyncGenerator[bytes]:
        """A server-sent event when the link is in another state than that of the page."""
        page, network = _Page(version), network_of(ip)
        self._pages.setdefault(reference, set()).add(page)
        self._of_network[network] = self._of_network.get(network, 0) + 1
        self._wanted.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch(pool))
        try:
            yield _HEARTBEAT
            while not page.is_old.is_set():
                try:
                    async with asyncio.timeout(HEARTBEAT_S):
                        await page.is_old.wait()
                except TimeoutError:
                    yield _HEARTBEAT
            yield b"event: status\ndata: changed\n\n"
        finally:
            self._forget(reference, page, network)

    def _forget(self, reference: str, page: _Page, network: str) -> None:
        pages = self._pages[reference]
        pages.discard(page)
        if not pages:
            del self._pages[reference]
        self._of_network[network] -= 1
        if not self._of_network[network]:
            del self._of_network[network]
        if not self._pages and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _watch(self, pool: Pool) -> None:
        with pool.notifier.following() as follower:
            while True:
                self._wanted.clear()
                with contextlib.suppress(*FAILURES, Unavailable, TimeoutError):
                    await self._look(pool)
                waits = asyncio.ensure_future(follower.wait(LOOK_EVERY_S))
                opened = asyncio.ensure_future(self._wanted.wait())
                try:
                    await asyncio.wait({waits, opened}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    waits.cancel()
                    opened.cancel()
                await asyncio.sleep(GATHER_S)

    async def _look(self, pool: Pool) -> None:
        async with pool.reading() as db:
            rows = await list_versions(db, list(self._pages), now())
        for row in rows:
            for page in self._pages.get(row["reference"], ()):
                if page.version != row["version"]:
                    page.is_old.set()
