"""The bytes of a request body: at most so many, within so many seconds, and of one type."""

import asyncio

from tillhouse.access.shares import QuotaShare
from tillhouse.http.exchange import Exchange, Receive
from tillhouse.kit.errors import Malformed, TooLarge, WrongEncoding, WrongMediaType

BODY_BYTES_MAX = 1024 * 1024
RECEIVE_WITHIN_S = 15.0


class ClientLeft(Exception):
    """The client left before its request was complete."""


async def read_body(exchange: Exchange, receive: Receive, held: QuotaShare) -> bytes:
    """The whole JSON body, or a refusal as soon as it can't be right."""
    body = await read_bytes(exchange, receive, BODY_BYTES_MAX, held)
    if body:
        _check_type(exchange)
    return body


async def read_bytes(
    exchange: Exchange, receive: Receive, bytes_max: int, held: QuotaShare
) -> bytes:
    """The whole body, whatever it is, or a refusal as soon as it is too long or too slow.

    The bytes that have come count against the share of their sender.
    """
    declared = exchange.headers.get(b"content-length", b"0").strip(b" \t")
    if not declared.isdigit():
        raise Malformed("The Content-Length header must be a number.")
    if len(declared) > 12 or int(declared) > bytes_max:
        raise _too_large(bytes_max)
    try:
        async with asyncio.timeout(RECEIVE_WITHIN_S):
            return await _collect(receive, bytes_max, held)
    except TimeoutError:
        raise Malformed(
            f"The request did not arrive within {RECEIVE_WITHIN_S:.0f} seconds: send it faster."
        ) from None


async def _collect(receive: Receive, bytes_max: int, held: QuotaShare) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        part = message.get("body", b"")
        size += len(part)
        if size > bytes_max:
            raise _too_large(bytes_max)
        held.take(len(part))
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def check_counts(body: bytes, *, containers_max: int, values_max: int) -> None:
    """Refuse a body of so many lists, objects or values that it would be dear to take apart."""
    if body.count(b"[") + body.count(b"{") > containers_max:
        raise TooLarge(
            f"The body holds more than {containers_max} lists and objects: send less at once."
        )
    if body.count(b",") > values_max:
        raise TooLarge(f"The body holds more than {values_max} values: send less at once.")


def _check_type(exchange: Exchange) -> None:
    encoding = exchange.headers.get(b"content-encoding", b"").strip().lower()
    if encoding not in (b"", b"identity") or b"content-encoding" in exchange.repeated:
        raise WrongEncoding
    declared = exchange.headers.get(b"content-type", b"application/json")
    media_type, _, parameters = declared.partition(b";")
    charset = parameters.strip().lower().replace(b'"', b"").removeprefix(b"charset=")
    is_json = media_type.strip().lower() == b"application/json" and charset in (b"", b"utf-8")
    if not is_json or b"content-type" in exchange.repeated:
        raise WrongMediaType


def _too_large(bytes_max: int) -> TooLarge:
    return TooLarge(f"The body may hold at most {bytes_max} bytes: send less at once.")
