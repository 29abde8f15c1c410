"""A dialogue (RFC 3261, section 12): both ends' tags and numbers, and the way to the other end."""

import msgspec

from tillhouse.providers.telephony.sip.grammar import (
    MalformedSip,
    NameAddress,
    Uri,
    parse_address,
    parse_uri,
)
from tillhouse.providers.telephony.sip.message import Header, Request, Response

_ROUTES_MAX = 16
_SIP_PORT = 5060


class Dialogue(msgspec.Struct, kw_only=True):
    """One call with one telephone; of a call that was forked there may be several."""

    call_id: str
    # As they stand in From and To of our requests, tags included.
    own: str
    other: str
    other_tag: str
    # Where the other end wants its requests, and the proxies before it.
    target: str
    routes: list[str]
    own_cseq: int
    other_cseq: int = -1

    def next_hop(self) -> Uri | None:
        """Where requests go first; None when no address is reachable."""
        try:
            hop = parse_uri(parse_address(self.routes[0]).uri if self.routes else self.target)
        except MalformedSip:
            return None
        return hop if hop.scheme == "sip" else None

    def request_line_and_routes(self) -> tuple[str, list[Header]]:
        """The Request-URI and the Route headers, also where the first proxy routes strictly."""
        if not self.routes:
            return self.target, []
        first = self.next_hop()
        if first is None or first.is_loose:
            return self.target, [("route", route) for route in self.routes]
        strict = parse_address(self.routes[0]).uri
        return strict, [("route", route) for route in [*self.routes[1:], f"<{self.target}>"]]

    def refresh(self, message: Request | Response) -> None:
        """Follow the other end's Contact, if it gives one that can be used."""
        contact = contact_of(message)
        if contact is not None:
            self.target = contact

    def is_new(self, request: Request) -> bool:
        """Whether a request comes in its order; if so, later ones are measured by it."""
        if request.cseq <= self.other_cseq:
            return False
        self.other_cseq = request.cseq
        return True


def contact_of(message: Request | Response) -> str | None:
    """The URI of Contact, if it is one that can be sent to."""
    try:
        contacts = message.each("contact")
        uri = parse_address(contacts[0]).uri if contacts else ""
        return uri if parse_uri(uri).scheme == "sip" else None
    except MalformedSip:
        return None


def answered(response: Response, *, request_uri: str, own: str) -> Dialogue:
    """The dialogue that a 2xx to our INVITE begins."""
    try:
        recorded = response.each("record-route")[:_ROUTES_MAX]
        routes = [f"<{parse_address(value).uri}>" for value in recorded]
    except MalformedSip:
        routes = []
    return Dialogue(
        call_id=response.call_id,
        own=own,
        other=response.first("to") or "",
        other_tag=response.recipient.tag,
        target=contact_of(response) or request_uri,
        routes=routes[::-1],
        own_cseq=response.cseq,
    )


def host_port(uri: Uri) -> tuple[str, int]:
    """The host of a URI, and its port."""
    return uri.host, uri.port or _SIP_PORT


def is_within(dialogue: Dialogue, request: Request, own_tag: str) -> bool:
    """Whether a request of the other end belongs here, by both tags."""
    sender: NameAddress = request.sender
    return sender.tag == dialogue.other_tag and request.recipient.tag == own_tag
