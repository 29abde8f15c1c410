"""The bytes of a request body: at most so many, within so many seconds, and of one type."""

import asyncio

from tillhouse.http.exchange import Exchange, Receive
from tillhouse.kit.errors import Malformed, TooLarge, WrongMediaType

BODY_BYTES_MAX = 1024 * 1024
RECEIVE_WITHIN_S = 15.0


class Gone(Exception):
    """The client left before its request was complete."""


async def read_body(exchange: Exchange, receive: Receive) -> bytes:
    """The whole body, or a refusal as soon as it can't be right."""
    declared = exchange.headers.get(b"content-length", b"0")
    if not declared.isdigit():
        raise Malformed("The Content-Length header must be a number.")
    if len(declared) > 12 or int(declared) > BODY_BYTES_MAX:
        raise _too_large()
    try:
        async with asyncio.timeout(RECEIVE_WITHIN_S):
            body = await _collect(receive)
    except TimeoutError:
        raise Malformed(
            f"The request did not arrive within {RECEIVE_WITHIN_S:.0f} seconds: send it faster."
        ) from None
    if body:
        _check_type(exchange)
    return body


async def _collect(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part = message.get("body", b"")
        size += len(part)
        if size > BODY_BYTES_MAX:
            raise _too_large()
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def _check_type(exchange: Exchange) -> None:
    declared = exchange.headers.get(b"content-type", b"application/json")
    media_type, _, parameters = declared.partition(b";")
    charset = parameters.strip().lower().replace(b'"', b"").removeprefix(b"charset=")
    if media_type.strip().lower() != b"application/json" or charset not in (b"", b"utf-8"):
        raise WrongMediaType


def _too_large() -> TooLarge:
    return TooLarge(f"The body may hold at most {BODY_BYTES_MAX} bytes: send less at once.")
