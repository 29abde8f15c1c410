"""The settings of a number that calls by SIP: a provider's trunk, or none."""

import re
from collections.abc import Mapping

import msgspec

from tillhouse.providers.telephony.provider import WrongSettings, refuse_unknown
from tillhouse.providers.telephony.sip.digest import DigestCredentials
from tillhouse.providers.telephony.sip.grammar import MalformedSip, parse_uri

_NAME = re.compile(r"[^\x00-\x1f\x7f]{0,60}")
_PORTS = re.compile(r"([0-9]{1,5})-([0-9]{1,5})")
_PORT_MIN, _PORT_MAX = 1024, 65_535
_KNOWN = (
    "host", "port", "username", "password", "domain", "caller_name", "external_address",
    "media_ports",
)  # fmt: skip


class Trunk(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a number that calls by SIP."""

    # The provider's server; without one only `sip:` addresses can be called.
    host: str | None = None
    port: int | None = None
    credentials: DigestCredentials | None = None
    # The domain of From, where it isn't the server's.
    domain: str | None = None
    # The name that telephones show.
    caller_name: str = ""
    # Our address as others see it, where a router stands between.
    external_address: str | None = None
    # The ports that the router lets through for sound; none: any.
    media_ports: range = range(0)


def trunk_of(settings: Mapping[str, str]) -> Trunk:
    """Read the settings of a number, or raise `WrongSettings`."""
    refuse_unknown(settings, _KNOWN)
    username, password = settings.get("username"), settings.get("password")
    if (username is None) != (password is None):
        name = "password" if password is None else "username"
        raise WrongSettings(name, "must be there: user name and password go together")
    name = settings.get("caller_name", "")
    if _NAME.fullmatch(name) is None:
        raise WrongSettings("caller_name", "must have at most 60 characters that can be shown")
    return Trunk(
        host=_host(settings, "host"),
        port=_port(settings["port"]) if "port" in settings else None,
        credentials=DigestCredentials(username, password or "") if username is not None else None,
        domain=_host(settings, "domain"),
        caller_name=name,
        external_address=_host(settings, "external_address"),
        media_ports=_ports(settings.get("media_ports")),
    )


def _host(settings: Mapping[str, str], name: str) -> str | None:
    value = settings.get(name)
    if value is None:
        return None
    try:
        host = parse_uri(f"sip:{bracketed(value)}").host
    except MalformedSip:
        host = None
    # A port, a user or parameters would be left out in silence.
    if host != value:
        raise WrongSettings(name, "must be a host such as sip.example.com, and no more")
    return host


def bracketed(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host else host


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > 5 or not 1 <= int(text) <= _PORT_MAX:
        raise WrongSettings("port", "must be from 1 to 65535")
    return int(text)


def _ports(text: str | None) -> range:
    if text is None:
        return range(0)
    match = _PORTS.fullmatch(text)
    if match is None or not _PORT_MIN <= int(match[1]) < int(match[2]) <= _PORT_MAX:
        raise WrongSettings("media_ports", "must be a range such as 10000-10100")
    return range(int(match[1]), int(match[2]) + 1)
