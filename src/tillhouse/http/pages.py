"""What is no operation of the API: health, metrics, the description and its viewer."""

import asyncio
import gzip
import hashlib
import json
from importlib.resources import files

from tillhouse.access.process import Services
from tillhouse.db.pool import FAILURES
from tillhouse.http.api import Page
from tillhouse.http.exchange import Exchange
from tillhouse.http.problems import Headers
from tillhouse.http.reference import brief
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


async def livez(_services: Services, _exchange: Exchange) -> tuple[int, Headers, bytes]:
    """The process answers."""
    return 200, _TEXT, b"ok\n"


async def readyz(services: Services, _exchange: Exchange) -> tuple[int, Headers, bytes]:
    """The process and its database answer."""
    try:
        async with asyncio.timeout(READY_WITHIN_S), services.pool.reading() as db:
            await db.fetchval("SELECT 1")
    except (*FAILURES, Unavailable):
        return 503, [*_TEXT, (b"retry-after", b"1")], b"the database does not answer\n"
    return 200, _TEXT, b"ready\n"


def build(document: bytes) -> dict[str, Page]:
    """The pages by path."""
    pages: dict[str, Page] = {"/": _to_the_reference, "/livez": livez, "/readyz": readyz}
    pages["/openapi.json"] = _static(document, b"application/json", cached=False)
    url = json.loads(document)["servers"][0]["url"]
    pages["/llms.txt"] = _static(brief(url).encode(), b"text/plain; charset=utf-8", cached=False)
    folder = files("tillhouse.http") / "docs"
    for item in folder.iterdir():
        name, body = item.name, item.read_bytes()
        if name.endswith(".gz"):
            name, body = name.removesuffix(".gz"), gzip.decompress(body)
        suffix = name[name.rfind(".") :]
        if suffix in _TYPES:
            path = "/docs" if name == "index.html" else f"/docs/{name}"
            pages[path] = _static(body, _TYPES[suffix], cached=path != "/docs")
    return pages


async def _to_the_reference(_services: Services, _exchange: Exchange) -> tuple[int, Headers, bytes]:
    """Lead whoever opens the bare address to something readable."""
    return 307, [*_TEXT, (b"location", b"/docs")], b"The API reference is at /docs.\n"


def _static(body: bytes, media_type: bytes, *, cached: bool) -> Page:
    # The viewer is large, and text shrinks to a quarter: it is packed once, at the start.
    packed = gzip.compress(body, 6, mtime=0)
    digest = hashlib.sha256(body).hexdigest()[:32].encode()
    keep = b"public, max-age=3600" if cached else b"no-cache"
    headers: Headers = [
        (b"content-type", media_type),
        (b"cache-control", keep),
        (b"vary", b"accept-encoding"),
        (b"content-security-policy", _DOCS_POLICY),
    ]

    async def page(_services: Services, exchange: Exchange) -> tuple[int, Headers, bytes]:
        takes_gzip = _takes_gzip(exchange.headers.get(b"accept-encoding", b""))
        tag = b'"%s%s"' % (digest, b"-gzip" if takes_gzip else b"")
        found = [*headers, (b"etag", tag)]
        if tag in exchange.headers.get(b"if-none-match", b""):
            return 304, found, b""
        if takes_gzip:
            return 200, [*found, (b"content-encoding", b"gzip")], packed
        return 200, found, body

    return page


def _takes_gzip(accepted: bytes) -> bool:
    names = {part.strip().lower() for part in accepted.split(b",") if b";q=0" not in part}
    return any(name.partition(b";")[0] in (b"gzip", b"*") for name in names)
