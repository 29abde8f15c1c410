"""SIP messages: any bytes become a request, a response or `MalformedSip`, and back into bytes."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from tillhouse.providers.telephony.sip.grammar import (
    TOKEN,
    MalformedSip,
    NameAddress,
    Via,
    parse_address,
    parse_via,
    split,
)

# An honest message over UDP is a few kilobytes.
MESSAGE_BYTES_MAX = 16 * 1024
HEADERS_MAX = 160
_HEAD_END = b"\r\n\r\n"
_STATUS_LINE = re.compile(r"SIP/2\.0 ([1-6][0-9]{2}) (.*)", re.IGNORECASE)
_REQUEST_LINE = re.compile(rf"({TOKEN.pattern}) ([^ <>\t]+) SIP/2\.0", re.IGNORECASE)
_HEADER = re.compile(rf"({TOKEN.pattern})[ \t]*:(.*)", re.DOTALL)
_CSEQ = re.compile(rf"([0-9]{{1,10}})[ \t]+({TOKEN.pattern})")
_CSEQ_MAX = 2**31 - 1
_NUMBER = re.compile(r"[0-9]{1,9}")
_COMPACT = {
    "b": "referred-by", "c": "content-type", "e": "content-encoding", "f": "from", "i": "call-id",
    "k": "supported", "l": "content-length", "m": "contact", "o": "event", "r": "refer-to",
    "s": "subject", "t": "to", "u": "allow-events", "v": "via", "x": "session-expires",
}  # fmt: skip
_ONCE = ("from", "to", "call-id", "cseq", "content-length", "max-forwards")

Header = tuple[str, str]


class SipMessage(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that requests and responses share; names of headers are long and lower case."""

    headers: Sequence[Header]
    body: bytes
    via: Via
    sender: NameAddress
    recipient: NameAddress
    call_id: str
    cseq: int
    method: str

    def values(self, name: str) -> list[str]:
        """Each line of this header, whole."""
        return [value for key, value in self.headers if key == name]

    def first(self, name: str) -> str | None:
        """The first line of this header."""
        return next(iter(self.values(name)), None)

    def each(self, name: str) -> list[str]:
        """Each value of a header that is a list, over all its lines."""
        return [value for line in self.values(name) for value in split(line, ",") if value]


class Request(SipMessage, frozen=True, kw_only=True):
    """A request."""

    uri: str


class Response(SipMessage, frozen=True, kw_only=True):
    """A response; `method` is that of its request."""

    status: int
    reason: str

    @property
    def is_provisional(self) -> bool:
        """Whether another will follow."""
        return self.status < 200


def parse(data: bytes) -> Request | Response:
    """Read one datagram."""
    if len(data) > MESSAGE_BYTES_MAX:
        raise MalformedSip("too long")
    head, end, body = data.partition(_HEAD_END)
    if not end:
        raise MalformedSip("no end of the head")
    first, *lines = _unfolded(head.decode("utf-8", "replace"))
    headers = _headers(lines)
    shared = _shared(headers, body)
    if status := _STATUS_LINE.fullmatch(first):
        return Response(status=int(status[1]), reason=status[2], **shared)
    request = _REQUEST_LINE.fullmatch(first)
    if request is None or request[1] != shared["method"]:
        raise MalformedSip("neither a request nor a response")
    return Request(uri=request[2], **shared)


def _unfolded(head: str) -> list[str]:
    """The lines, those that begin with a blank joined to the one before."""
    lines: list[str] = []
    for line in head.split("\r\n"):
        if line[:1] in (" ", "\t") and len(lines) > 1:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    if len(lines) > HEADERS_MAX:
        raise MalformedSip("too many headers")
    if any("\r" in line or "\n" in line for line in lines):
        raise MalformedSip("a line that doesn't end as lines do")
    return lines


def _headers(lines: Iterable[str]) -> list[Header]:
    headers: list[Header] = []
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise MalformedSip("no header")
        name = match[1].lower()
        headers.append((_COMPACT.get(name, name), match[2].strip()))
    return headers


def _shared(headers: list[Header], body: bytes) -> dict[str, Any]:
    once = _single(headers)
    vias = [value for name, value in headers if name == "via"]
    cseq = _CSEQ.fullmatch(once["cseq"])
    if cseq is None or int(cseq[1]) > _CSEQ_MAX or not once["call-id"] or not vias:
        raise MalformedSip("CSeq, Call-ID or Via is missing or wrong")
    return {
        "headers": headers,
        "body": body[: _length(once.get("content-length"), len(body))],
        "via": parse_via(next(split(vias[0], ","))),
        "sender": parse_address(once["from"]),
        "recipient": parse_address(once["to"]),
        "call_id": once["call-id"],
        "cseq": int(cseq[1]),
        "method": cseq[2],
    }


def _single(headers: list[Header]) -> dict[str, str]:
    """The headers that stand at most once."""
    once: dict[str, str] = {}
    for name, value in headers:
        if name not in _ONCE:
            continue
        if name in once:
            raise MalformedSip(f"{name} stands twice")
        once[name] = value
    for name in _ONCE[:4]:
        if name not in once:
            raise MalformedSip(f"{name} is missing")
    return once


def _length(text: str | None, received: int) -> int:
    if text is None:
        return received
    if _NUMBER.fullmatch(text) is None or int(text) > received:
        raise MalformedSip("the body is not as long as it says")
    return int(text)


def write_request(method: str, uri: str, headers: Iterable[Header], body: bytes = b"") -> bytes:
    """The bytes of a request."""
    return _write(f"{method} {uri} SIP/2.0", headers, body)


def write_response(
    request: Request, status: int, reason: str, headers: Iterable[Header] = (), body: bytes = b""
) -> bytes:
    """The bytes of a response, with those headers that it repeats from its request."""
    repeated = [
        (name, value)
        for name, value in request.headers
        if name in ("via", "from", "call-id", "cseq", "record-route")
    ]
    return _write(f"SIP/2.0 {status} {reason}", [*repeated, *headers], body)


def _write(first: str, headers: Iterable[Header], body: bytes) -> bytes:
    lines = [first, *(f"{_shown(name)}: {value}" for name, value in headers)]
    head = "\r\n".join([*lines, f"Content-Length: {len(body)}"])
    return head.encode() + _HEAD_END + body


_SHOWN = {"cseq": "CSeq", "call-id": "Call-ID", "www-authenticate": "WWW-Authenticate"}


def _shown(name: str) -> str:
    return _SHOWN.get(name) or "-".join(part.capitalize() for part in name.split("-"))
