"""One call, from the request to Twilio to its final status.

Three sources tell of it: answers to our questions, every second, callbacks, and the stream. The
questions alone are enough; the others are quicker. A status never goes back.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import cast

import msgspec

from tillhouse.providers.payments.provider import NotReached, Unclear
from tillhouse.providers.telephony.line_sound import until_end
from tillhouse.providers.telephony.provider import (
    Answered,
    AnsweredBy,
    Audio,
    Dial,
    Happening,
    LineEnded,
    Party,
    Ringing,
)
from tillhouse.providers.telephony.twilio import messages, results
from tillhouse.providers.telephony.twilio.answers import FINAL, SeenCall, Status, rank
from tillhouse.providers.telephony.twilio.hooks import Update
from tillhouse.providers.telephony.twilio.media_server import MediaStream
from tillhouse.providers.telephony.twilio.plan import TwilioPlan
from tillhouse.providers.telephony.twilio.rest import Denied, Rest, TooMany
from tillhouse.providers.telephony.twilio.stream import StreamAudio


class TwilioTiming(msgspec.Struct, frozen=True, kw_only=True):
    """The pauses and limits of a line."""

    # Twilio is asked so often how a call stands, whatever its callbacks tell.
    ask_every_s: float = 1.0
    # So often it is asked for a call whose answer was lost.
    looks: int = 10
    # The stream comes so long after the answer, or never.
    stream_within: timedelta = timedelta(seconds=10)
    # An end that Twilio doesn't confirm for so long is taken for one.
    gives_up: timedelta = timedelta(seconds=20)


REAL = TwilioTiming()


_RINGING, _TALKING = rank("ringing"), rank("in-progress")


class TwilioLine:
    """A call under way; `run` is its life."""

    def __init__(self, rest: Rest, dial: Dial, plan: TwilioPlan, timing: TwilioTiming) -> None:
        self.party: Party | Audio | None = None
        self.sid: str | None = None
        self._rest, self._dial, self._plan, self._timing = rest, dial, plan, timing
        self._events: asyncio.Queue[Happening] = asyncio.Queue()
        self._changed = asyncio.Event()
        self._status: Status = "queued"
        self._sequence = -1
        self._last: Update | None = None
        self._answered_by: str | None = None
        self._rings = self._is_over = self._wants_end = self._was_asked = False
        # The end that was brought about from here, once Twilio has ended the call.
        self._own_end: LineEnded | None = None
        self._stream: MediaStream | None = None
        self._audio: StreamAudio | None = None
        self._begun_at = self._talking_at = self._stuck_at = dial.clock.now()

    def events(self) -> AsyncIterator[Happening]:
        """Everything that happens, the end last."""
        return until_end(self._events)

    async def hang_up(self) -> None:
        """Take the call back before the answer, or end it after."""
        self._stop(None)

    def tell(self, update: Update) -> None:
        """Take the state of a callback, if it is later than the known one."""
        if self.sid is None:
            self.sid = update.sid
        if update.sid != self.sid or update.sequence <= self._sequence:
            return
        self._sequence = update.sequence
        self._last = update
        self._see(update.status, update.answered_by)

    def begin(self, stream: MediaStream, start: messages.Start) -> bool:
        """The stream starts: somebody has answered."""
        begun = start.start
        is_ours = begun.account_sid == self._plan.credentials.account_sid
        sound = (begun.media_format.encoding, begun.media_format.sample_rate)
        if not is_ours or sound != ("audio/x-mulaw", 8000) or self._is_over:
            return False
        if self.sid is None:
            self.sid = begun.call_sid
        if begun.call_sid != self.sid:
            return False
        self._stream = stream
        self._audio = StreamAudio(stream, start.stream_sid, self._dial.recorder)
        self._see("in-progress", None)
        return True

    def take(self, message: messages.Incoming) -> None:
        """A message of the stream."""
        if self._audio is not None:
            self._audio.take(message)

    def lost(self, why: str) -> None:
        """The stream is over, and the call with it."""
        self._stop(LineEnded(result="media_lost", ended_by="system", detail=why))
        if self._audio is not None:
            self._audio.close()

    async def run(self) -> None:
        """Make the call, and follow it to its end."""
        ended = LineEnded(result="network", ended_by="system", detail="stopped", may_retry=False)
        try:
            ended = await self._make() or await self._follow()
        finally:
            self._finish(ended)

    async def _make(self) -> LineEnded | None:
        """Ask for the call, once; None when it is under way, or may be."""
        if self._wants_end:
            return LineEnded(result="cancelled", ended_by="agent")
        try:
            made = await self._rest.create(self._plan.credentials, self._plan.call)
        except Denied as error:
            return results.denied(error)
        except TooMany as error:
            return results.too_many(error)
        except NotReached as error:
            return LineEnded(result="provider_unavailable", ended_by="provider", detail=str(error))
        except Unclear as error:
            return await self._look_for_it(str(error))
        self.sid = made.sid
        self._see(made.status, made.answered_by)
        return None

    async def _look_for_it(self, why: str) -> LineEnded | None:
        """Find out whether a call was made whose answer was lost."""
        for _ in range(self._timing.looks):
            if self.sid is not None:
                return None
            try:
                found = await self._plan.find(self._rest)
            except (Denied, TooMany, NotReached):
                found = []
            if len(found) == 1:
                self.sid = found[0].sid
                return None
            await self._wait()
        if self.sid is not None:
            return None
        return LineEnded(result="network", ended_by="provider", detail=why, may_retry=False)

    async def _follow(self) -> LineEnded:
        """Ask how it stands, until it is over; end it where that is wished."""
        while True:
            self._watch_limits()
            if self._status in FINAL:
                return self._end_of(self._status)
            if self._wants_end and await self._end_there():
                continue
            now = self._dial.clock.now()
            if self._wants_end and now - self._stuck_at > self._timing.gives_up:
                return self._end_of("canceled" if self.party is None else "completed")
            await self._wait()
            await self._ask()

    async def _ask(self) -> None:
        try:
            seen = await self._rest.fetch(self._plan.credentials, cast("str", self.sid))
        except (Denied, TooMany, NotReached):
            # Callbacks and the stream go on telling.
            return
        self._was_asked = self._audio is not None
        self._see(seen.status, seen.answered_by)

    async def _end_there(self) -> bool:
        """Ask Twilio to end it; whether that told something new."""
        before = self._status
        is_talking = rank(before) >= _TALKING
        try:
            seen: SeenCall = await self._rest.end(
                self._plan.credentials,
                cast("str", self.sid),
                "completed" if is_talking else "canceled",
            )
        except (Denied, TooMany, NotReached, Unclear):
            return False
        self._see(seen.status, seen.answered_by)
        return self._status != before

    async def _wait(self) -> None:
        """Until something is told, or it is time to ask."""
        self._changed.clear()
        told = asyncio.ensure_future(self._changed.wait())
        asks = asyncio.ensure_future(self._dial.clock.sleep(self._timing.ask_every_s))
        try:
            await asyncio.wait({told, asks}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            told.cancel()
            asks.cancel()

    def _see(self, status: Status, answered_by: str | None) -> None:
        self._answered_by = answered_by or self._answered_by
        if self._status in FINAL or rank(status) < rank(self._status):
            return
        if rank(status) == _TALKING > rank(self._status):
            self._talking_at = self._dial.clock.now()
        self._status = status
        self._tell_progress()
        self._changed.set()

    def _tell_progress(self) -> None:
        if rank(self._status) == _RINGING and not self._rings:
            self._rings = True
            self._events.put_nowait(Ringing(self.sid))
        # Twilio connects the stream once it knows, and its answer tells the state.
        is_known = self._answered_by is not None or self._was_asked
        is_told = is_known or not self._plan.call.detects_machines
        if self._audio is not None and self.party is None and is_told:
            self.party = self._audio
            by = _answered_by(self._answered_by)
            self._events.put_nowait(Answered(answered_by=by, provider_call_id=self.sid))

    def _watch_limits(self) -> None:
        """End a call that lasts too long; Twilio has the same limits, and may be late."""
        now = self._dial.clock.now()
        if rank(self._status) < _TALKING:
            if now - self._begun_at > self._dial.ring_within:
                self._stop(LineEnded(result="no_answer", ended_by="system", detail="in time"))
        elif self.party is None:
            if now - self._talking_at > self._timing.stream_within:
                self._stop(
                    LineEnded(result="media_lost", ended_by="provider", detail="no stream came")
                )
        elif now - self._talking_at > self._dial.talk_within:
            self._stop(LineEnded(result="max_duration", ended_by="system"))

    def _stop(self, why: LineEnded | None) -> None:
        """End the call, for this reason; None: the agent hangs up."""
        if self._is_over or self._wants_end:
            return
        self._wants_end, self._own_end = True, why
        self._stuck_at = self._dial.clock.now()
        self._changed.set()

    def _end_of(self, status: Status) -> LineEnded:
        if status == "completed" and self.party is not None:
            return self._end_of_talk()
        if status in ("completed", "canceled") and self._wants_end:
            return self._own_end or LineEnded(result="cancelled", ended_by="agent")
        if status == "completed":
            return LineEnded(result="media_lost", ended_by="provider", detail="no stream came")
        last = self._last
        return results.unanswered(
            status,
            error_code=last.error_code if last else None,
            sip_status=last.sip_status if last else None,
            words=last.words if last else "",
        )

    def _end_of_talk(self) -> LineEnded:
        own = self._own_end
        if own is not None and own.result == "no_answer":
            # It was answered while it was taken back.
            return LineEnded(result="hung_up", ended_by="agent")
        talked = self._dial.clock.now() - self._talking_at
        if talked >= self._dial.talk_within - timedelta(seconds=1):
            return LineEnded(result="max_duration", ended_by="system")
        if own is not None and own.detail not in _GOODBYES:
            return own
        by = "agent" if self._wants_end and own is None else "customer"
        return LineEnded(result="hung_up", ended_by=by)

    def _finish(self, ended: LineEnded) -> None:
        self._is_over = True
        if self._audio is not None:
            self._audio.close()
        if self._stream is not None:
            self._stream.close()
        self._events.put_nowait(ended)


# How a stream ends when the customer hangs up.
_GOODBYES = frozenset({"the stream stopped", "the stream was closed"})
_MACHINES = ("machine", "fax")


def _answered_by(told: str | None) -> AnsweredBy:
    if told == "human":
        return "human"
    return "machine" if told is not None and told.startswith(_MACHINES) else "unknown"
