"""The other side of a line with sound, talked to by text: engines speak and hear, keys are keys."""

import asyncio
import struct
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from tillhouse.providers.telephony.provider import Audio, Digit, Expected, Heard
from tillhouse.voice.speech.hearing import Hears, NotHeard, Words
from tillhouse.voice.speech.speaking import NotSpoken, Speaks

# A pause of so long ends a row of keys.
KEYS_PAUSE_S = 3.0
_LAST_KEY = "#"
# An utterance: as loud as that, ended by so many quiet frames, and never longer than that.
_LOUD = 600
_QUIET_FRAMES = 40
_LEAD_FRAMES = 10
_FRAMES_MAX = 50 * 20


class Utterances:
    """Cuts what is heard into utterances, by its loudness."""

    def __init__(self) -> None:
        self._frames: list[bytes] = []
        self._quiet = 0
        self._is_speech = False

    def take(self, frame: bytes) -> bytes | None:
        """Add 20 ms; the sound of an utterance when it is over."""
        is_loud = _loudness(frame) >= _LOUD
        self._is_speech = self._is_speech or is_loud
        self._quiet = 0 if is_loud else self._quiet + 1
        self._frames.append(frame)
        if not self._is_speech:
            del self._frames[:-_LEAD_FRAMES]
            return None
        if self._quiet < _QUIET_FRAMES and len(self._frames) < _FRAMES_MAX:
            return None
        sound = b"".join(self._frames)
        self._frames, self._quiet, self._is_speech = [], 0, False
        return sound


def _loudness(frame: bytes) -> float:
    samples = struct.unpack(f"<{len(frame) // 2}h", frame)
    return sum(map(abs, samples)) / len(samples) if samples else 0.0


class LineEngines(msgspec.Struct, frozen=True):
    """The engines of one line, and the language that they speak and hear there."""

    # None: sounds of prompts are played, and nothing else is said.
    speaks: Speaks | None
    # None: customers answer by keys.
    hears: Hears | None
    language: str


class SpokenParty:
    """A `Party` made of `Audio`; a key or an utterance stops what is being said."""

    def __init__(self, audio: Audio, engines: LineEngines, now: Callable[[], datetime]) -> None:
        self._audio, self._engines, self._now = audio, engines, now
        # Keys and utterances as they come; None: the line is over.
        self._came: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self._something = asyncio.Event()
        self._is_over = False
        self._listening = asyncio.ensure_future(self._follow())

    async def _follow(self) -> None:
        utterances = Utterances()
        async for heard in self._audio.heard():
            found = heard.key if isinstance(heard, Digit) else self._utterance(utterances, heard)
            if found:
                self._came.put_nowait(found)
                self._something.set()
        self._is_over = True
        self._came.put_nowait(None)
        self._something.set()

    def _utterance(self, utterances: Utterances, frame: bytes) -> bytes | None:
        return utterances.take(frame) if self._engines.hears is not None else None

    async def say(self, text: str, sound: bytes | None = None) -> None:
        """Say it, or play its sound; returns early when the customer talks or the line is over."""
        if sound is None:
            sound = await self._spoken(text)
        self._something.clear()
        if self._is_over or not self._came.empty():
            return
        playing = self._audio.play(sound)
        done = asyncio.ensure_future(playing.done())
        interrupted = asyncio.ensure_future(self._something.wait())
        try:
            await asyncio.wait({done, interrupted}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            playing.stop()
            done.cancel()
            interrupted.cancel()

    async def _spoken(self, text: str) -> bytes:
        if self._engines.speaks is None:
            raise NotSpoken("there is no engine that speaks")
        return await self._engines.speaks.speak(text, self._engines.language)

    async def listen(self, expected: Expected, within: timedelta) -> Heard:
        """Wait so long for an answer; what was said or pressed during `say` counts."""
        began = self._now()
        keys = ""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within.total_seconds()
        while True:
            came = await self._next(KEYS_PAUSE_S if keys else deadline - loop.time())
            if isinstance(came, bytes):
                words = await self._words(came, expected)
                if words is not None and not keys:
                    return self._heard("text", began, words.text, words.confidence)
            elif came and came != _LAST_KEY and len(keys) + 1 < expected.digits_max:
                keys += came
            elif came and came in expected.keys:
                return self._heard("digits", began, came)
            elif came and expected.digits_max:
                return self._heard("digits", began, keys + came if came != _LAST_KEY else keys)
            elif keys:
                return self._heard("digits", began, keys)
            elif not came:
                return self._heard("gone" if self._is_over else "nothing", began)

    async def _next(self, seconds: float) -> str | bytes | None:
        """The next that comes; None when nothing does in time, or the line is over."""
        if self._is_over and self._came.empty():
            return None
        try:
            async with asyncio.timeout(seconds):
                return await self._came.get()
        except TimeoutError:
            return None

    async def _words(self, sound: bytes, expected: Expected) -> Words | None:
        hears = self._engines.hears
        if hears is None:
            return None
        try:
            return await hears.hear(sound, expected.phrases, self._engines.language)
        except NotHeard:
            # A customer who isn't understood is asked again.
            return None

    def _heard(
        self,
        kind: Literal["text", "digits", "nothing", "gone"],
        began: datetime,
        text: str = "",
        confidence: float | None = None,
    ) -> Heard:
        return Heard(
            kind=kind,
            text=text,
            started_at=began,
            ended_at=self._now(),
            confidence=confidence,
        )

    def close(self) -> None:
        """Listen no more."""
        self._listening.cancel()
