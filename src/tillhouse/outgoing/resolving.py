"""The addresses of a name when a request gives it; the dialling guard checks them again."""

import asyncio
import socket

from tillhouse.kit.network import Address, parse_address
from tillhouse.outgoing.rules import literal_of

RESOLVED_WITHIN_S = 2.0


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
