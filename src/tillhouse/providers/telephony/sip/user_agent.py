"""The user agent: its wires, and which call each message belongs to."""

import secrets
from collections.abc import Iterable
from typing import Protocol

import msgspec

from tillhouse.providers.telephony.sip.grammar import MalformedSip
from tillhouse.providers.telephony.sip.message import (
    Header,
    Request,
    Response,
    parse,
    write_response,
)
from tillhouse.providers.telephony.sip.own_side import ALLOWED, USER_AGENT
from tillhouse.providers.telephony.sip.transactions import REAL, SipTiming
from tillhouse.providers.telephony.sip.wire import HostPort, Wire, WireCounts
from tillhouse.providers.telephony.targets import PUBLIC, ForbiddenAddress, Targets

# Answers to requests that belong to no call: inbound calls are not taken here.
_OUTSIDE = {
    "OPTIONS": (200, "OK"),
    "INVITE": (480, "Temporarily Unavailable"),
    "BYE": (481, "Call/Transaction Does Not Exist"),
    "CANCEL": (481, "Call/Transaction Does Not Exist"),
    "UPDATE": (481, "Call/Transaction Does Not Exist"),
}
NOT_ALLOWED = (405, "Method Not Allowed")


class Receiver(Protocol):
    """A call, as messages find it."""

    def take_response(self, response: Response) -> bool:
        """Take a response; False when it answers nothing that was asked."""
        ...

    def take_request(self, wire: Wire, request: Request) -> bool:
        """Take a request; False when it is of another dialogue."""
        ...


class UserAgent:
    """Shares wires between calls, and hands each message to its call."""

    def __init__(self, timing: SipTiming = REAL, targets: Targets = PUBLIC) -> None:
        self.timing = timing
        self._targets = targets
        self.counts = WireCounts()
        self._calls: dict[str, Receiver] = {}
        self._wires: dict[tuple[HostPort, HostPort | None], Wire] = {}
        self._users: dict[Wire, int] = {}

    def may_send_to(self, host: str) -> bool:
        """Whether something may be sent to an address; those that may not be are counted."""
        is_allowed = self._targets.may_be(host)
        self.counts.forbidden_targets += not is_allowed
        return is_allowed

    def wire_to(self, peer: HostPort, local: HostPort | None = None) -> Wire:
        """The wire to a peer, to be released once; with a port of ours that others have, too.

        Every socket that signals to somebody is opened here, so this is where addresses are
        checked.
        """
        if not self.may_send_to(peer[0]):
            raise ForbiddenAddress
        key = (peer, local)
        wire = self._wires.get(key)
        if wire is None:
            wire = self._wires[key] = Wire(peer, self._receive, local)
        self._users[wire] = self._users.get(wire, 0) + 1
        return wire

    @property
    def open_wires(self) -> int:
        """The peers that a socket is open to."""
        return len(self._wires)

    def release(self, wire: Wire) -> None:
        """Close a wire that no call uses any more."""
        self._users[wire] -= 1
        if not self._users[wire]:
            del self._users[wire]
            self._wires = {key: one for key, one in self._wires.items() if one is not wire}
            wire.close()

    def register(self, call_id: str, call: Receiver) -> None:
        """Hand messages with this Call-ID to that call."""
        self._calls[call_id] = call

    def forget(self, call_id: str) -> None:
        """Take messages with this Call-ID for strays."""
        del self._calls[call_id]

    def _receive(self, wire: Wire, data: bytes) -> None:
        if not data.strip(b"\r\n\0"):
            # Something that keeps a NAT open.
            return
        try:
            message = parse(data)
            vias = len(message.each("via"))
        except MalformedSip:
            self.counts.malformed += 1
            return
        call = self._calls.get(message.call_id)
        if isinstance(message, Response):
            # A response that others should have handed on first isn't for us.
            is_taken = call is not None and vias == 1 and call.take_response(message)
        else:
            is_taken = call is not None and call.take_request(wire, message)
            if not is_taken:
                answer_outside(wire, message)
        self.counts.strays += not is_taken


def answer_outside(wire: Wire, request: Request) -> None:
    """Answer a request that belongs to no call."""
    if request.method == "ACK":
        return
    status, reason = _OUTSIDE.get(request.method, NOT_ALLOWED)
    wire.send(response_to(wire, request, status, reason))


def response_to(
    wire: Wire,
    request: Request,
    status: int,
    reason: str,
    headers: Iterable[Header] = (),
    body: bytes = b"",
) -> bytes:
    """A response that goes back the way that the request came."""
    to = request.first("to") or ""
    if not request.recipient.tag:
        to += f";tag={secrets.token_hex(8)}"
    seen = _as_seen(wire, request)
    added = [("to", to), ("allow", ALLOWED), ("user-agent", USER_AGENT), *headers]
    return write_response(seen, status, reason, added, body)


def _as_seen(wire: Wire, request: Request) -> Request:
    """The request, its first Via completed by the address that it came from (RFC 3581)."""
    if "rport" not in request.via.parameters:
        return request
    host, port = wire.peer
    headers = list(request.headers)
    index = next(index for index, (name, _) in enumerate(headers) if name == "via")
    first, comma, rest = headers[index][1].partition(",")
    parts = [
        part
        for part in first.split(";")
        if part.partition("=")[0].strip().lower() not in ("rport", "received")
    ]
    value = ";".join([*parts, f"received={host}", f"rport={port}"])
    headers[index] = ("via", value + comma + rest)
    return msgspec.structs.replace(request, headers=headers)
