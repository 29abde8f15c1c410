"""A load generator on raw sockets: so many connections, each sending as soon as it is answered."""

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import uvloop


class Result(msgspec.Struct, frozen=True):
    """The measurements of one run."""

    per_second: float
    p50_ms: float
    p99_ms: float
    failures: int
    p95_ms: float = 0.0


Request = bytes | Callable[[], bytes]
"""The request body: always the same, or made anew each time."""


class _Connection(asyncio.Protocol):
    """Sends one request after another, and notes how long each answer took.

    With `every_s` it sends at its times, and a late answer counts from when it was due.
    """

    def __init__(
        self, request: Request, wanted: bytes, until: float, every_s: float | None = None
    ) -> None:
        self._request = request
        self._wanted = wanted
        self._until = until
        self._every_s = every_s
        self._buffer = b""
        self._sent_at = 0.0
        self.times: list[float] = []
        self.failures = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        request = self._request if isinstance(self._request, bytes) else self._request()
        self._sent_at = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, mark, body = self._buffer.partition(b"\r\n\r\n")
        if not mark:
            return
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if len(body) < int(length or b"0"):
            return
        self._buffer = b""
        now = time.perf_counter()
        self.times.append(now - self._sent_at)
        self.failures += not head.startswith(self._wanted)
        if now >= self._until:
            self._transport.close()
        elif self._every_s is None:
            self._send()
        else:
            due = self._sent_at + self._every_s
            asyncio.get_running_loop().call_later(max(0.0, due - now), self._send_due, due)

    def _send_due(self, due: float) -> None:
        self._send()
        self._sent_at = due

    def connection_lost(self, exc: Exception | None) -> None:
        self.failures += exc is not None
        if not self.done.done():
            self.done.set_result(None)


async def _load(
    port: int,
    request: Request,
    wanted: bytes,
    clients: int,
    seconds: float,
    per_second: float | None,
) -> Result:
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    until = began + seconds
    every_s = clients / per_second if per_second else None
    connections = [
        (
            await loop.create_connection(
                lambda: _Connection(request, wanted, until, every_s), "127.0.0.1", port
            )
        )[1]
        for _ in range(clients)
    ]
    async with asyncio.timeout(seconds + 30):
        await asyncio.gather(*(connection.done for connection in connections))
    took = time.perf_counter() - began
    times = sorted(t for connection in connections for t in connection.times)
    return Result(
        len(times) / took,
        statistics.median(times) * 1000,
        times[int(len(times) * 0.99)] * 1000,
        sum(connection.failures for connection in connections),
        times[int(len(times) * 0.95)] * 1000,
    )


def run(
    port: int,
    request: Request,
    *,
    clients: int,
    seconds: float,
    wanted: bytes = b"HTTP/1.1 200",
    per_second: float | None = None,
) -> Result:
    """Load a server for some seconds: as fast as it answers, or at a rate."""
    return uvloop.run(_load(port, request, wanted, clients, seconds, per_second))


def post(path: str, headers: Sequence[str], body: bytes) -> bytes:
    """The bytes of a POST."""
    lines = [f"POST {path} HTTP/1.1", "host: 127.0.0.1", "content-type: application/json"]
    lines += [f"content-length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def get(path: str, headers: Sequence[str] = ()) -> bytes:
    """The bytes of a GET."""
    lines = [f"GET {path} HTTP/1.1", "host: 127.0.0.1", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"
