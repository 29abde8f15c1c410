"""A stream of events on a real socket, read as it comes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from tests.waiting import within

PATH = "/v1/events/stream"


class Streaming:
    """An open stream: the ids of its events, and its end."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer
        self._text = b""

    async def begun(self) -> None:
        """Wait for the first sign of life."""
        await self._until(b":\n\n")

    async def event(self) -> str:
        """The id of the next event."""
        while True:
            await self._until(b"\n\n")
            # A part without an id is a sign of life.
            part, _, self._text = self._text.partition(b"\n\n")
            if part.startswith(b"id: "):
                return part.removeprefix(b"id: ").partition(b"\n")[0].decode()

    async def ended(self) -> None:
        """Read to a proper end: one that is cut off raises."""
        async with within():
            await self._answer.content.read()

    async def _until(self, mark: bytes) -> None:
        async with within():
            while mark not in self._text:
                part = await self._answer.content.readany()
                assert part, "the stream has ended"
                self._text += part


@asynccontextmanager
async def streaming(
    session: aiohttp.ClientSession, address: str, token: str, **query: str
) -> AsyncIterator[Streaming]:
    """A stream that is open inside the block."""
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "text/event-stream",
        "service-environment": "test",
    }
    async with session.get(address + PATH, params=query, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        opened = Streaming(answer)
        await opened.begun()
        yield opened
