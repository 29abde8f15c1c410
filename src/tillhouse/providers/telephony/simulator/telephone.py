"""The simulated telephone: its lines follow the clock of their dial, and ring no real telephone.

A voice on it is a tone for each letter, the same for the same text.
"""

import asyncio
import math
from array import array
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from tillhouse.providers.telephony.provider import (
    FRAME_BYTES,
    SAMPLES_PER_SECOND,
    Answered,
    Capability,
    Dial,
    Expected,
    Happening,
    HeardSentence,
    LineEnded,
    Manner,
    PartyReply,
    ProviderName,
    Ringing,
    words_until,
)
from tillhouse.providers.telephony.simulator.rules import (
    RINGS_FIRST,
    Chance,
    SimulatedPerson,
    person_at,
    played_s,
    reply_of,
    spoken_s,
)

# After so many answers somebody who is in a hurry hangs up.
_PATIENCE = 1
_BREAKS_AFTER_S = 4.0
_FRAMES_PER_S = 50
_SAMPLES = FRAME_BYTES // 2
_VOLUME = 8_000
# A letter sounds so long.
_FRAMES_PER_LETTER = 4


class Simulator:
    """A telephone network on which each number behaves as its end says."""

    name: ProviderName = "simulator"
    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    async def dial(self, dial: Dial) -> "SimulatedLine":
        """Begin an attempt."""
        return SimulatedLine(dial, Chance(self._seed, dial.to, dial.attempt))

    async def find_outcome(self, dial: Dial) -> LineEnded | None:
        """Nothing is left of a line once its worker has gone."""
        return None

    async def close(self) -> None:
        """Nothing is open."""


