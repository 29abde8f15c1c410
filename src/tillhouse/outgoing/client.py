"""Posts to one server at a time: addresses checked where they are dialled, nothing followed.

The answer is read as those of webhooks are: each part of it is bounded, and nothing is unpacked.
"""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

from tillhouse.kit.network import Network, parse_networks
from tillhouse.outgoing.answer import AnswerReader, BadAnswer, Bounds
from tillhouse.outgoing.connection import NotSent, tls_context
from tillhouse.outgoing.guard import ForbiddenTarget, Guard

USER_AGENT = "Tillhouse-Voice/1"
ANYWHERE = parse_networks(("0.0.0.0/0", "::/0"))
_READ_BYTES = 64 * 1024
# Each costs work, however small it is.
_READS_MAX = 4096
_PORTS = {"https": 443, "http": 80}


class Unanswered(Exception):
    """No whole answer came; the reason in a word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    url: str
    body: bytes
    content_type: str = "application/json"
    # Sent as a bearer token; None: nothing is.
    key: str | None = None

    def __repr__(self) -> str:
        """Keep the key out of logs and tracebacks."""
        return "Post(…)"


class ServerAnswer(msgspec.Struct, frozen=True):
    """A whole answer."""

    status: int
    body: bytes


class AnswerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one answer."""

    seconds: float
    body_bytes: int
    chunks: int = 4096


class ServerClient:
    """Asks servers, each request on a connection of its own."""

    def __init__(self, allowed: Sequence[Network], ca_file: Path | None) -> None:
        self._guard = Guard(allowed)
        self._ca_file = str(ca_file) if ca_file is not None else None
        self._context: ssl.SSLContext | None = None

    async def post(self, post: Post, limits: AnswerLimits) -> ServerAnswer:
        """The whole answer, or `Unanswered`."""
        try:
            async with asyncio.timeout(limits.seconds):
                return await self._post(post, limits)
        except TimeoutError:
            raise Unanswered("timeout") from None
        except ForbiddenTarget:
            raise Unanswered("forbidden_address") from None
        except (NotSent, ssl.SSLError, OSError) as error:
            raise Unanswered("unreachable") from error

    def close(self) -> None:
        """Ask no more."""
        self._guard.close()

    async def _post(self, post: Post, limits: AnswerLimits) -> ServerAnswer:
        parts = urlsplit(post.url)
        reader, writer = await self._connect(parts)
        try:
            writer.write(_request(parts, post))
            await writer.drain()
            return await _read(reader, limits)
        finally:
            # At once: a server that sends without end would never say goodbye.
            writer.transport.abort()

    async def _connect(
        self, parts: SplitResult
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = _address(parts)
        security = await self._security(parts, host)
        loop = asyncio.get_running_loop()
        failed: OSError | None = None
        for family, sockaddr in await self._guard.resolve(host, port):
            opened = self._guard.open_socket(family, str(sockaddr[0]))
            try:
                await loop.sock_connect(opened, sockaddr)
                return await asyncio.open_connection(sock=opened, limit=_READ_BYTES, **security)
            except OSError as error:
                opened.close()
                failed = error
            except BaseException:
                opened.close()
                raise
        raise NotSent("connection_failed") from failed

    async def _security(self, parts: SplitResult, host: str) -> Mapping[str, Any]:
        if parts.scheme == "http":
            return {}
        if self._context is None:
            # Hundreds of certificates are read: not in the loop of calls.
            self._context = await asyncio.to_thread(tls_context, self._ca_file)
        return {"ssl": self._context, "server_hostname": host.rstrip(".")}


def _address(parts: SplitResult) -> tuple[str, int]:
    return parts.hostname or "", parts.port or _PORTS[parts.scheme]


def _request(parts: SplitResult, post: Post) -> bytes:
    host, port = _address(parts)
    named = f"[{host}]" if ":" in host else host
    shown = named if port == _PORTS[parts.scheme] else f"{named}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    lines = [
        f"POST {parts.path or '/'}{query} HTTP/1.1",
        f"Host: {shown}",
        f"User-Agent: {USER_AGENT}",
        "Accept: */*",
        "Accept-Encoding: identity",
        "Connection: close",
        f"Content-Type: {post.content_type}",
        f"Content-Length: {len(post.body)}",
    ]
    if post.key is not None:
        lines.append(f"Authorization: Bearer {post.key}")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + post.body


async def _read(reader: asyncio.StreamReader, limits: AnswerLimits) -> ServerAnswer:
    bounds = Bounds(
        body_bytes=limits.body_bytes, chunks=limits.chunks, kept_bytes=limits.body_bytes
    )
    answer = AnswerReader(bounds)
    for _ in range(_READS_MAX):
        data = await reader.read(_READ_BYTES)
        try:
            answer.feed(data)
        except BadAnswer:
            break
        if not data:
            answer.end()
        if answer.is_over or not data:
            break
    if answer.status is None or not answer.is_whole:
        # Broken off, too long, or no HTTP.
        raise Unanswered("bad_response")
    return ServerAnswer(answer.status, answer.start)
