"""An answer and its bytes: the envelope, headers that every one carries, and its own."""

import asyncio
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import aclosing
from typing import Any

import msgspec
import structlog

from tillhouse.access.callers import Allowance
from tillhouse.http.exchange import Exchange, Receive, Send
from tillhouse.http.problems import Headers
from tillhouse.http.route import CsvAnswer, Reply
from tillhouse.kit.json import encode

log = structlog.get_logger()

JSON = b"application/json"
EVENTS = b"text/event-stream"
CSV = b"text/csv; charset=utf-8"
NO_CONTENT = 204
# The event in a request's state that is set when the server stops.
STOPPING = "stopping"

# An API answers data to programs: nothing of it may be framed, sniffed, run or cached.
SAFE_HEADERS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
API_HEADERS: Headers = [
    *SAFE_HEADERS,
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]
HSTS = (b"strict-transport-security", b"max-age=31536000")
# A caller who takes nothing for so long is not listening.
_TAKEN_WITHIN_S = 30.0
# One who takes a large one slowly has the time of such a rate besides.
_TAKEN_BYTES_PER_S = 16 * 1024
# Larger answers are sent in pieces, and count against the share of their owner until then.
PIECE_BYTES = 64 * 1024


class SuccessAnswer(msgspec.Struct, frozen=True):
    """A successful answer."""

    status: int
    body: bytes | AsyncGenerator[bytes]
    is_replay: bool = False
    sheet: CsvAnswer | None = None


def envelope(reply: Reply[Any], message: str, data: Any = None) -> bytes:
    """The success body: {message, data, meta?} and further members of the contract."""
    body: dict[str, Any] = dict(reply.extra or {})
    body["message"] = reply.message or message
    body["data"] = reply.data if data is None else data
    if reply.meta is not None:
        body["meta"] = reply.meta
    return encode(body)


def remarked(reply: Reply[Any], message: str, remarks: list[str]) -> Reply[Any]:
    """The same with remarks of its call after the message, also after the commit."""
    words = " ".join([f"{(reply.message or message).removesuffix('.')}.", *remarks])
    after = reply.after

    async def then() -> Reply[Any]:
        assert after is not None, "asked below"  # noqa: S101
        return remarked(await after(), message, remarks)

    return msgspec.structs.replace(reply, message=words, after=then if after else None)


def rate_headers(allowance: Allowance | None) -> Headers:
    """The rest of the caller's rate, in the form of the IETF draft."""
    if allowance is None:
        return []
    policy = b'"default";q=%d;w=%d' % (allowance.limit, allowance.window_s)
    left = b'"default";r=%d;t=%d' % (allowance.remaining, max(0, -int(-allowance.full_in_s // 1)))
    return [(b"ratelimit-policy", policy), (b"ratelimit", left)]


def sheet_headers(exchange: Exchange, next_query: str | None) -> Headers:
    """The type of a table, and where its next page is (RFC 8288)."""
    found: Headers = [(b"content-type", CSV)]
    if next_query is not None:
        link = f'<{exchange.path}?{next_query}>; rel="next"'
        found.append((b"link", link.encode("ascii")))
    return found


async def send_answer(
    send: Send, exchange: Exchange, status: int, body: bytes, own: Headers
) -> None:
    """Send an answer, of JSON unless its own headers name another type.

    One without content has no length and no type (RFC 9110, 8.6).
    """
    content: Headers = [(b"content-length", b"%d" % len(body))]
    if all(name != b"content-type" for name, _ in own):
        content = [(b"content-type", JSON), *content]
    headers = [*(content if status != NO_CONTENT else ()), *_common(exchange, own)]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send_body(send, sent(exchange, body))


async def send_body(send: Send, body: bytes) -> None:
    """Send it in pieces, each once most of those before it are taken."""
    async with asyncio.timeout(_TAKEN_WITHIN_S + len(body) / _TAKEN_BYTES_PER_S):
        for at in range(0, max(1, len(body)), PIECE_BYTES):
            end = at + PIECE_BYTES
            piece = body if len(body) <= PIECE_BYTES else body[at:end]
            more = {"type": "http.response.body", "body": piece, "more_body": end < len(body)}
            await send(more)


def sent(exchange: Exchange, body: bytes) -> bytes:
    """The bytes of a body to send: none for a HEAD request."""
    return b"" if exchange.method == "HEAD" else body


async def send_stream(
    send: Send, receive: Receive, exchange: Exchange, pieces: AsyncGenerator[bytes], own: Headers
) -> None:
    """Send pieces as they come, without a length, until they end or the caller may hear no more."""
    # Proxies that gather an answer before they pass it on are asked not to.
    unbuffered: Headers = [(b"content-type", EVENTS), (b"x-accel-buffering", b"no")]
    headers = [*unbuffered, *_common(exchange, own)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if exchange.method == "HEAD":
        await pieces.aclose()
        await send({"type": "http.response.body", "body": b""})
        return
    # The head goes out before the first piece comes.
    await send({"type": "http.response.body", "body": b"", "more_body": True})
    leaving = asyncio.create_task(_gone(receive))
    try:
        async with aclosing(pieces):
            while (piece := await _next(pieces, leaving)) is not None:
                if piece:
                    async with asyncio.timeout(_TAKEN_WITHIN_S):
                        more = {"type": "http.response.body", "body": piece, "more_body": True}
                        await send(more)
    except asyncio.CancelledError:
        # The server stops. The caller gets a proper end, and comes again when it is back.
        log.info("stream_cut", request_id=exchange.request_id)
    finally:
        leaving.cancel()
    await send({"type": "http.response.body", "body": b""})


def until_stopped(receive: Receive, stopping: asyncio.Event | None) -> Receive:
    """The next message of the caller; when the server stops, a disconnect."""
    if stopping is None:
        return receive

    async def receive_or_stop() -> MutableMapping[str, Any]:
        coming = asyncio.ensure_future(receive())
        stop = asyncio.ensure_future(stopping.wait())
        try:
            await asyncio.wait({coming, stop}, return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() else {"type": "http.disconnect"}
        finally:
            coming.cancel()
            stop.cancel()

    return receive_or_stop


async def _next(pieces: AsyncGenerator[bytes], leaving: asyncio.Task[None]) -> bytes | None:
    """The next piece; None at the end, and at once when the caller leaves."""
    coming = asyncio.ensure_future(anext(pieces, None))
    try:
        await asyncio.wait({coming, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return None if leaving.done() else coming.result()
    finally:
        coming.cancel()
        # A statement that was cut short ends before the pieces are closed.
        await asyncio.gather(coming, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _common(exchange: Exchange, own: Headers) -> Headers:
    return [
        (b"x-request-id", exchange.request_id.encode()),
        *API_HEADERS,
        *own,
        *exchange.extra_headers,
        *rate_headers(exchange.allowance),
    ]