class SimulatedLine:
    """One simulated call; the line is the party as well."""

    party: "SimulatedLine | None" = None

    def __init__(self, dial: Dial, chance: Chance) -> None:
        self._dial = dial
        self._clock = dial.clock
        self._chance = chance
        self._person: SimulatedPerson = person_at(dial.to, dial.attempt)
        self._ended: asyncio.Future[LineEnded] = asyncio.get_running_loop().create_future()
        self._answered_at: datetime | None = None
        self._answers = 0

    @property
    def _call_id(self) -> str:
        return f"simulated.{self._dial.attempt_id.hex}"

    async def events(self) -> AsyncIterator[Happening]:
        """Ring, answer, end, as the number says."""
        person = self._person
        await self._clock.sleep(RINGS_FIRST.total_seconds())
        if person.refuses is None or person.rings:
            if not self._ended.done():
                yield Ringing(self._call_id)
            await self._ring(person)
        if person.refuses is not None:
            ended_by = "customer" if person.refuses in ("busy", "declined") else "provider"
            self._end(
                LineEnded(
                    result=person.refuses,
                    ended_by=ended_by,
                    detail=person.detail,
                    sip_status=person.sip_status,
                )
            )
        if not self._ended.done():
            self._answered_at = self._clock.now()
            self.party = self
            yield Answered("machine" if person.is_machine else "human", self._call_id)
        yield await self._ended

    async def _ring(self, person: SimulatedPerson) -> None:
        ring_s = self._chance.seconds("ring", 2.0, 9.0)
        limit_s = self._dial.ring_within.total_seconds()
        if person.refuses == "no_answer" or ring_s > limit_s:
            await self._clock.sleep(limit_s)
            self._end(LineEnded(result="no_answer", ended_by="provider", sip_status=480))
        else:
            await self._clock.sleep(ring_s)

    async def hang_up(self) -> None:
        """End it from here."""
        if self._answered_at is None:
            self._end(LineEnded(result="cancelled", ended_by="system"))
        else:
            self._end(LineEnded(result="hung_up", ended_by="agent"))

    async def say(
        self, text: str, sound: bytes | None = None, *, manner: Manner = "statement"
    ) -> Sequence[HeardSentence]:
        """Say it, or play its sound, as far as the other side listens, which cuts nothing."""
        if self._ended.done() or self._answered_at is None:
            return ()
        seconds = spoken_s(text) if sound is None else played_s(len(sound))
        began = self._clock.now()
        if await self._pass(seconds):
            self._record(tone_of(text, seconds) if sound is None else sound, b"")
        ended = self._clock.now()
        passed_s = (ended - began).total_seconds()
        words = words_until(text, passed_s / seconds if seconds else 1.0)
        return (HeardSentence(text=words, started_at=began, ended_at=ended),) if words else ()

    async def is_machine(self) -> bool:
        """The network has told it with the answer."""
        return False

    async def overheard(self, within: timedelta) -> Sequence[PartyReply]:
        """Simulated people talk when they are asked."""
        return ()

    async def listen(self, expected: Expected, within: timedelta) -> PartyReply:
        """Wait for the person's answer."""
        began = self._clock.now()
        if self._ended.done():
            return PartyReply(kind="gone", started_at=began, ended_at=began)
        reply = reply_of(self._person, expected)
        thinks_s = self._chance.seconds(f"thinks {self._answers}", 0.4, 2.0)
        if reply is None or thinks_s > within.total_seconds():
            return await self._hear_nothing(within.total_seconds())
        self._answers += 1
        kind, words = reply
        seconds = spoken_s(words)
        if not await self._pass(thinks_s):
            return PartyReply(kind="gone", started_at=began, ended_at=self._clock.now())
        self._record(b"", silence(frames_of(thinks_s)))
        started = self._clock.now()
        if not await self._pass(seconds):
            return PartyReply(kind="gone", started_at=started, ended_at=self._clock.now())
        self._record(b"", tone_of(words, seconds))
        ended = self._clock.now()
        if self._person.manner == "hangs_up" and self._answers >= _PATIENCE:
            self._end(LineEnded(result="hung_up", ended_by="customer", sip_status=200))
        return PartyReply(
            kind=kind, text=words, started_at=started, ended_at=ended,
            confidence=1.0 if kind == "text" else None,
        )  # fmt: skip

    async def _hear_nothing(self, seconds: float) -> PartyReply:
        began = self._clock.now()
        is_here = await self._pass(seconds)
        if is_here:
            self._record(b"", silence(frames_of(seconds)))
        kind = "nothing" if is_here else "gone"
        return PartyReply(kind=kind, started_at=began, ended_at=self._clock.now())

    async def _pass(self, seconds: float) -> bool:
        """Let time pass on the line; False when it ends meanwhile, or has ended."""
        if self._ended.done() or self._answered_at is None:
            return False
        lasted_s = (self._clock.now() - self._answered_at).total_seconds()
        limit_s = self._dial.talk_within.total_seconds()
        end = LineEnded(result="max_duration", ended_by="system")
        if self._person.manner == "breaks" and limit_s > _BREAKS_AFTER_S:
            limit_s = _BREAKS_AFTER_S
            end = LineEnded(result="media_lost", ended_by="provider", detail="no sound arrives")
        if lasted_s + seconds >= limit_s:
            await self._clock.sleep(max(0.0, limit_s - lasted_s))
            self._end(end)
        else:
            await self._clock.sleep(seconds)
        return not self._ended.done()

    def _record(self, agent: bytes, customer: bytes) -> None:
        if self._dial.recorder is not None:
            self._dial.recorder.write(agent, customer)

    def _end(self, ended: LineEnded) -> None:
        if not self._ended.done():
            self._ended.set_result(ended)


@lru_cache(maxsize=64)
def _frame(step: int) -> bytes:
    # Multiples of 50 Hz go round whole times in a frame, so that frames join without a click.
    frequency = 300 + 50 * step
    turn = 2 * math.pi * frequency / SAMPLES_PER_SECOND
    return array("h", (round(_VOLUME * math.sin(turn * n)) for n in range(_SAMPLES))).tobytes()


def tone_of(text: str, seconds: float) -> bytes:
    """A text as tones, as long as it takes to say it: PCM16 mono at 8 kHz."""
    frames = round(seconds * _FRAMES_PER_S)
    letters = text or " "
    spoken = (letters[n // _FRAMES_PER_LETTER % len(letters)] for n in range(frames))
    return b"".join(silence(1) if letter == " " else _frame(ord(letter) % 32) for letter in spoken)


def silence(frames: int) -> bytes:
    """Nothing, for so many frames."""
    return bytes(FRAME_BYTES * frames)


def frames_of(seconds: float) -> int:
    """How many frames a time has."""
    return round(seconds * _FRAMES_PER_S)
