"""The other side of a line with sound, talked to by text: engines speak and hear, keys are keys.

The line's own time is the sound that was played and heard on it. Everything heard has the moment
at which it began, and the rules of turns say whether it answers, interrupts, or is a greeting.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from tillhouse.providers.telephony.provider import (
    FRAME,
    Audio,
    Digit,
    Expected,
    HeardSentence,
    Manner,
    PartyReply,
)
from tillhouse.voice.speech import turn_rules as rules
from tillhouse.voice.speech.machines import MachineDetector
from tillhouse.voice.speech.overhearing import Overhearing, Segment
from tillhouse.voice.speech.protocols import HeardWords, Hears, NotHeard, NotSpoken, Speaks
from tillhouse.voice.speech.saying import Saying, SpokenText
from tillhouse.voice.speech.utterances import Utterance, Utterances

# A pause of so long ends a row of keys.
KEYS_PAUSE_S = 3.0
_LAST_KEY = "#"
# A customer who talks may finish for so long before the agent speaks.
_LETS_FINISH_S = 5.0
# The greeting of a machine is waited for so long; one that may be a person's, for so long.
_GREETS_S_MAX = 45.0
_UNSURE_S_MAX = 5.0
# An answer that was begun in time may last so long.
_ANSWER_S_MAX = 25.0


class LineEngines(msgspec.Struct, frozen=True):
    """The engines of one line, and the language that they speak and hear there."""

    # None: sounds of prompts are played, and nothing else is said.
    speaks: Speaks | None
    # None: customers answer by keys.
    hears: Hears | None
    language: str


class SpokenParty:
    """A `Party` made of `Audio`."""

    def __init__(self, audio: Audio, engines: LineEngines, now: Callable[[], datetime]) -> None:
        self._audio, self._engines, self._now = audio, engines, now
        # Keys and utterances that may be answers, as they come.
        self._came: asyncio.Queue[Segment | None] = asyncio.Queue()
        self._overhearing = Overhearing(self._words)
        self._utterances, self._machine = Utterances(), MachineDetector()
        # The moment at which the utterance began that is under way.
        self._began = rules.PlaybackMoment(0, 0)
        self._saying = Saying(audio, rules.START, now)
        # How many texts were begun that ask.
        self._questions = 0
        self._moved = asyncio.Event()
        self._is_over = False
        self._listening = asyncio.ensure_future(self._follow())

    async def _follow(self) -> None:
        async for heard in self._audio.heard():
            if isinstance(heard, Digit):
                self._press(heard.key)
            else:
                self._take(heard)
            self._moved.set()
        rest = self._utterances.finish()
        if rest is not None and self._engines.hears is not None:
            # Words that the end of the line cut may have been meant otherwise.
            self._overhearing.take(self._segment(rest))
        self._is_over = True
        self._came.put_nowait(None)
        self._saying.interrupt()
        self._moved.set()

    def _press(self, key: str) -> None:
        moment, now = self._saying.moment, self._now()
        self._came.put_nowait(Segment(moment=moment, began=now, ended=now, key=key))
        if rules.cuts(self._saying.asking, moment, is_key=True):
            self._saying.interrupt()

    def _take(self, frame: bytes) -> None:
        over = self._utterances.take(frame)
        if self._questions <= 1:
            is_loud, is_opening = self._utterances.is_loud, not self._questions
            self._machine.take(frame, is_loud=is_loud, is_opening=is_opening)
        if self._utterances.begins:
            self._began = self._saying.moment
        if self._engines.hears is None:
            return
        if over is not None:
            self._came.put_nowait(self._segment(over))
        elif self._utterances.interrupts and rules.cuts(
            self._saying.asking, self._began, is_key=False
        ):
            self._saying.interrupt()

    def _segment(self, utterance: Utterance) -> Segment:
        now = self._now()
        return Segment(
            moment=self._began,
            began=now - FRAME * utterance.began_ago,
            ended=now - FRAME * utterance.ended_ago,
            sound=utterance.sound,
        )

    async def say(
        self, text: str, sound: bytes | None = None, *, manner: Manner = "statement"
    ) -> Sequence[HeardSentence]:
        """Say it, or play its sound; a cut text is said again, without its heard part."""
        said: list[HeardSentence] = []
        asks = manner in ("question", "open")
        self._questions += asks
        rest, cuts = rules.sentences(text) if sound is None else [text], 0
        while rest:
            attempt = SpokenText(parts=rest, sound=sound, manner=manner, cuts=cuts)
            saying = await self._begin(attempt)
            if self._is_over:
                break
            cut_at = await saying.play(attempt)
            said.extend(saying.heard())
            if self._is_over or self._has_answer(saying):
                break
            if cut_at is None and not await self._is_talked_over(saying):
                break
            # The words after the question are left out the next time.
            end = rules.asking_part(rest) + 1 if asks else len(rest)
            again_at = end - 1 if cut_at is None else min(cut_at, end - 1)
            rest, cuts = rest[again_at:end], cuts + 1
        return said

    async def _is_talked_over(self, saying: Saying) -> bool:
        """Whether the customer began within the end of a question, and hasn't answered since."""
        asking = saying.asking
        is_within = self._hears_talk and self._began.number == asking.number
        if asking.manner != "question" or asking.cuts >= rules.CUTS_MAX or not is_within:
            return False
        await self._let_finish()
        # Noise that began there is known to be noise by now.
        is_talk = self._utterances.has_begun or any(one.key is None for one in self._waiting())
        return is_talk and not self._is_over and not self._has_answer(saying)

    async def _begin(self, attempt: SpokenText) -> Saying:
        """Wait until the customer pauses; the words until now were no answer to it."""
        is_spoken = attempt.sound is None
        first = asyncio.ensure_future(self._spoken(attempt.parts[0])) if is_spoken else None
        try:
            await self._let_finish()
            sound = await first if first is not None else attempt.sound
        finally:
            if first is not None:
                first.cancel()
        self._pass_over()
        asking = rules.Asking(
            number=self._saying.asking.number + 1, manner=attempt.manner, cuts=attempt.cuts
        )
        self._saying = Saying(self._audio, asking, self._now, self._spoken, sound)
        if self._is_over:
            self._saying.interrupt()
        return self._saying

    def _has_answer(self, saying: Saying) -> bool:
        """Whether the customer cut it by an answer, or is listened to in any case."""
        if saying.asking.manner == "open":
            return True
        under_way = [self._began] if self._utterances.has_begun else []
        waiting = [one.moment for one in self._waiting()]
        return saying.asking.manner == "question" and any(
            rules.answers(saying.asking, moment) for moment in (*under_way, *waiting)
        )

    async def _let_finish(self) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + _LETS_FINISH_S
        while self._hears_talk and not self._is_over and loop.time() < until:
            await self._move(until)

    @property
    def _hears_talk(self) -> bool:
        return self._engines.hears is not None and self._utterances.is_talking

    async def _move(self, until: float) -> None:
        """Wait until something is heard, but not for ever."""
        self._moved.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._moved.wait()

    def _waiting(self) -> list[Segment]:
        """Everything that came and wasn't looked at, which stays there."""
        waiting: list[Segment] = []
        while not self._came.empty():
            segment = self._came.get_nowait()
            if segment is not None:
                waiting.append(segment)
        for segment in waiting:
            self._came.put_nowait(segment)
        return waiting

    def _pass_over(self, asking: rules.Asking | None = None) -> None:
        """Everything that came answers nothing, but for answers to this."""
        for segment in self._waiting():
            self._came.get_nowait()
            if asking is not None and rules.is_heard_out(asking, segment.moment):
                self._came.put_nowait(segment)
            else:
                self._overhearing.take(segment)

    async def _spoken(self, text: str) -> bytes:
        if self._engines.speaks is None:
            raise NotSpoken("there is no engine that speaks")
        return await self._engines.speaks.speak(text, self._engines.language)

    async def listen(self, expected: Expected, within: timedelta) -> PartyReply:
        """Wait so long for an answer; words that began too early for one are overheard."""
        began, asking = self._now(), self._saying.asking
        keys: list[Segment] = []
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within.total_seconds()
        while True:
            came = await self._next(KEYS_PAUSE_S if keys else deadline - loop.time())
            if came is not None and not rules.is_heard_out(asking, came.moment):
                self._overhearing.take(came)
            elif came is None:
                if keys:
                    return self._digits(keys, asking)
                kind = "gone" if self._is_over else "nothing"
                return PartyReply(kind=kind, started_at=began, ended_at=self._now())
            elif came.key is None:
                words = await self._words(came.sound, expected.phrases)
                if words is not None and not keys:
                    return _text(came, words, asking)
            elif came.key != _LAST_KEY and len(keys) + 1 < expected.digits_max:
                keys.append(came)
            elif came.key in expected.keys:
                return self._digits([came], asking)
            elif expected.digits_max:
                return self._digits([*keys, came] if came.key != _LAST_KEY else keys, asking, came)

    def _digits(
        self, keys: list[Segment], asking: rules.Asking, last: Segment | None = None
    ) -> PartyReply:
        ends = last or keys[-1]
        first = (*keys, ends)[0]
        return PartyReply(
            kind="digits",
            text="".join(one.key or "" for one in keys),
            started_at=first.began,
            ended_at=ends.ended,
            is_early=not rules.answers(asking, first.moment),
        )

    async def _next(self, seconds: float) -> Segment | None:
        """The next that comes; None when nothing does in time, or the line is over."""
        limit_s = seconds
        while not (self._is_over and self._came.empty()):
            try:
                async with asyncio.timeout(limit_s):
                    return await self._came.get()
            except TimeoutError:
                # Somebody who has begun to answer is heard out.
                if limit_s == _ANSWER_S_MAX or not self._hears_answer:
                    return None
                limit_s = _ANSWER_S_MAX
        return None

    @property
    def _hears_answer(self) -> bool:
        return self._engines.hears is not None and self._utterances.has_begun

    async def _words(self, sound: bytes, phrases: tuple[str, ...]) -> HeardWords | None:
        hears = self._engines.hears
        if hears is None:
            return None
        try:
            return await hears.hear(sound, phrases, self._engines.language)
        except NotHeard:
            # A customer who isn't understood is asked again.
            return None

    async def is_machine(self) -> bool:
        """Whether a machine answered, as far as its greeting tells; True once that is over."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while not self._is_over and self._is_greeting():
            until = began + (_GREETS_S_MAX if self._machine.is_machine else _UNSURE_S_MAX)
            if loop.time() >= until:
                break
            await self._move(until)
        return self._machine.is_machine and not self._is_over

    def _is_greeting(self) -> bool:
        """Whether somebody greets who may be a machine, or a machine isn't done."""
        if self._machine.is_machine:
            return not self._machine.is_over
        return self._machine.is_greeted and not self._questions

    async def overheard(self, within: timedelta) -> Sequence[PartyReply]:
        """Everything said or pressed that answered nothing, once; it is waited for so long."""
        self._pass_over(self._saying.asking)
        return await self._overhearing.found(within)

    def close(self) -> None:
        """Listen no more."""
        self._listening.cancel()
        self._overhearing.close()


def _text(segment: Segment, words: HeardWords, asking: rules.Asking) -> PartyReply:
    return PartyReply(
        kind="text",
        text=words.text,
        started_at=segment.began,
        ended_at=segment.ended,
        confidence=words.confidence,
        is_early=not rules.answers(asking, segment.moment),
    )
