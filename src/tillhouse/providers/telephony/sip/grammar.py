"""The grammar that headers share: lists, parameters, quoted strings, addresses and URIs.

Every function takes any text and runs in time linear in it; wrong text raises `MalformedSip`.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

_TOKEN = r"[A-Za-z0-9\-.!%*_+`'~]+"  # noqa: S105 - a grammar's word
TOKEN = re.compile(_TOKEN)
_PARAMETER = re.compile(r"(?P<name>" + _TOKEN + r")[ \t]*(?:=[ \t]*(?P<value>\S.*))?", re.DOTALL)
_HOST = r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_](?:[A-Za-z0-9_.\-]{0,253}))"
_HOST_PORT = re.compile(rf"(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?")
_SENT_BY = re.compile(
    rf"SIP[ \t]*/[ \t]*2\.0[ \t]*/[ \t]*(?P<transport>{_TOKEN})[ \t]+"
    rf"(?P<host>{_HOST})(?:[ \t]*:[ \t]*(?P<port>[0-9]{{1,5}}))?[ \t]*",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:\S+")
_PORT = re.compile(r"[0-9]{1,5}")
_PORT_MAX = 65_535


class MalformedSip(Exception):
    """Bytes or text that are no SIP; the one error of everything here."""


class Uri(msgspec.Struct, frozen=True, kw_only=True):
    """A `sip:` or `sips:` address."""

    scheme: str
    user: str | None
    host: str
    port: int | None
    parameters: Mapping[str, str]

    @property
    def is_loose(self) -> bool:
        """Whether a proxy with this address routes as RFC 3261 has it."""
        return "lr" in self.parameters


class NameAddress(msgspec.Struct, frozen=True, kw_only=True):
    """A name, the URI that it is for, and the header's parameters."""

    uri: str
    parameters: Mapping[str, str]

    @property
    def tag(self) -> str:
        """The tag; empty where there is none, as from agents of RFC 2543."""
        return self.parameters.get("tag", "")


class Via(msgspec.Struct, frozen=True, kw_only=True):
    """One hop of a message."""

    transport: str
    host: str
    port: int | None
    parameters: Mapping[str, str]

    @property
    def branch(self) -> str:
        """The id of the transaction."""
        return self.parameters.get("branch", "")


def split(text: str, separator: str) -> Iterator[str]:
    """The parts between separators that stand outside of quotes and angle brackets."""
    start, depth, is_quoted, is_escaped = 0, 0, False, False
    for index, letter in enumerate(text):
        if is_quoted:
            is_quoted = is_escaped or letter != '"'
            is_escaped = letter == "\\" and not is_escaped
        elif letter == '"':
            is_quoted = True
        elif letter == "<":
            depth += 1
        elif letter == ">":
            depth -= 1
        elif letter == separator and not depth:
            yield text[start:index].strip()
            start = index + 1
    if is_quoted or depth:
        raise MalformedSip("a quote or a bracket stays open")
    yield text[start:].strip()


def parse_parameters(parts: Iterator[str]) -> dict[str, str]:
    """Parameters by their names in lower case; flags are empty, quoted values are unquoted."""
    found: dict[str, str] = {}
    for part in parts:
        match = _PARAMETER.fullmatch(part)
        if match is None:
            raise MalformedSip("no parameter")
        found.setdefault(match["name"].lower(), unquote((match["value"] or "").strip()))
    return found


def unquote(text: str) -> str:
    """A quoted string as it is meant; any other text as it is."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def quote(text: str) -> str:
    """The text as a quoted string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def parse_address(text: str) -> NameAddress:
    """The value of From, To, Contact, Route or Record-Route."""
    first, *rest = split(text, ";")
    if "<" not in first:
        if _SCHEME.fullmatch(first) is None:
            raise MalformedSip("no address")
        return NameAddress(uri=first, parameters=parse_parameters(iter(rest)))
    name, _, bracketed = _outside_quotes(first).partition("<")
    uri, closed, behind = bracketed.partition(">")
    is_named = all(TOKEN.fullmatch(word) for word in name.split())
    if not closed or behind.strip() or not is_named or _SCHEME.fullmatch(uri.strip()) is None:
        raise MalformedSip("no address")
    return NameAddress(uri=uri.strip(), parameters=parse_parameters(iter(rest)))


def _outside_quotes(text: str) -> str:
    """The text without its quoted name."""
    return re.sub(r'^[ \t]*"(?:[^"\\]|\\.)*"', "", text, flags=re.DOTALL)


def parse_via(text: str) -> Via:
    """One value of Via."""
    first, *rest = split(text, ";")
    match = _SENT_BY.fullmatch(first)
    if match is None:
        raise MalformedSip("no Via")
    return Via(
        transport=match["transport"].upper(),
        host=match["host"].strip("[]"),
        port=_port(match["port"]),
        parameters=parse_parameters(iter(rest)),
    )


def parse_uri(text: str) -> Uri:
    """A URI that can be sent to."""
    scheme, colon, rest = text.partition(":")
    if not colon or scheme.lower() not in ("sip", "sips"):
        raise MalformedSip("no sip: URI")
    user, at, rest = rest.rpartition("@")
    host_port, *parameters = rest.partition("?")[0].split(";")
    match = _HOST_PORT.fullmatch(host_port)
    if match is None or (at and not user) or re.search(r"[\s<>\"\x00-\x1f]", text):
        raise MalformedSip("no host")
    return Uri(
        scheme=scheme.lower(),
        user=user.partition(":")[0] or None,
        host=match["host"].strip("[]"),
        port=_port(match["port"]),
        parameters=parse_parameters(part for part in parameters if part),
    )


def _port(text: str | None) -> int | None:
    return None if text is None else parse_port(text)


def parse_port(text: str) -> int:
    """The number of a port."""
    if _PORT.fullmatch(text) is None or not 1 <= int(text) <= _PORT_MAX:
        raise MalformedSip("no port")
    return int(text)
