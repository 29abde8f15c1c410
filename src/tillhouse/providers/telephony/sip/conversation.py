"""An answered call: its dialogue, the requests of either side, and its end."""

from collections.abc import Callable

from tillhouse.kit.network import literal_of
from tillhouse.providers.telephony.sip import sdp
from tillhouse.providers.telephony.sip.dialogue import Dialogue, host_port, is_within
from tillhouse.providers.telephony.sip.media import RtpSession
from tillhouse.providers.telephony.sip.message import Header, Request, Response, write_request
from tillhouse.providers.telephony.sip.own_side import Authorization, OwnSide, new_branch
from tillhouse.providers.telephony.sip.transactions import (
    Acknowledged,
    ClientTransaction,
    KeptAnswers,
)
from tillhouse.providers.telephony.sip.user_agent import NOT_ALLOWED, UserAgent, response_to
from tillhouse.providers.telephony.sip.wire import Wire

_CHALLENGED = (401, 407)
_NO_CALL = (481, "Call/Transaction Does Not Exist")
_UNACKNOWLEDGED_MAX = 4


class SipConversation:
    """One dialogue, from our ACK to the end of its last transaction."""

    def __init__(  # noqa: PLR0913 - it is told everything once
        self,
        agent: UserAgent,
        wire: Wire,
        side: OwnSide,
        dialogue: Dialogue,
        authorization: Authorization,
        describe: Callable[[], sdp.Own],
        media: RtpSession | None,
        over: Callable[[str], None],
    ) -> None:
        self._agent, self._side, self._dialogue = agent, side, dialogue
        self._authorization, self._describe, self._media = authorization, describe, media
        # Called with "customer" when the other end hangs up, else with the reason of a failure.
        self._over = over
        self._first_wire = wire
        self._extra_wires: list[Wire] = []
        self._acknowledgement = b""
        self._kept = KeptAnswers()
        self._unacknowledged: dict[int, Acknowledged] = {}
        self._offered: set[int] = set()
        self._byes: dict[str, ClientTransaction] = {}
        self.is_over = False

    @property
    def other_tag(self) -> str:
        """The tag that tells this dialogue from others of the same call."""
        return self._dialogue.other_tag

    def _wire(self) -> Wire:
        """The wire to the next hop; the first one where that is a name, or is forbidden."""
        hop = self._dialogue.next_hop()
        if hop is None or literal_of(hop.host) is None:
            return self._first_wire
        peer = host_port(hop)
        wires = [self._first_wire, *self._extra_wires]
        known = next((wire for wire in wires if wire.peer == peer), None)
        if known is not None:
            return known
        try:
            opened = self._agent.wire_to(peer, self._first_wire.local)
        except OSError:
            return self._first_wire
        self._extra_wires.append(opened)
        return opened

    def _request(self, method: str, cseq: int, branch: str, more: list[Header]) -> bytes:
        uri, routes = self._dialogue.request_line_and_routes()
        common = self._side.headers(self._wire(), method, cseq, branch, other=self._dialogue.other)
        return write_request(method, uri, [*common, *routes, *more])

    def acknowledge(self, cseq: int, credentials: list[Header]) -> None:
        """Send the ACK of the 2xx; the same one each time that the 2xx comes again."""
        if not self._acknowledgement:
            self._acknowledgement = self._request("ACK", cseq, new_branch(), credentials)
        self._wire().send(self._acknowledgement)

    def hang_up(self) -> None:
        """Send BYE."""
        if self.is_over:
            return
        self.is_over = True
        self._authorization.begin()
        self._stop_repeating()
        self._send_bye()

    def _send_bye(self) -> None:
        self._dialogue.own_cseq += 1
        branch = new_branch()
        uri, _ = self._dialogue.request_line_and_routes()
        credentials = self._authorization.headers("BYE", uri)
        self._byes[branch] = ClientTransaction(
            self._wire(),
            self._request("BYE", self._dialogue.own_cseq, branch, credentials),
            self._agent.timing,
            is_invite=False,
            respond=self._answered_bye,
            fail=lambda _: None,
        )

    def _answered_bye(self, response: Response) -> None:
        if response.status in _CHALLENGED and self._authorization.learn(response):
            self._send_bye()

    def take_response(self, response: Response) -> bool:
        """Take a response to our BYE; False when it is none."""
        bye = self._byes.get(response.via.branch)
        if bye is None or response.method != "BYE":
            return False
        bye.receive(response, lambda _: b"")
        return True

    def has(self, request: Request) -> bool:
        """Whether a request of the other end is of this dialogue."""
        return is_within(self._dialogue, request, self._side.tag)

    def take_request(self, wire: Wire, request: Request) -> bool:
        """Take a request of this dialogue; False for an ACK that matches no request."""
        if request.method == "ACK":
            return self._take_ack(request)
        kept = self._kept.find(request)
        if kept is not None:
            wire.send(kept)
            return True
        if request.method == "CANCEL":
            # Everything is answered at once, so there is nothing left to cancel.
            self._answer(wire, request, 200, "OK")
            return True
        if not self._dialogue.is_new(request):
            self._agent.counts.strays += 1
            self._answer(wire, request, 500, "Out of Order")
            return True
        self._do(wire, request)
        return True

    def _do(self, wire: Wire, request: Request) -> None:
        if self.is_over and request.method != "BYE":
            self._answer(wire, request, *_NO_CALL)
        elif request.method == "BYE":
            self._answer(wire, request, 200, "OK")
            self._end("customer")
        elif request.values("require"):
            unsupported = ("unsupported", ", ".join(request.values("require")))
            self._answer(wire, request, 420, "Bad Extension", [unsupported])
        elif request.method in ("INVITE", "UPDATE"):
            self._change(wire, request)
        elif request.method == "OPTIONS":
            self._answer(wire, request, 200, "OK", [("accept", "application/sdp")])
        else:
            self._answer(wire, request, *NOT_ALLOWED)

    def _answer(
        self,
        wire: Wire,
        request: Request,
        status: int,
        reason: str,
        headers: list[Header] | None = None,
        body: bytes = b"",
    ) -> None:
        answer = response_to(wire, request, status, reason, headers or [], body)
        self._kept.keep(request, answer)
        if request.method != "INVITE":
            wire.send(answer)
            return
        self._unacknowledged[request.cseq] = Acknowledged(
            lambda: wire.send(answer),
            self._agent.timing,
            lambda: self._end("no ACK") if status < 300 else None,
        )

    def _change(self, wire: Wire, request: Request) -> None:
        """Answer a re-INVITE or an UPDATE: another address, a hold, or a sign of life."""
        if len(self._unacknowledged) >= _UNACKNOWLEDGED_MAX:
            return
        self._dialogue.refresh(request)
        headers = [self._side.contact(wire)]
        if not request.body:
            body = b""
            if request.method == "INVITE":
                self._offered.add(request.cseq)
                body = sdp.offer(self._describe())
                headers.append(("content-type", "application/sdp"))
            self._answer(wire, request, 200, "OK", headers, body)
            return
        try:
            session = sdp.parse(request.body)
        except sdp.Unusable:
            self._answer(wire, request, 488, "Not Acceptable Here")
            return
        self.begin(session)
        headers.append(("content-type", "application/sdp"))
        self._answer(wire, request, 200, "OK", headers, sdp.answer(self._describe(), session))

    def begin(self, session: sdp.SessionDescription) -> None:
        """Talk to the other end's session."""
        if self._media is None:
            return
        hosts = {self._first_wire.peer[0]}
        if session.host not in hosts and self._agent.may_send_to(session.host):
            hosts.add(session.host)
        self._media.begin(session, frozenset(hosts))

    def _take_ack(self, request: Request) -> bool:
        waiting = self._unacknowledged.pop(request.cseq, None)
        if waiting is None:
            return False
        waiting.stop()
        if request.cseq in self._offered:
            self._offered.discard(request.cseq)
            try:
                self.begin(sdp.parse(request.body))
            except sdp.Unusable:
                self._end("no usable answer to our offer")
        return True

    def _end(self, why: str) -> None:
        if self.is_over:
            return
        if why == "customer":
            self.is_over = True
            self._stop_repeating()
        else:
            self.hang_up()
        self._over(why)

    def _stop_repeating(self) -> None:
        for waiting in self._unacknowledged.values():
            waiting.stop()

    def close(self) -> None:
        """Repeat nothing any more, and free the resources of this dialogue."""
        self._stop_repeating()
        for bye in self._byes.values():
            bye.close()
        for wire in self._extra_wires:
            self._agent.release(wire)
        self._extra_wires.clear()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing of ours is still to be answered."""
        return all(bye.is_over for bye in self._byes.values())
