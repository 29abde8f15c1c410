"""An invitation: INVITE until somebody answers for good, with challenges and CANCEL."""

import asyncio
from collections.abc import Callable

import msgspec

from tillhouse.providers.telephony.sip.message import Header, Response, write_request
from tillhouse.providers.telephony.sip.own_side import (
    ALLOWED,
    Authorization,
    OwnSide,
    new_branch,
)
from tillhouse.providers.telephony.sip.transactions import ClientTransaction, SipTiming
from tillhouse.providers.telephony.sip.wire import Wire

_CHALLENGED = (401, 407)


class InvitationHandlers(msgspec.Struct, frozen=True):
    """The functions that an invitation calls with its answers."""

    # A telephone rings; somebody answered, perhaps again; a final response says no.
    ringing: Callable[[], None]
    answered: Callable[[Response], None]
    refused: Callable[[Response], None]
    # The call wasn't answered, for this reason.
    silent: Callable[[str], None]


class Invitation:
    """The INVITE of one call, as often as it has to be written anew."""

    def __init__(  # noqa: PLR0913 - it is told everything once
        self,
        wire: Wire,
        side: OwnSide,
        timing: SipTiming,
        authorization: Authorization,
        uri: str,
        offer: Callable[[], bytes],
        heard: InvitationHandlers,
    ) -> None:
        self._wire, self._side, self._timing = wire, side, timing
        self._authorization, self.uri, self._offer = authorization, uri, offer
        self._heard = heard
        self._transactions: dict[str, ClientTransaction] = {}
        self._cseqs: dict[str, int] = {}
        self._branch = ""
        self.cseq = 0
        self.credentials: list[Header] = []
        self.was_reached = False
        self._is_cancelled = False
        self._is_cancel_sent = False
        self._giving_up: asyncio.TimerHandle | None = None

    def send(self) -> None:
        """Send the INVITE, with answers to the challenges until now."""
        self.cseq += 1
        self._branch = new_branch()
        self.credentials = self._authorization.headers("INVITE", self.uri)
        headers = [
            *self._side.headers(self._wire, "INVITE", self.cseq, self._branch),
            self._side.contact(self._wire),
            ("allow", ALLOWED),
            *self.credentials,
            ("content-type", "application/sdp"),
        ]
        request = write_request("INVITE", self.uri, headers, self._offer())
        self._cseqs[self._branch] = self.cseq
        self._transactions[self._branch] = ClientTransaction(
            self._wire,
            request,
            self._timing,
            is_invite=True,
            respond=self._take,
            fail=self._heard.silent,
        )

    def receive(self, response: Response) -> bool:
        """Take a response; False when it answers nothing that was asked here."""
        branch = response.via.branch
        transaction = self._transactions.get(branch)
        if transaction is None or response.cseq != self._cseqs[branch]:
            return False
        if response.method == "CANCEL":
            return self._receive_of_cancel(response)
        if response.method != "INVITE":
            return False
        transaction.receive(response, self._acknowledgement)
        return True

    def _acknowledgement(self, response: Response) -> bytes:
        """The ACK of a response that says no: part of the same transaction."""
        headers = self._side.headers(
            self._wire, "ACK", response.cseq, response.via.branch, other=response.first("to")
        )
        return write_request("ACK", self.uri, headers)

    def _take(self, response: Response) -> None:
        if response.is_provisional:
            self._progress(response)
        elif response.status < 300:
            self._stop_giving_up()
            self._heard.answered(response)
        elif response.cseq == self.cseq:
            self._finish(response)

    def _progress(self, response: Response) -> None:
        if response.status > 100:
            self.was_reached = True
        if self._is_cancelled and not self._is_cancel_sent:
            self._send_cancel()
        elif response.status > 100:
            self._heard.ringing()

    def _finish(self, response: Response) -> None:
        is_asked = response.status in _CHALLENGED and not self._is_cancelled
        if is_asked and self._authorization.learn(response):
            self._side.learn(response)
            self.send()
            return
        self._stop_giving_up()
        self._heard.refused(response)

    def cancel(self) -> None:
        """Take the invitation back, once the other end is known to have it."""
        self._is_cancelled = True
        transaction = self._transactions[self._branch]
        if transaction.is_proceeding and not self._is_cancel_sent:
            self._send_cancel()

    def _send_cancel(self) -> None:
        self._is_cancel_sent = True
        headers = self._side.headers(self._wire, "CANCEL", self.cseq, self._branch)
        request = write_request("CANCEL", self.uri, headers)
        self._cancelling = ClientTransaction(
            self._wire,
            request,
            self._timing,
            is_invite=False,
            respond=lambda _: None,
            fail=lambda _: None,
        )
        # The 487 may never come: older agents know none.
        loop = asyncio.get_running_loop()
        self._giving_up = loop.call_later(self._timing.transaction, self._give_up)

    def _receive_of_cancel(self, response: Response) -> bool:
        """Take the answer to our CANCEL, which has the branch of the INVITE."""
        if not self._is_cancel_sent or response.via.branch != self._branch:
            return False
        self._cancelling.receive(response, self._acknowledgement)
        return True

    def _give_up(self) -> None:
        self._transactions[self._branch].close()
        self._heard.silent("no answer to CANCEL")

    def _stop_giving_up(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()

    def close(self) -> None:
        """Repeat nothing any more."""
        self._stop_giving_up()
        for transaction in self._transactions.values():
            transaction.close()
        if self._is_cancel_sent:
            self._cancelling.close()
