"""Where a call goes, and as whom it is made: by the settings of the number that it is made from."""

import re

import msgspec

from tillhouse.providers.telephony.provider import Dial, Ended
from tillhouse.providers.telephony.sip.dialogue import host_port
from tillhouse.providers.telephony.sip.digest import Credentials
from tillhouse.providers.telephony.sip.grammar import Malformed, Uri, parse_uri, quote
from tillhouse.providers.telephony.sip.own_side import OwnSide

_NUMBER = re.compile(r"\+[1-9][0-9]{6,14}")
_NAME = re.compile(r"[^\x00-\x1f\x7f]{0,60}")
_PORTS = re.compile(r"([0-9]{1,5})-([0-9]{1,5})")
_USER = re.compile(r"[A-Za-z0-9_.!~*'()&=+$,;?/%-]{1,64}")
_PORT_MIN, _PORT_MAX = 1024, 65_535


class Trunk(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a number that calls by SIP."""

    # The provider's server; without one only `sip:` addresses can be called.
    host: str | None = None
    port: int | None = None
    credentials: Credentials | None = None
    # The domain of From, where it isn't the server's.
    domain: str | None = None
    # The name that telephones show.
    caller_name: str = ""
    # Our address as others see it, where a router stands between.
    external_address: str | None = None
    # The ports that the router lets through for sound; none: any.
    media_ports: range = range(0)


class WrongSettings(Exception):
    """A setting that can't be used, and why; the text never holds a secret."""


def trunk_of(settings: "dict[str, str]") -> Trunk:
    """Read the settings of a number, or raise `WrongSettings`."""
    username, password = settings.get("username"), settings.get("password")
    if (username is None) != (password is None):
        raise WrongSettings("username and password go together")
    name = settings.get("caller_name", "")
    if _NAME.fullmatch(name) is None:
        raise WrongSettings("caller_name has more than 60 characters, or some that aren't shown")
    return Trunk(
        host=_host(settings, "host"),
        port=_port(settings["port"]) if "port" in settings else None,
        credentials=Credentials(username, password or "") if username is not None else None,
        domain=_host(settings, "domain"),
        caller_name=name,
        external_address=_host(settings, "external_address"),
        media_ports=_ports(settings.get("media_ports")),
    )


def _host(settings: "dict[str, str]", name: str) -> str | None:
    value = settings.get(name)
    if value is None:
        return None
    try:
        return parse_uri(f"sip:{_bracketed(value)}").host
    except Malformed:
        raise WrongSettings(f"{name} is no host") from None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > 5 or not 1 <= int(text) <= _PORT_MAX:
        raise WrongSettings("port is no port")
    return int(text)


def _ports(text: str | None) -> range:
    if text is None:
        return range(0)
    match = _PORTS.fullmatch(text)
    if match is None or not _PORT_MIN <= int(match[1]) < int(match[2]) <= _PORT_MAX:
        raise WrongSettings("media_ports is no range such as 10000-10100")
    return range(int(match[1]), int(match[2]) + 1)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a call that is known before anything is sent."""

    uri: str
    # The host that the INVITE goes to, before its name is looked up.
    hop: tuple[str, int]
    side: OwnSide
    credentials: Credentials | None
    media_ports: range


class NotPossible(Exception):
    """A call that can't be made; `ended` says why."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.detail)
        self.ended = ended


def plan(dial: Dial, tag: str) -> Plan:
    """Where this attempt goes, or raise `NotPossible`."""
    try:
        trunk = trunk_of(dict(dial.account.settings))
    except WrongSettings as error:
        raise NotPossible(_ended("provider_unavailable", str(error))) from None
    uri = _uri(dial.to, trunk)
    target = parse_uri(uri)
    is_direct = not _NUMBER.fullmatch(dial.to)
    user = dial.from_number if _USER.fullmatch(dial.from_number) else "tillhouse"
    if trunk.credentials is not None and _USER.fullmatch(trunk.credentials.username):
        user = trunk.credentials.username if not _NUMBER.fullmatch(user) else user
    domain = trunk.domain or trunk.host or target.host
    own = f"<sip:{user}@{_bracketed(domain)}>;tag={tag}"
    if trunk.caller_name:
        own = f"{quote(trunk.caller_name)} {own}"
    side = OwnSide(
        call_id=f"{dial.attempt_id}@tillhouse",
        tag=tag,
        own=own,
        other=f"<{uri}>",
        user=user,
        host=trunk.external_address,
    )
    return Plan(
        uri=uri,
        hop=host_port(target),
        side=side,
        credentials=None if is_direct and trunk.host != target.host else trunk.credentials,
        media_ports=trunk.media_ports,
    )


def _uri(to: str, trunk: Trunk) -> str:
    """The Request-URI: the address itself, or the number at the trunk."""
    if _NUMBER.fullmatch(to):
        if trunk.host is None:
            raise NotPossible(_ended("provider_unavailable", "the number has no trunk: set host"))
        port = f":{trunk.port}" if trunk.port is not None else ""
        return f"sip:{to}@{_bracketed(trunk.host)}{port}"
    try:
        uri = parse_uri(to)
    except Malformed:
        raise NotPossible(_ended("invalid_destination", "no number and no sip: address")) from None
    if not _goes_by_udp(uri):
        raise NotPossible(_ended("invalid_destination", "only SIP over UDP is spoken"))
    return to


def _goes_by_udp(uri: Uri) -> bool:
    return uri.scheme == "sip" and uri.parameters.get("transport", "udp").lower() == "udp"


def _ended(result: str, detail: str) -> Ended:
    known = "invalid_destination" if result == "invalid_destination" else "provider_unavailable"
    return Ended(result=known, ended_by="system", detail=detail, may_retry=False)
