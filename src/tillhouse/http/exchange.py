"""One request and its answer while they are under way, and the bytes of its body.

Of those there are at most so many, within so many seconds, and of one type.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from tillhouse.access.attempt_rules import network_of
from tillhouse.access.callers import Allowance, KeyCaller, UserCaller
from tillhouse.access.fair_gate import Name
from tillhouse.access.shares import QuotaShare
from tillhouse.http.problems import Headers
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Malformed, TooLarge, WrongEncoding, WrongMediaType
from tillhouse.kit.ids import new_id
from tillhouse.kit.network import Address, Network, client_address

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# The function in a request's state that tells whether its caller closed the connection.
HAS_LEFT = "has_left"

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class Exchange(msgspec.Struct, kw_only=True):
    """A request with all that is known of it so far."""

    method: str
    path: str
    query: bytes
    headers: dict[bytes, bytes]
    # Names of headers that stand there more than once.
    repeated: set[bytes]
    request_id: str
    address: Address | None
    # The same as text, for logs and records.
    ip: str
    started: float
    now: datetime
    has_left: Callable[[], bool]
    template: str = ""
    # The person whose page asks, known by a cookie. An operation of the API reads none itself.
    signed_in: UserCaller | None = None
    caller: KeyCaller | UserCaller | None = None
    allowance: Allowance | None = None
    # Further headers of the answer: CORS, replays.
    extra_headers: Headers = []
    # Whether the answer is a page, with a type of its own, and no JSON.
    is_page: bool = False
    # The caller's share of the process, as long as its stream lasts.
    held: list[QuotaShare] = []

    @property
    def owner(self) -> Name:
        """The business, or else the network, whose share of the process the request takes."""
        return network_of(self.ip) if self.caller is None else self.caller.business_id

    def header(self, name: bytes) -> str | None:
        """A request header as text."""
        value = self.headers.get(name)
        return value.decode("latin-1") if value is not None else None


def begin(scope: Scope, trusted: tuple[Network, ...]) -> Exchange:
    """Read the facts of every request: its id, its address, its time."""
    headers: dict[bytes, bytes] = {}
    repeated: set[bytes] = set()
    forwarded: list[str] = []
    for name, value in scope["headers"]:
        if name == b"x-forwarded-for":
            forwarded.append(value.decode("latin-1"))
        if name in headers:
            repeated.add(name)
        headers[name] = value
    sent_id = headers.get(b"x-request-id", b"")
    peer = scope.get("client")
    address = client_address(peer[0] if peer else "127.0.0.1", forwarded, trusted)
    return Exchange(
        method=scope["method"],
        path=scope["path"],
        query=scope["query_string"],
        headers=headers,
        repeated=repeated,
        request_id=sent_id.decode() if _REQUEST_ID.fullmatch(sent_id) else str(new_id()),
        address=address,
        ip=_written(address),
        started=time.perf_counter(),
        now=now(),
        has_left=scope.get("state", {}).get(HAS_LEFT, bool),
    )


@lru_cache(maxsize=4096)
def _written(address: Address | None) -> str:
    return "unknown" if address is None else str(address)


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
