"""A receiver that holds its requests until it is told what to answer."""

import asyncio

from aiohttp import web

from tests.waiting import HUNG_S, within
from tests.webhooks.receiver import Receiver


class Holding:
    """Turns a receiver's requests into held ones; what is not held is answered with 200."""

    def __init__(self, receiver: Receiver, count: int | None = None) -> None:
        self.receiver = receiver
        self._count = count
        self._held: list[asyncio.Future[int]] = []
        self._changed = asyncio.Event()
        receiver.answer = self._answer

    async def _answer(self, request: web.Request) -> web.Response:
        if self._count is not None and len(self._held) >= self._count:
            return web.Response()
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._held.append(future)
        self._changed.set()
        return web.Response(status=await future)

    async def until(self, count: int, within_s: float = HUNG_S) -> None:
        """Wait until so many requests have been held."""
        async with within(within_s):
            while len(self._held) < count:
                self._changed.clear()
                await self._changed.wait()

    def answer(self, number: int, status: int) -> None:
        """Answer the request of this number, counted from 0."""
        self._held[number].set_result(status)

    def answer_rest(self, status: int) -> None:
        """Answer all that is held, and hold no more."""
        self._count = 0
        for future in self._held:
            if not future.done():
                future.set_result(status)
