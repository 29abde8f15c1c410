"""The only way out: connections to public addresses, checked at the moment of dialling.

The check sits where the concrete address of every dial is known, names and literals alike, so
that an answer which changes between two look-ups (rebinding) gains nothing. A name with any
forbidden answer is refused whole: its owner can't be trusted with the others either.

Where a request gives a name, `resolve` tells early what is wrong with it.
"""

import asyncio
import socket
from collections.abc import Sequence

from tillhouse.kit.network import Address, Network, literal_of, parse_address
from tillhouse.kit.targets import is_forbidden
from tillhouse.outgoing.connection import NotSent
from tillhouse.providers.names import PATIENCE_S, Answers, LookUp, Names, literal, look_up

_ANSWERS_KEPT_S = 10.0
_NAMES_KEPT = 4096
RESOLVED_WITHIN_S = 2.0


class ForbiddenTarget(NotSent):
    """A connection to an address that no webhook may go to; never made."""

    def __init__(self, text: str) -> None:
        super().__init__("forbidden_target")
        self.text = text


class Guard:
    """Resolves names and opens sockets, both under the same table of addresses."""

    def __init__(
        self,
        allowed: Sequence[Network],
        ask: LookUp = look_up,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._allowed = allowed
        self._names = Names(ask, patience_s)
        self._found: dict[tuple[str, int], tuple[float, Answers]] = {}

    async def resolve(self, host: str, port: int) -> Answers:
        """The addresses of a host, all of them public."""
        spelt = literal(host, port)
        answers = [spelt] if spelt is not None else await self._find(host, port)
        for _family, sockaddr in answers:
            self._check(sockaddr[0])
        return answers

    def open_socket(self, family: int, address: str) -> socket.socket:
        """A socket for one concrete address."""
        self._check(address)
        opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        opened.setblocking(False)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened

    def close(self) -> None:
        """Ask no more."""
        self._names.close()

    async def _find(self, host: str, port: int) -> Answers:
        """The answers for a name, as they were a moment ago or as they are now."""
        loop = asyncio.get_running_loop()
        until_s, answers = self._found.get((host, port), (0.0, []))
        if loop.time() < until_s:
            return answers
        try:
            answers = await self._names.find(host, port)
        except (OSError, UnicodeError) as error:
            raise NotSent("dns_failed") from error
        if len(self._found) >= _NAMES_KEPT:
            self._found.clear()
        self._found[host, port] = (loop.time() + _ANSWERS_KEPT_S, answers)
        return answers

    def _check(self, text: str) -> None:
        address = literal_of(text)
        if address is None or is_forbidden(address, self._allowed):
            raise ForbiddenTarget(text)


async def resolve(host: str) -> list[Address]:
    """The addresses of a name; none of a literal, nor of a name that can't be resolved."""
    if literal_of(host) is not None:
        return []
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(RESOLVED_WITHIN_S):
            found = await loop.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError):
        return []
    return [parse_address(str(answer[4][0]).partition("%")[0]) for answer in found]
