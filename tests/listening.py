"""A request whose answer is read while it still comes, without a socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.api import Api
from tests.waiting import ended, within


class Listening:
    """A request whose answer is read while it still comes."""

    def __init__(self, api: Api, path: str) -> None:
        self._leave = asyncio.Event()
        self._came = asyncio.Event()
        self._takes = asyncio.Event()
        self._takes.set()
        self.messages: list[dict[str, Any]] = []
        path, _, query = path.partition("?")
        sent = {"accept": "text/event-stream", **api.headers}
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": query.encode(),
            "headers": [(k.encode(), v.encode()) for k, v in sent.items()],
            "client": (api.peer, 1234),
        }
        self.task = asyncio.create_task(api.app(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        await self._leave.wait()
        return {"type": "http.disconnect"}

    def pause(self) -> None:
        """Take nothing more."""
        self._takes.clear()

    def go_on(self) -> None:
        """Take what comes again."""
        self._takes.set()

    async def _send(self, message: Any) -> None:
        await self._takes.wait()
        self.messages.append(message)
        self._came.set()

    async def status(self) -> int:
        """The beginning of the answer."""
        await self._until(lambda: bool(self.messages))
        return self.messages[0]["status"]

    @property
    def headers(self) -> dict[str, str]:
        """Those of the answer."""
        return {name.decode(): value.decode() for name, value in self.messages[0]["headers"]}

    @property
    def text(self) -> str:
        """The bytes received so far."""
        return b"".join(m["body"] for m in self.messages[1:]).decode()

    async def events(self, count: int) -> list[dict[str, str]]:
        """At least so many events, each as its fields."""
        await self._until(lambda: self.text.count("data: ") >= count)
        parts = [part for part in self.text.split("\n\n") if part and not part.startswith(":")]
        return [dict(line.split(": ", 1) for line in part.splitlines()) for part in parts]

    async def heartbeats(self, count: int) -> None:
        """Wait for so many signs of life."""
        await self._until(lambda: self.text.count(":\n\n") >= count)

    async def leave(self) -> None:
        """Go, and see that the server notices."""
        self._leave.set()
        await ended(self.task)

    async def _until(self, is_so: Any) -> None:
        async with within():
            while not is_so():
                self._came.clear()
                await self._came.wait()


@asynccontextmanager
async def listening(api: Api, path: str) -> AsyncIterator[Listening]:
    """A stream that is open inside the block."""
    opened = Listening(api, path)
    try:
        assert await opened.status() == 200, opened.messages
        yield opened
    finally:
        await opened.leave()
