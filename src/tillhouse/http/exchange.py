"""One request and its answer while they are under way."""

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
