"""What is no operation of the API: health, metrics, the description and its viewer."""

import asyncio
import hashlib
from importlib.resources import files

import asyncpg

from tillhouse.access.house import House
from tillhouse.http.api import Page
from tillhouse.http.exchange import Exchange
from tillhouse.http.problems import Headers
from tillhouse.kit.errors import Unavailable

READY_WITHIN_S = 3.0
_TEXT: Headers = [(b"content-type", b"text/plain; charset=utf-8")]

# The viewer runs its own scripts from this server only; it styles itself inline.
_DOCS_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    b"img-src 'self' data:; font-src 'self' data:; connect-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {".html": b"text/html; charset=utf-8", ".js": b"text/javascript; charset=utf-8",
          ".css": b"text/css; charset=utf-8", ".svg": b"image/svg+xml"}  # fmt: skip


async def livez(_house: House, _exchange: Exchange) -> tuple[int, Headers, bytes]:
    """The process answers."""
    return 200, _TEXT, b"ok\n"


async def readyz(house: House, _exchange: Exchange) -> tuple[int, Headers, bytes]:
    """The process and its database answer."""
    try:
        async with asyncio.timeout(READY_WITHIN_S), house.pool.reading() as db:
            await db.fetchval("SELECT 1")
    except (TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError, Unavailable):
        return 503, [*_TEXT, (b"retry-after", b"1")], b"the database does not answer\n"
    return 200, _TEXT, b"ready\n"


def build(document: bytes) -> dict[str, Page]:
    """The pages by path."""
    pages: dict[str, Page] = {"/livez": livez, "/readyz": readyz}
    pages["/openapi.json"] = _static(document, b"application/json", cached=False)
    folder = files("tillhouse.http") / "docs"
    for item in folder.iterdir():
        suffix = item.name[item.name.rfind(".") :]
        if suffix in _TYPES:
            path = "/docs" if item.name == "index.html" else f"/docs/{item.name}"
            pages[path] = _static(item.read_bytes(), _TYPES[suffix], cached=path != "/docs")
    return pages


def _static(body: bytes, media_type: bytes, *, cached: bool) -> Page:
    tag = b'"' + hashlib.sha256(body).hexdigest()[:32].encode() + b'"'
    keep = b"public, max-age=3600" if cached else b"no-cache"
    headers: Headers = [
        (b"content-type", media_type),
        (b"etag", tag),
        (b"cache-control", keep),
        (b"content-security-policy", _DOCS_POLICY),
    ]

    async def page(_house: House, exchange: Exchange) -> tuple[int, Headers, bytes]:
        if exchange.headers.get(b"if-none-match") == tag:
            return 304, headers, b""
        return 200, headers, body

    return page
