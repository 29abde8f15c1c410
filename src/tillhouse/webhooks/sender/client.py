"""Sends requests to receivers and keeps the connections that may serve again."""

import asyncio
import socket
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tillhouse.kit.network import Network
from tillhouse.outgoing.answer import AnswerReader
from tillhouse.outgoing.connection import (
    READ_BYTES,
    EndpointConnection,
    NotSent,
    tls_context,
)
from tillhouse.outgoing.guard import Guard
from tillhouse.outgoing.rules import clean_url
from tillhouse.providers.names import PATIENCE_S, LookUp, look_up

USER_AGENT = "Tillhouse-Webhooks/1"
KEPT_S = 30.0
KEPT_MAX = 512
HTTPS = 443


class RequestTarget(msgspec.Struct, frozen=True):
    """The destination of a request."""

    host: str
    port: int
    head: str


class WebhookExchange(msgspec.Struct):
    """One request, its moments, and its result so far."""

    began: float
    resolved: float = 0.0
    connected: float = 0.0
    address: str | None = None
    answer: AnswerReader | None = None

    def phases(self, ended: float) -> dict[str, int]:
        """Milliseconds by phase; 0 for those that a kept connection or a known name spared."""
        has_status = self.answer is not None and self.answer.status is not None
        asked = self.connected or self.began
        return {
            "resolve": _ms(self.resolved - self.began) if self.resolved else 0,
            "connect": _ms(self.connected - self.resolved) if self.connected else 0,
            "answer": _ms(ended - asked) if has_status else 0,
        }


class WebhookClient:
    """Dials public addresses only, follows nothing and unpacks nothing."""

    def __init__(
        self,
        allowed: Sequence[Network],
        ca_file: Path | None,
        ask: LookUp = look_up,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._guard = Guard(allowed, ask, patience_s)
        self._context = tls_context(str(ca_file) if ca_file is not None else None)
        self._buffer = memoryview(bytearray(READ_BYTES))
        # The oldest first, of each receiver.
        self._kept: dict[tuple[str, int], list[tuple[EndpointConnection, str]]] = {}
        self._kept_count = 0
        self._sweep: asyncio.TimerHandle | None = None

    async def post(
        self, url: str, body: bytes, headers: dict[str, str], exchange: WebhookExchange
    ) -> None:
        """Send once; NotSent when no status came."""
        target = parse_target(url)
        request = _request(target, body, headers)
        while (kept := self._take(target)) is not None:
            exchange.address = kept[1]
            try:
                await self._ask(kept, target, request, exchange)
            except NotSent:
                # A kept connection that was closed from the other side is no failure.
                if exchange.answer is not None and exchange.answer.has_begun:
                    raise
            else:
                return
        await self._ask(await self._dial(target, exchange), target, request, exchange)

    async def close(self) -> None:
        """Hang up."""
        self._guard.close()
        if self._sweep is not None:
            self._sweep.cancel()
        for kept in self._kept.values():
            for connection, _address in kept:
                connection.close()
        self._kept.clear()

    async def _ask(
        self,
        dialled: tuple[EndpointConnection, str],
        target: RequestTarget,
        request: bytes,
        exchange: WebhookExchange,
    ) -> None:
        connection, _address = dialled
        exchange.answer = AnswerReader()
        try:
            await connection.ask(request, exchange.answer)
        except BaseException:
            connection.close()
            raise
        if connection.is_open:
            self._keep(target, dialled)

    async def _dial(
        self, target: RequestTarget, exchange: WebhookExchange
    ) -> tuple[EndpointConnection, str]:
        """A new connection to one of the addresses, the first that takes it."""
        exchange.began, exchange.address = time.perf_counter(), None
        answers = await self._guard.resolve(target.host, target.port)
        exchange.resolved = time.perf_counter()
        failed: OSError | None = None
        for family, sockaddr in answers:
            address = str(sockaddr[0])
            opened = self._guard.open_socket(family, address)
            exchange.address = address
            try:
                await _connect(opened, (address, *sockaddr[1:]))
            except ConnectionResetError as error:
                raise NotSent("tls_reset") from error
            except OSError as error:
                failed = error
                continue
            connection = await self._secure(opened, target)
            exchange.connected = time.perf_counter()
            return connection, address
        raise NotSent("connection_failed") from failed

    async def _secure(self, opened: socket.socket, target: RequestTarget) -> EndpointConnection:
        """TLS over a connected socket, which is the connection's from here on."""
        connection = EndpointConnection(self._context, target.host.rstrip("."), self._buffer)
        try:
            loop = asyncio.get_running_loop()
            await loop.create_connection(lambda: connection, sock=opened)
            await connection.secured()
        except BaseException:
            connection.close()
            raise
        return connection

    def _take(self, target: RequestTarget) -> tuple[EndpointConnection, str] | None:
        """A kept connection, the latest first."""
        kept = self._kept.get((target.host, target.port), [])
        while kept:
            self._kept_count -= 1
            connection, address = kept.pop()
            if connection.is_open:
                return connection, address
        return None

    def _keep(self, target: RequestTarget, dialled: tuple[EndpointConnection, str]) -> None:
        if self._kept_count >= KEPT_MAX:
            dialled[0].close()
            return
        loop = asyncio.get_running_loop()
        dialled[0].idle_since_s = loop.time()
        self._kept.setdefault((target.host, target.port), []).append(dialled)
        self._kept_count += 1
        if self._sweep is None:
            self._sweep = loop.call_later(KEPT_S / 2, self._drop_idle)

    def _drop_idle(self) -> None:
        """Close connections that were idle for a while, and forget closed ones."""
        loop = asyncio.get_running_loop()
        for key, kept in list(self._kept.items()):
            used: list[tuple[EndpointConnection, str]] = []
            for connection, address in kept:
                if connection.is_open and loop.time() - connection.idle_since_s < KEPT_S:
                    used.append((connection, address))
                else:
                    connection.close()
            self._kept_count -= len(kept) - len(used)
            if used:
                self._kept[key] = used
            else:
                del self._kept[key]
        self._sweep = loop.call_later(KEPT_S / 2, self._drop_idle) if self._kept else None


@lru_cache(maxsize=4096)
def parse_target(url: str) -> RequestTarget:
    """Read an address; one that could not be saved is not sent to either."""
    try:
        parts = urlsplit(clean_url(url))
    except ValueError as error:
        raise NotSent("bad_url") from error
    host, port = parts.hostname or "", parts.port or HTTPS
    shown = f"[{host}]" if ":" in host else host
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return RequestTarget(
        host=host,
        port=port,
        head=(
            f"POST {path} HTTP/1.1\r\n"
            f"Host: {shown if port == HTTPS else f'{shown}:{port}'}\r\n"
            f"User-Agent: {USER_AGENT}\r\nAccept: */*\r\nAccept-Encoding: identity\r\n"
        ),
    )


async def _connect(opened: socket.socket, sockaddr: Any) -> None:
    try:
        await asyncio.get_running_loop().sock_connect(opened, sockaddr)
    except BaseException:
        opened.close()
        raise


def _request(target: RequestTarget, body: bytes, headers: dict[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"{target.head}{lines}Content-Length: {len(body)}\r\n\r\n"
    return head.encode("ascii") + body


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
