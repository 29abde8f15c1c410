"""The files of the pages: style, scripts, font and icons, each at an address of its content."""

import gzip
import hashlib
import re
from importlib.resources import files
from importlib.resources.abc import Traversable

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


def _contents(item: Traversable) -> bytes:
    is_style = item.name.endswith(".css")
    return lean(item.read_text("utf-8")).encode() if is_style else item.read_bytes()


_FILES = {
    item.name: _contents(item)
    for item in (files("tillhouse.desk") / "static").iterdir()
    if item.name.rpartition(".")[2] in _TYPES
}
# Scripts import one another by name: one digest of all of them is in the address of each.
_DIGEST = hashlib.sha256(b"".join(_FILES[name] for name in sorted(_FILES))).hexdigest()[:12]
_BASE = f"/desk/assets/{_DIGEST}"
_PACKED = {
    name: gzip.compress(body, 9, mtime=0)
    for name, body in _FILES.items()
    if not name.endswith(".woff2")
}
_FOR_EVER = (b"cache-control", b"public, max-age=31536000, immutable")
_ASKED_AGAIN = (b"cache-control", b"no-cache")
_HEADERS: Headers = [
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"vary", b"accept-encoding"),
]


def address(name: str) -> str:
    """The address of a file; it changes with the content."""
    if name not in _FILES:
        raise LookupError(f"{name} is no file of the desk")
    return f"{_BASE}/{name}"


async def give(_services: Services, request: RawRequest) -> RawAnswer:
    """A file; a page of another version of the server gets it, but may not keep it."""
    name = request.path["name"]
    body = _FILES.get(name)
    if body is None:
        raise Missing
    media_type = _TYPES[name.rpartition(".")[2]]
    headers = [_FOR_EVER if request.path["digest"] == _DIGEST else _ASKED_AGAIN, *_HEADERS]
    if name in _PACKED and "gzip" in (request.header("accept-encoding") or ""):
        headers.append((b"content-encoding", b"gzip"))
        return RawAnswer(media_type, _PACKED[name], headers=headers)
    return RawAnswer(media_type, body, headers=headers)


ROUTE = RawRoute(method="GET", path="/desk/assets/{digest}/{name}", handler=give)
