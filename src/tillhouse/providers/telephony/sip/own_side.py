"""Our side of a call: the common part of its requests, and their authorisation."""

import secrets

import msgspec

from tillhouse.kit.network import parse_address
from tillhouse.providers.telephony.sip.digest import (
    Challenge,
    DigestAnswer,
    DigestCredentials,
    choose,
)
from tillhouse.providers.telephony.sip.grammar import MalformedSip, parse_port
from tillhouse.providers.telephony.sip.message import Header, Response
from tillhouse.providers.telephony.sip.wire import Wire

ALLOWED = "INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE"
USER_AGENT = "Tillhouse"
_CHALLENGES_MAX = 4
_HEADERS_OF = {
    401: ("www-authenticate", "authorization"),
    407: ("proxy-authenticate", "proxy-authorization"),
}


class OwnSide(msgspec.Struct, kw_only=True):
    """Our side of one call."""

    call_id: str
    tag: str
    # From with our tag, To without one.
    own: str
    other: str
    user: str
    # Where others reach us, where that differs from the socket's own address.
    host: str | None
    port: int | None = None

    def contact(self, wire: Wire) -> Header:
        """Where this side wants its requests."""
        host, port = self.host or wire.local[0], self.port or wire.local[1]
        return "contact", f"<sip:{self.user}@{_bracketed(host)}:{port}>"

    def learn(self, response: Response) -> None:
        """Believe the other end about the address that it sees, where none was set."""
        if self.host is not None:
            return
        try:
            host = parse_address(response.via.parameters.get("received", ""))
            port = parse_port(response.via.parameters.get("rport", ""))
        except (ValueError, MalformedSip):
            return
        self.host, self.port = str(host), port

    def headers(
        self, wire: Wire, method: str, cseq: int, branch: str, *, other: str | None = None
    ) -> list[Header]:
        """The headers that every request has."""
        host, port = wire.local
        return [
            ("via", f"SIP/2.0/UDP {_bracketed(host)}:{port};branch={branch};rport"),
            ("max-forwards", "70"),
            ("from", self.own),
            ("to", other or self.other),
            ("call-id", self.call_id),
            ("cseq", f"{cseq} {method}"),
            ("user-agent", USER_AGENT),
        ]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def new_branch() -> str:
    """A random id for a transaction, which can't be guessed."""
    return "z9hG4bK" + secrets.token_hex(12)


class Authorization:
    """Answers the challenges of one transaction after the other."""

    def __init__(self, credentials: DigestCredentials | None) -> None:
        self._credentials = credentials
        self._known: dict[str, Challenge] = {}
        self._counts: dict[str, int] = {}
        self._asked: set[str] = set()
        self._challenges = 0

    def begin(self) -> None:
        """Expect to be asked anew: another request."""
        self._asked.clear()
        self._challenges = 0

    def learn(self, response: Response) -> bool:
        """Take a challenge; whether the same request may pass with an answer to it."""
        asking, answering = _HEADERS_OF[response.status]
        challenge = choose(response.values(asking))
        self._challenges += 1
        if self._credentials is None or challenge is None or self._challenges > _CHALLENGES_MAX:
            return False
        # The same question twice means that the answer was wrong, unless it came too late.
        if answering in self._asked and not challenge.is_stale:
            return False
        self._asked.add(answering)
        self._known[answering] = challenge
        return True

    def headers(self, method: str, uri: str) -> list[Header]:
        """The answers to the challenges so far."""
        if self._credentials is None:
            return []
        found: list[Header] = []
        for name, challenge in self._known.items():
            count = self._counts[challenge.nonce] = self._counts.get(challenge.nonce, 0) + 1
            answer = DigestAnswer(
                challenge=challenge,
                method=method,
                uri=uri,
                count=count,
                own_nonce=secrets.token_hex(8),
            )
            found.append((name, answer.header(self._credentials)))
        return found
