"""Bytes on a socket: what no well-behaved client would send."""

import asyncio
import itertools
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.waiting import HUNG_S, within

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Streams]:
    """A connection, closed at the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def statuses(port: int, sent: bytes, within_s: float = HUNG_S) -> list[int]:
    """Send the bytes and read until the server closes or has no more to say; the statuses."""
    async with connected(port) as (reader, writer):
        with suppress(OSError):
            writer.write(sent)
            await writer.drain()
        got = b""
        # A server that goes on with the connection answers at once.
        with suppress(TimeoutError, OSError):
            async with within(within_s):
                while part := await reader.read(65536):
                    got += part
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", got)]


async def drip(port: int, first: bytes, then: bytes) -> tuple[float, bytes]:
    """Send a byte now and then until the server closes; how long it took, and what it said."""
    began = time.monotonic()
    async with connected(port) as (reader, writer), within():
        writer.write(first)
        answer = asyncio.create_task(reader.read())
        rest = itertools.cycle(then)
        while not (await asyncio.wait([answer], timeout=0.25))[0]:
            with suppress(OSError):
                writer.write(bytes(itertools.islice(rest, 1)))
                await writer.drain()
        took_s = time.monotonic() - began
        with suppress(OSError):
            return took_s, await answer
    return took_s, b""
