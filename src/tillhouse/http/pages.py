"""Routes that are no operation of the API: health, pages whose bytes stay the same, guides."""

import asyncio
import gzip
import hashlib
from collections.abc import Callable
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

import tillhouse
from tillhouse.access.process import Services
from tillhouse.db.connecting import DATABASE_HEALTH, FAILURES, FULL
from tillhouse.http.api import Page
from tillhouse.http.exchange import Exchange
from tillhouse.http.problems import Headers
from tillhouse.kit.errors import Unavailable

READY_WITHIN_S = 3.0
_TEXT: Headers = [(b"content-type", b"text/plain; charset=utf-8")]


# How long a page may be kept; for ever is right where its path changes with its content.
ASK_EACH_TIME = "no-cache"
KEEP_FOR_EVER = "public, max-age=31536000, immutable"


async def livez(_services: Services, _exchange: Exchange) -> tuple[int, Headers, bytes]:
    """The process answers."""
    return 200, _TEXT, b"ok\n"


async def readyz(services: Services, _exchange: Exchange) -> tuple[int, Headers, bytes]:
    """The process and its database answer, and there is room to write."""
    try:
        async with asyncio.timeout(READY_WITHIN_S), services.pool.reading() as db:
            await db.fetchval("SELECT 1")
    except (*FAILURES, Unavailable):
        return 503, [*_TEXT, (b"retry-after", b"1")], b"the database does not answer\n"
    if DATABASE_HEALTH.is_full:
        return 503, [*_TEXT, (b"retry-after", b"30")], FULL.encode() + b"\n"
    return 200, _TEXT, b"ready\n"


HEALTH: dict[str, Page] = {"/livez": livez, "/readyz": readyz}


class _Packed(msgspec.Struct, frozen=True):
    """The bytes of a page, as they are and compressed, and their digest."""

    body: bytes
    gzipped: bytes
    digest: bytes


def _pack(make: Callable[[], bytes]) -> _Packed:
    body = make()
    digest = hashlib.sha256(body).hexdigest()[:32].encode()
    return _Packed(body, gzip.compress(body, 6, mtime=0), digest)


def static(make: Callable[[], bytes], media_type: str, policy: str, caching: str) -> Page:
    """A page that is made and compressed once, when it is first asked for."""
    kept: list[_Packed] = []
    headers: Headers = [
        (b"content-type", media_type.encode()),
        (b"cache-control", caching.encode()),
        (b"vary", b"accept-encoding"),
        (b"content-security-policy", policy.encode()),
    ]

    async def page(_services: Services, exchange: Exchange) -> tuple[int, Headers, bytes]:
        if not kept:
            # Not on the loop: other requests go on. Two at once make the same.
            kept.append(await asyncio.to_thread(_pack, make))
        packed = kept[0]
        takes_gzip = _takes_gzip(exchange.headers.get(b"accept-encoding", b""))
        tag = b'"%s%s"' % (packed.digest, b"-gzip" if takes_gzip else b"")
        found = [*headers, (b"etag", tag)]
        if tag in exchange.headers.get(b"if-none-match", b""):
            return 304, found, b""
        if takes_gzip:
            return 200, [*found, (b"content-encoding", b"gzip")], packed.gzipped
        return 200, found, packed.body

    return page


def _takes_gzip(accepted: bytes) -> bool:
    names = {part.strip().lower() for part in accepted.split(b",") if b";q=0" not in part}
    return any(name.partition(b";")[0] in (b"gzip", b"*") for name in names)


def guides_folder() -> Traversable:
    """The Markdown of docs/, in the installed package or in the source tree beside it."""
    packed = files("tillhouse") / "reference" / "guides"
    return packed if packed.is_dir() else Path(tillhouse.__file__).parents[2] / "docs"
