"""One call, from the INVITE to the last repetition after its end."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable

from tillhouse.providers.telephony.line_sound import until_end
from tillhouse.providers.telephony.provider import (
    Answered,
    Audio,
    Dial,
    Happening,
    LineEnded,
    Party,
    Ringing,
)
from tillhouse.providers.telephony.sip import sdp
from tillhouse.providers.telephony.sip.conversation import SipConversation
from tillhouse.providers.telephony.sip.dialogue import answered
from tillhouse.providers.telephony.sip.invitation import Invitation, InvitationHandlers
from tillhouse.providers.telephony.sip.media import RtpSession
from tillhouse.providers.telephony.sip.message import Request, Response
from tillhouse.providers.telephony.sip.own_side import Authorization
from tillhouse.providers.telephony.sip.plan import SipPlan
from tillhouse.providers.telephony.sip.results import not_reached, refused
from tillhouse.providers.telephony.sip.user_agent import UserAgent
from tillhouse.providers.telephony.sip.wire import Wire

# A call that was forked to more telephones than that isn't answered by honest ones.
_FORKS_MAX = 8
_LOOKS_PER_TIMEOUT = 8
_TERMINATED = 487
_CHALLENGED = (401, 407)


class SipLine:
    """A call under way; every method returns at once, and timers and datagrams do the rest."""

    def __init__(
        self, agent: UserAgent, dial: Dial, plan: SipPlan, wire: Wire, media: RtpSession,
        forget: "Callable[[SipLine], None]",
    ) -> None:  # fmt: skip
        self.party: Party | Audio | None = None
        self.media = media
        self._agent, self._dial, self._plan, self._wire = agent, dial, plan, wire
        self._forget = forget
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Happening] = asyncio.Queue()
        self._side = plan.side
        self._authorization = Authorization(plan.credentials)
        self._session_id, self._version = secrets.randbits(31), 0
        heard = InvitationHandlers(self._ringing, self._answered, self._refused, self._silent)
        self._invitation = Invitation(
            wire,
            self._side,
            agent.timing,
            self._authorization,
            plan.uri,
            lambda: sdp.offer(self._describe()),
            heard,
        )
        self._conversation: SipConversation | None = None
        self._forks: dict[str, SipConversation] = {}
        self._rings = False
        self._is_told_over = False
        self._wants_end = False
        self._ring_is_over = False
        self._timers: list[asyncio.TimerHandle] = []

    def start(self) -> None:
        """Send the INVITE."""
        self._agent.register(self._side.call_id, self)
        self._after(self._dial.ring_within.total_seconds(), self._stop_ringing)
        self._invitation.send()

    def events(self) -> AsyncIterator[Happening]:
        """Everything that happens, the end last."""
        return until_end(self._events)

    async def hang_up(self) -> None:
        """Take the call back before the answer, or end it after."""
        self.end_now()

    def end_now(self) -> None:
        """Hang up; the events tell when it is over."""
        if self._is_told_over or self._wants_end:
            return
        self._wants_end = True
        if self._conversation is None:
            self._invitation.cancel()
        else:
            self._conversation.hang_up()
            self._end(LineEnded(result="hung_up", ended_by="agent"))

    def _describe(self) -> sdp.Own:
        self._version += 1
        return sdp.Own(
            session_id=self._session_id,
            version=self._version,
            host=self._side.host or self._wire.local[0],
            port=self.media.port,
        )

    def _ringing(self) -> None:
        if not self._rings and not self._is_told_over and self._conversation is None:
            self._rings = True
            self._events.put_nowait(Ringing(self._side.call_id))

    def _stop_ringing(self) -> None:
        if self._conversation is None and not self._is_told_over:
            self._ring_is_over = True
            self._invitation.cancel()

    def _refused(self, response: Response) -> None:
        is_ours = response.status == _TERMINATED
        if self._wants_end and (is_ours or response.status in _CHALLENGED):
            ended = LineEnded(result="cancelled", ended_by="agent", sip_status=response.status)
        elif is_ours and self._ring_is_over:
            ended = LineEnded(
                result="no_answer", ended_by="system", detail="nobody answered in time",
                sip_status=response.status,
            )  # fmt: skip
        else:
            ended = refused(response)
            self._agent.counts.refused += 1
        self._end(ended)

    def _silent(self, why: str) -> None:
        was_reached = self._invitation.was_reached
        if self._wants_end:
            ended = LineEnded(result="cancelled", ended_by="agent", detail=why)
        elif self._ring_is_over and was_reached:
            ended = LineEnded(result="no_answer", ended_by="system", detail=why)
        else:
            ended = not_reached(why, was_reached=was_reached)
        self._end(ended)

    def _answered(self, response: Response) -> None:
        tag = response.recipient.tag
        conversation = self._conversation
        if conversation is not None and conversation.other_tag == tag:
            conversation.acknowledge(response.cseq, self._invitation.credentials)
        elif conversation is not None or self._is_told_over:
            self._decline_fork(response)
        else:
            self._begin(response)

    def _decline_fork(self, response: Response) -> None:
        """Acknowledge the answer of another telephone, and hang up there."""
        fork = self._forks.get(response.recipient.tag)
        if fork is None:
            if len(self._forks) >= _FORKS_MAX:
                self._agent.counts.strays += 1
                return
            fork = self._forks[response.recipient.tag] = self._new(response, None)
        fork.acknowledge(response.cseq, self._invitation.credentials)
        fork.hang_up()

    def _new(self, response: Response, media: RtpSession | None) -> SipConversation:
        dialogue = answered(response, request_uri=self._plan.uri, own=self._side.own)
        return SipConversation(
            self._agent, self._wire, self._side, dialogue, self._authorization,
            self._describe, media, self._over,
        )  # fmt: skip

    def _begin(self, response: Response) -> None:
        try:
            session, why = sdp.parse(response.body), ""
        except sdp.Unusable as error:
            session, why = None, str(error)
        conversation = self._conversation = self._new(response, self.media)
        conversation.acknowledge(response.cseq, self._invitation.credentials)
        if self._ring_is_over and not self._wants_end:
            # It crossed our CANCEL: the attempt was over, so no open line may remain.
            conversation.hang_up()
            detail = "it was answered after its time"
            self._end(LineEnded(result="no_answer", ended_by="system", detail=detail))
            return
        if session is None:
            conversation.hang_up()
            self._end(
                LineEnded(
                    result="codec", ended_by="system", detail=why, sip_status=200, may_retry=False
                )
            )
            return
        self.party = self.media
        self._agent.counts.answered += 1
        self._events.put_nowait(Answered(provider_call_id=self._side.call_id))
        conversation.begin(session)
        if self._wants_end:
            conversation.hang_up()
            self._end(LineEnded(result="hung_up", ended_by="agent"))
            return
        self._stop_timers()
        too_long = LineEnded(result="max_duration", ended_by="system")
        self._after(self._dial.talk_within.total_seconds(), lambda: self._hang_up_with(too_long))
        self._look()

    def _look(self) -> None:
        """Look from time to time whether the other side is still heard."""
        limit = self._agent.timing.media_lost
        if not self.media.is_expected:
            self.media.heard_at = self._loop.time()
        elif self._loop.time() - self.media.heard_at > limit:
            detail = f"no sound came for {limit:g} s"
            self._hang_up_with(LineEnded(result="media_lost", ended_by="system", detail=detail))
            return
        self._after(limit / _LOOKS_PER_TIMEOUT, self._look)

    def _hang_up_with(self, ended: LineEnded) -> None:
        if self._conversation is not None and not self._is_told_over:
            self._conversation.hang_up()
            self._end(ended)

    def _over(self, why: str) -> None:
        if why == "customer":
            self._end(LineEnded(result="hung_up", ended_by="customer"))
        else:
            self._end(LineEnded(result="network", ended_by="provider", detail=why, may_retry=False))

    def _end(self, ended: LineEnded) -> None:
        """Tell the end, once; repeated requests are still answered for a while."""
        if self._is_told_over:
            return
        self._is_told_over = True
        self._stop_timers()
        self.media.close()
        self._events.put_nowait(ended)
        self._after(self._agent.timing.transaction, self.close)

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        now = self._loop.time()
        self._timers = [one for one in self._timers if not one.cancelled() and one.when() > now]
        self._timers.append(self._loop.call_later(seconds, then))

    def _stop_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def take_response(self, response: Response) -> bool:
        """Take a response; False when it answers nothing that was asked."""
        return self._invitation.receive(response) or any(
            one.take_response(response) for one in self._conversations()
        )

    def take_request(self, wire: Wire, request: Request) -> bool:
        """Take a request; False when it is of no dialogue of this call."""
        for conversation in self._conversations():
            if conversation.has(request):
                return conversation.take_request(wire, request)
        return False

    def _conversations(self) -> list[SipConversation]:
        own = [self._conversation] if self._conversation is not None else []
        return [*own, *self._forks.values()]

    @property
    def is_quiet(self) -> bool:
        """Whether it is over, and the other side knows."""
        return self._is_told_over and all(one.is_quiet for one in self._conversations())

    def close(self) -> None:
        """Forget the call: nothing of it is answered any more, and it is told to be over."""
        self._end(LineEnded(result="cancelled", ended_by="system", detail="the process stopped"))
        self._stop_timers()
        self._invitation.close()
        for conversation in self._conversations():
            conversation.close()
        self.media.close()
        self._agent.forget(self._side.call_id)
        self._agent.release(self._wire)
        self._forget(self)
