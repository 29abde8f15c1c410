"""Where a call goes, and as whom it is made: by the settings of the number that it is made from."""

import re

import msgspec

from tillhouse.providers.telephony.provider import Dial, LineEnded, Result, WrongSettings
from tillhouse.providers.telephony.sip.dialogue import host_port
from tillhouse.providers.telephony.sip.digest import DigestCredentials
from tillhouse.providers.telephony.sip.grammar import MalformedSip, parse_uri, quote
from tillhouse.providers.telephony.sip.own_side import OwnSide
from tillhouse.providers.telephony.sip.trunk import Trunk, bracketed, trunk_of

_NUMBER = re.compile(r"\+[1-9][0-9]{6,14}")
_USER = re.compile(r"[A-Za-z0-9_.!~*'()&=+$,;?/%-]{1,64}")


class SipPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a call that is known before anything is sent."""

    uri: str
    # The host that the INVITE goes to, before its name is looked up.
    hop: tuple[str, int]
    side: OwnSide
    credentials: DigestCredentials | None
    media_ports: range


class NotPossible(Exception):
    """A call that can't be made; `ended` says why."""

    def __init__(self, ended: LineEnded) -> None:
        super().__init__(ended.detail)
        self.ended = ended


def plan(dial: Dial, tag: str) -> SipPlan:
    """Where this attempt goes, or raise `NotPossible`."""
    try:
        trunk = trunk_of(dial.account.settings)
    except WrongSettings as error:
        raise NotPossible(_ended("provider_unavailable", str(error))) from None
    uri = _uri(dial.to, trunk)
    target = parse_uri(uri)
    is_direct = not _NUMBER.fullmatch(dial.to)
    user = dial.from_number if _USER.fullmatch(dial.from_number) else "tillhouse"
    if trunk.credentials is not None and _USER.fullmatch(trunk.credentials.username):
        user = trunk.credentials.username if not _NUMBER.fullmatch(user) else user
    domain = trunk.domain or trunk.host or target.host
    own = f"<sip:{user}@{bracketed(domain)}>;tag={tag}"
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
    return SipPlan(
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
        return f"sip:{to}@{bracketed(trunk.host)}{port}"
    try:
        uri = parse_uri(to)
    except MalformedSip:
        raise NotPossible(_ended("invalid_destination", "no number and no sip: address")) from None
    if uri.scheme != "sip" or uri.parameters.get("transport", "udp").lower() != "udp":
        raise NotPossible(_ended("invalid_destination", "only SIP over UDP is spoken"))
    return to


def _ended(result: Result, detail: str) -> LineEnded:
    return LineEnded(result=result, ended_by="system", detail=detail, may_retry=False)
