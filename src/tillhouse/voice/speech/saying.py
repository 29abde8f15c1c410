"""One text that is being said, sentence by sentence: how far it is, and the part heard."""

import asyncio
import struct
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tillhouse.providers.telephony.provider import Audio, HeardSentence, Manner, Playing
from tillhouse.voice.speech import turn_rules as rules

# A sound begins and ends where it is louder than that.
_AUDIBLE = 200
_SAMPLE_BYTES = 2
_GRAIN = 80


class SpokenText(msgspec.Struct, frozen=True, kw_only=True):
    """Sentences to say, or the words of a sound to play."""

    parts: Sequence[str]
    sound: bytes | None
    manner: Manner
    # So often it was cut before.
    cuts: int


class _Part(msgspec.Struct):
    """A sentence that is played, or was: from where to where its sound is audible."""

    text: str
    length: int
    audible: tuple[int, int]
    playing: Playing

    @property
    def words(self) -> str:
        """The words of it that were heard."""
        return rules.heard_words(self.text, self.audible, self.playing.played)


async def _nothing(_text: str) -> bytes:
    return b""


class Saying:
    """Says one text, until it is over or cut."""

    def __init__(
        self,
        audio: Audio,
        asking: rules.Asking,
        now: Callable[[], datetime],
        speak: Callable[[str], Awaitable[bytes]] = _nothing,
        first: bytes | None = None,
    ) -> None:
        self._audio, self._now, self._speak = audio, now, speak
        self._first = first or b""
        self.asking = asking
        self._parts: list[_Part] = []
        self._cut = asyncio.Event()
        self._began = self._ended = now()

    @property
    def moment(self) -> rules.PlaybackMoment:
        """This moment of it."""
        played = sum(part.playing.played for part in self._parts)
        return rules.PlaybackMoment(self.asking.number, played)

    def interrupt(self) -> None:
        """The customer talks, has pressed a key, or has gone."""
        self._cut.set()

    async def play(self, attempt: SpokenText) -> int | None:
        """Say it; the index of the sentence at which it was cut."""
        self._began = self._now()
        asks_at = rules.asking_part(attempt.parts)
        sound = self._first
        try:
            for index, text in enumerate(attempt.parts):
                if self._cut.is_set():
                    return index
                audible = _audible(sound)
                if index == asks_at and attempt.manner in ("question", "open"):
                    self._set_asking_end(text, audible, is_whole=attempt.sound is not None)
                part = _Part(text, len(sound), audible, self._audio.play(sound))
                self._parts.append(part)
                rest = attempt.parts[index + 1 : index + 2]
                sound = await self._follow(part.playing, rest)
                if self._cut.is_set() and part.words != text:
                    return index
            return None
        finally:
            self._ended = self._now()

    def _set_asking_end(self, text: str, audible: tuple[int, int], *, is_whole: bool) -> None:
        """Where the asking part ends; within a sound that is not ours, by its words."""
        begins, ends = audible
        if is_whole:
            ends = begins + round((ends - begins) * rules.asking_share(text))
        before = sum(part.length for part in self._parts)
        self.asking = msgspec.structs.replace(self.asking, asks_until=before + ends)

    async def _follow(self, playing: Playing, rest: Sequence[str]) -> bytes:
        """Wait until a sentence was played or cut; the sound of the next one."""
        following = [asyncio.ensure_future(self._speak(text)) for text in rest]
        done = asyncio.ensure_future(playing.done())
        cut = asyncio.ensure_future(self._cut.wait())
        try:
            await asyncio.wait({done, cut}, return_when=asyncio.FIRST_COMPLETED)
            playing.stop()
            if self._cut.is_set() or not following:
                return b""
            await asyncio.wait({*following, cut}, return_when=asyncio.FIRST_COMPLETED)
            return b"" if self._cut.is_set() else await following[0]
        finally:
            playing.stop()
            for task in (*following, done, cut):
                task.cancel()
                task.add_done_callback(_retrieve)

    def heard(self) -> list[HeardSentence]:
        """The words of it that were heard, if any."""
        text = " ".join(words for part in self._parts if (words := part.words))
        return (
            [HeardSentence(text=text, started_at=self._began, ended_at=self._ended)] if text else []
        )


def _retrieve(task: asyncio.Future[Any]) -> None:
    """Take note of an error of a sentence that isn't said any more."""
    if not task.cancelled():
        task.exception()


def _audible(pcm: bytes) -> tuple[int, int]:
    """From which byte to which a sound can be heard."""
    samples = struct.unpack(f"<{len(pcm) // _SAMPLE_BYTES}h", pcm[: len(pcm) // 2 * 2])
    loud = [
        at
        for at in range(0, len(samples), _GRAIN)
        if max(map(abs, samples[at : at + _GRAIN])) > _AUDIBLE
    ]
    if not loud:
        return 0, len(pcm)
    return loud[0] * _SAMPLE_BYTES, min(len(pcm), (loud[-1] + _GRAIN) * _SAMPLE_BYTES)
