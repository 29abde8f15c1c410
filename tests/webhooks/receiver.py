"""A real HTTPS receiver on loopback, with a certificate of a test authority."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable

from aiohttp import web

from tests.waiting import HUNG_S, within

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Received:
    """One request as it came in."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path = path
        self.headers = headers
        self.body = body

    @property
    def event_id(self) -> str:
        """Which event it tells of."""
        return self.headers["Service-Webhook-Id"]

    @property
    def signed_at(self) -> int:
        """The time in its signature."""
        return int(self.headers["Service-Signature"].removeprefix("t=").partition(",")[0])


class Receiver:
    """Keeps what it receives and answers as it is told."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.status = 200
        self.answer: Answer | None = None
        self.under_way = 0
        self.most_under_way = 0
        self._changed = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def start(self, context: ssl.SSLContext) -> "Receiver":
        """Listen on a free port."""
        app = web.Application(client_max_size=10_000_000)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"https://127.0.0.1:{port}/hook"
        return self

    async def stop(self) -> None:
        """Hang up."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def until(self, count: int, within_s: float = HUNG_S) -> list[Received]:
        """Wait until so many requests came."""
        async with within(within_s):
            while len(self.received) < count:
                self._changed.clear()
                await self._changed.wait()
        return self.received

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.received.append(Received(request.path, dict(request.headers), body))
        self._changed.set()
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            if self.answer is not None:
                return await self.answer(request)
            return web.Response(status=self.status, text="ok")
        finally:
            self.under_way -= 1
