"""The files of the pages: style, scripts, font and icons, each at an address of its content."""

import gzip
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

from tillhouse.access.process import Services
from tillhouse.http.problems import Headers
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute
from tillhouse.kit.errors import Missing

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
# A comment ends at its first mark, whatever follows.
_SPACE = r"(?:\s|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)"
_SPACED = re.compile(rf'"[^"]*"|{_SPACE}*([{{}};,>]){_SPACE}*|(:){_SPACE}+|{_SPACE}+')


def lean(style: str) -> str:
    """A style sheet without its comments, and without spaces that mean nothing."""

    def shortened(found: re.Match[str]) -> str:
        is_string = found[0].startswith('"')
        return found[0] if is_string else found[1] or found[2] or " "

    return _SPACED.sub(shortened, style).strip()


_FOR_EVER = (b"cache-control", b"public, max-age=31536000, immutable")
_ASKED_AGAIN = (b"cache-control", b"no-cache")
_HEADERS: Headers = [
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"vary", b"accept-encoding"),
]


class StaticFiles(msgspec.Struct, frozen=True):
    """The files as they are sent, and the digest of all of them."""

    contents: Mapping[str, bytes]
    # Scripts import one another by name: one digest of all files is in the address of each.
    digest: str


@cache
def _static() -> StaticFiles:
    """The files, read when the first page names one: most processes serve no page."""
    contents = {
        item.name: _contents(item)
        for item in (files("tillhouse.desk") / "static").iterdir()
        if item.name.rpartition(".")[2] in _TYPES
    }
    joined = b"".join(contents[name] for name in sorted(contents))
    return StaticFiles(contents, hashlib.sha256(joined).hexdigest()[:12])


def _contents(item: Traversable) -> bytes:
    is_style = item.name.endswith(".css")
    return lean(item.read_text("utf-8")).encode() if is_style else item.read_bytes()


@cache
def _packed(name: str) -> bytes:
    """A file compressed, once it was asked for."""
    return gzip.compress(_static().contents[name], 9, mtime=0)


@cache
def address(name: str) -> str:
    """The address of a file; it changes with the content."""
    static = _static()
    if name not in static.contents:
        raise LookupError(f"{name} is no file of the desk")
    return f"/desk/assets/{static.digest}/{name}"


async def give(_services: Services, request: RawRequest) -> RawAnswer:
    """A file; a page of another version of the server gets it, but may not keep it."""
    name, static = request.path["name"], _static()
    body = static.contents.get(name)
    if body is None:
        raise Missing
    kind = name.rpartition(".")[2]
    headers = [_FOR_EVER if request.path["digest"] == static.digest else _ASKED_AGAIN, *_HEADERS]
    if kind != "woff2" and "gzip" in (request.header("accept-encoding") or ""):
        headers.append((b"content-encoding", b"gzip"))
        body = _packed(name)
    return RawAnswer(_TYPES[kind], body, headers=headers)


ROUTE = RawRoute(method="GET", path="/desk/assets/{digest}/{name}", handler=give)
