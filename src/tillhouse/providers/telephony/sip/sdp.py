"""SDP (RFC 4566 and 3264) as far as a telephone call needs it: one stream of G.711 with keys."""

import re
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Literal

import msgspec

Direction = Literal["sendrecv", "sendonly", "recvonly", "inactive"]

_BODY_BYTES_MAX = 8 * 1024
_STREAMS_MAX = 16
_FORMATS_MAX = 64
_MEDIA = re.compile(r"([a-z]+) ([0-9]{1,5})(?:/[0-9]{1,3})? ([A-Za-z0-9/]+) ([A-Za-z0-9*. ]+)")
_CONNECTION = re.compile(r"IN IP[46] ([0-9A-Fa-f:.]{2,45})(?:/.*)?")
_MAPPING = re.compile(r"rtpmap:([0-9]{1,3}) ([A-Za-z0-9-]+)/([0-9]{1,6})(?:/.*)?", re.IGNORECASE)
_TYPE = re.compile(r"[0-9]{1,3}")
_TYPES = 128
_PORT_MAX = 65_535
_RATE = "8000"

LAWS = {0: "PCMU", 8: "PCMA"}
KEYS_TYPE = 101
_MIRRORED: dict[Direction, Direction] = {
    "sendrecv": "sendrecv",
    "sendonly": "recvonly",
    "recvonly": "sendonly",
    "inactive": "inactive",
}


class Unusable(Exception):
    """A description without a stream that a call could be held by."""


class MediaLine(msgspec.Struct, frozen=True, kw_only=True):
    """One m= line: as much as an answer must repeat of those it refuses."""

    media: str
    port: int
    protocol: str
    formats: Sequence[str]


class SessionDescription(msgspec.Struct, frozen=True, kw_only=True):
    """The other side's description."""

    host: str
    port: int
    # Types of G.711 in the order of preference, by the numbers that the other side gave them.
    laws: Sequence[tuple[int, str]]
    keys_type: int | None
    direction: Direction
    streams: Sequence[MediaLine]
    # The index of the stream that is used.
    chosen: int

    @property
    def is_held(self) -> bool:
        """Whether the other side wants to hear nothing at the moment."""
        return self.direction in ("sendonly", "inactive")


class Own(msgspec.Struct, frozen=True, kw_only=True):
    """Our side of a session; the version rises with each change."""

    session_id: int
    version: int
    host: str
    port: int


class _Section:
    """The lines of one stream, or those before the first."""

    def __init__(self, stream: MediaLine | None) -> None:
        self.stream = stream
        self.host: str | None = None
        self.direction: Direction | None = None
        self.mappings: dict[int, tuple[str, str]] = {}

    def take(self, kind: str, value: str) -> None:
        """Read a line."""
        if kind == "c" and (match := _CONNECTION.fullmatch(value)):
            self.host = match[1]
        elif kind == "a" and value in _MIRRORED:
            self.direction = value
        elif kind == "a" and (match := _MAPPING.fullmatch(value)):
            self.mappings[int(match[1])] = (match[2].upper(), match[3])

    def laws(self) -> list[tuple[int, str]]:
        """The types of G.711 among the formats."""
        found: list[tuple[int, str]] = []
        for number in self._numbers():
            name, rate = self.mappings.get(number, (LAWS.get(number, ""), _RATE))
            if name in LAWS.values() and rate == _RATE:
                found.append((number, name))
        return found

    def keys_type(self) -> int | None:
        """The type of RFC 4733 among the formats."""
        wanted = ("TELEPHONE-EVENT", _RATE)
        return next((n for n in self._numbers() if self.mappings.get(n) == wanted), None)

    def _numbers(self) -> list[int]:
        formats = self.stream.formats if self.stream else ()
        return [int(name) for name in formats if _TYPE.fullmatch(name) and int(name) < _TYPES]


def parse(body: bytes) -> SessionDescription:
    """Read a description, or raise `Unusable`."""
    if len(body) > _BODY_BYTES_MAX:
        raise Unusable("too long")
    general = _Section(None)
    sections = [general]
    for line in body.decode("utf-8", "replace").splitlines():
        kind, _, value = line.partition("=")
        if kind == "m":
            sections.append(_Section(_stream(value.strip())))
        else:
            sections[-1].take(kind, value.strip())
    if len(sections) - 1 > _STREAMS_MAX:
        raise Unusable("too many streams")
    return _session(general, sections[1:])


def _stream(value: str) -> MediaLine:
    match = _MEDIA.fullmatch(value)
    if match is None or int(match[2]) > _PORT_MAX:
        raise Unusable("no stream")
    formats = match[4].split()
    if len(formats) > _FORMATS_MAX:
        raise Unusable("too many formats")
    return MediaLine(media=match[1], port=int(match[2]), protocol=match[3], formats=formats)


def _session(general: _Section, sections: Sequence[_Section]) -> SessionDescription:
    for index, section in enumerate(sections):
        stream, laws = section.stream, section.laws()
        if stream is None or not _carries_calls(stream) or not laws:
            continue
        host = section.host or general.host
        direction = section.direction or general.direction or "sendrecv"
        if host is None:
            raise Unusable("no address")
        if _is_nowhere(host):
            # Holding a call was once written as an address that is none.
            direction = "inactive"
        return SessionDescription(
            host=host,
            port=stream.port,
            laws=laws,
            keys_type=section.keys_type(),
            direction=direction,
            streams=[each.stream for each in sections if each.stream],
            chosen=index,
        )
    raise Unusable("no stream of G.711 over RTP")


def _carries_calls(stream: MediaLine) -> bool:
    return stream.media == "audio" and stream.port > 0 and stream.protocol.upper() == "RTP/AVP"


def _is_nowhere(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        raise Unusable("no address") from None
    if address.is_multicast:
        raise Unusable("an address of many")
    return address.is_unspecified


def offer(own: Own) -> bytes:
    """Our offer: both laws, and keys."""
    formats = [*LAWS.items()]
    return _write(own, [_audio(own, formats, KEYS_TYPE, "sendrecv")])


def answer(own: Own, session: SessionDescription) -> bytes:
    """Our answer: the first law of the offer, and its other streams refused."""
    lines: list[list[str]] = []
    for index, stream in enumerate(session.streams):
        if index == session.chosen:
            direction = _MIRRORED[session.direction]
            lines.append(_audio(own, session.laws[:1], session.keys_type, direction))
        else:
            lines.append([f"m={stream.media} 0 {stream.protocol} {' '.join(stream.formats)}"])
    return _write(own, lines)


def _audio(
    own: Own, laws: Sequence[tuple[int, str]], keys_type: int | None, direction: Direction
) -> list[str]:
    numbers = [number for number, _ in laws]
    mappings = [f"a=rtpmap:{number} {name}/{_RATE}" for number, name in laws]
    if keys_type is not None:
        numbers.append(keys_type)
        mappings += [f"a=rtpmap:{keys_type} telephone-event/{_RATE}", f"a=fmtp:{keys_type} 0-15"]
    formats = " ".join(map(str, numbers))
    return [f"m=audio {own.port} RTP/AVP {formats}", *mappings, "a=ptime:20", f"a={direction}"]


def _write(own: Own, streams: Sequence[Sequence[str]]) -> bytes:
    version = 6 if ":" in own.host else 4
    lines = [
        "v=0",
        f"o=- {own.session_id} {own.version} IN IP{version} {own.host}",
        "s=-",
        f"c=IN IP{version} {own.host}",
        "t=0 0",
        *(line for stream in streams for line in stream),
    ]
    return "".join(f"{line}\r\n" for line in lines).encode()
