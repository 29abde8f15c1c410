"""The only way out: connections to public addresses, checked at the moment of dialling.

The check sits where the concrete address of every dial is known, names and literals alike, so
that an answer which changes between two look-ups (rebinding) gains nothing. A name with any
forbidden answer is refused whole: its owner can't be trusted with the others either.
"""

import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import Connection

from tillhouse.kit.network import Network, parse_address
from tillhouse.kit.targets import is_forbidden
from tillhouse.webhooks.sender.names import PATIENCE_S, LookUp, Names, look_up
from tillhouse.webhooks.sender.phases import tracing

_HEAD_BYTES_MAX = 16 * 1024
_KEEP_ALIVE_S = 30.0
_DNS_KEPT_S = 10


class ForbiddenTarget(OSError):
    """A connection to an address that no webhook may go to; never made."""


def session(
    allowed: Sequence[Network],
    ca_file: Path | None,
    ask: LookUp = look_up,
    patience_s: float = PATIENCE_S,
) -> aiohttp.ClientSession:
    """A client that dials public addresses only, follows nothing and unpacks nothing."""
    guard = Guard(allowed, ask, patience_s)
    context = ssl.create_default_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    connector = aiohttp.TCPConnector(
        limit=0,
        ssl=context,
        resolver=guard,
        ttl_dns_cache=_DNS_KEPT_S,
        keepalive_timeout=_KEEP_ALIVE_S,
        socket_factory=guard.open_socket,
        happy_eyeballs_delay=None,
    )
    return aiohttp.ClientSession(
        connector=connector,
        response_class=Response,
        trace_configs=[tracing()],
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None),
        headers={"User-Agent": "Tillhouse-Webhooks/1", "Accept-Encoding": "identity"},
        max_line_size=_HEAD_BYTES_MAX,
        max_field_size=_HEAD_BYTES_MAX,
        read_bufsize=_HEAD_BYTES_MAX,
    )


class Response(aiohttp.ClientResponse):
    """A response that remembers who gave it: a short one lets go of its connection at once."""

    peer: str | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read the head."""
        transport = connection.transport
        name: Any = transport.get_extra_info("peername") if transport is not None else None
        self.peer = str(name[0]) if name else None
        return await super().start(connection)


class Guard(AbstractResolver):
    """Resolves names and opens sockets, both under the same table of addresses."""

    def __init__(
        self,
        allowed: Sequence[Network],
        ask: LookUp = look_up,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._allowed = allowed
        self._names = Names(ask, patience_s)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of a name, all of them public."""
        answers = await self._names.find(host, port)
        for _family, sockaddr in answers:
            self._check(sockaddr[0])
        return [
            ResolveResult(
                hostname=host,
                host=sockaddr[0],
                port=port,
                family=family_,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for family_, sockaddr in answers
        ]

    async def close(self) -> None:
        """Ask no more."""
        self._names.close()

    def open_socket(self, info: Any) -> socket.socket:
        """A socket for one concrete address."""
        family, kind, protocol, _name, sockaddr = info
        self._check(sockaddr[0])
        opened = socket.socket(family, kind, protocol)
        opened.setblocking(False)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened

    def _check(self, text: str) -> None:
        try:
            address = parse_address(text)
        except ValueError as error:
            raise ForbiddenTarget(f"{text} is no address") from error
        if is_forbidden(address, self._allowed):
            raise ForbiddenTarget(f"{address} is private, local or reserved")
