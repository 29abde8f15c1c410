"""The talk of `tillhouse call`: it greets, repeats each key that is pressed, and says goodbye."""

import asyncio
import math
import struct

from tillhouse.providers.telephony.provider import SAMPLES_PER_SECOND, Audio, Digit
from tillhouse.voice.speech.protocols import NotSpoken, Speaks

KEY_WITHIN_S = 10.0
_LAST_KEY = "#"
_NAMES = {"*": "star", "#": "hash"}
_LOUD = 8000
# Without a speech engine: how high each tone of a sentence is, in Hz.
_TONES = (523, 659, 784)
_TONE_S = 0.18


class KeyboardTalk:
    """One talk; the keys that were pressed are kept."""

    def __init__(self, voice: Speaks | None, language: str) -> None:
        self.keys = ""
        self._voice, self._language = voice, language
        # None: nothing will be heard any more.
        self._pressed: asyncio.Queue[str | None] = asyncio.Queue()

    async def run(self, audio: Audio, greeting: str) -> None:
        """Talk until no more keys are pressed, or the line is over."""
        listening = asyncio.ensure_future(self._listen(audio))
        try:
            key = await self._say(audio, greeting)
            while key := key or await self._wait():
                self.keys += key
                if key == _LAST_KEY:
                    break
                key = await self._say(audio, f"You pressed {_NAMES.get(key, key)}.")
            await self._say(audio, "Goodbye.")
        finally:
            listening.cancel()

    async def _listen(self, audio: Audio) -> None:
        async for heard in audio.heard():
            if isinstance(heard, Digit):
                self._pressed.put_nowait(heard.key)
        self._pressed.put_nowait(None)

    async def _wait(self) -> str | None:
        try:
            async with asyncio.timeout(KEY_WITHIN_S):
                return await self._pressed.get()
        except TimeoutError:
            return None

    async def _say(self, audio: Audio, text: str) -> str | None:
        """Speak to the end, or until a key is pressed, which is returned."""
        playing = audio.play(await self._sound(text))
        done = asyncio.ensure_future(playing.done())
        pressed = asyncio.ensure_future(self._pressed.get())
        await asyncio.wait({done, pressed}, return_when=asyncio.FIRST_COMPLETED)
        playing.stop()
        done.cancel()
        if pressed.done():
            return pressed.result()
        pressed.cancel()
        return None

    async def _sound(self, text: str) -> bytes:
        if self._voice is not None:
            try:
                return await self._voice.speak(text, self._language)
            except NotSpoken:
                self._voice = None
        return tones()


def tones() -> bytes:
    """A short tune, where there is no speech engine."""
    samples = round(SAMPLES_PER_SECOND * _TONE_S)
    return b"".join(
        struct.pack("<h", round(_LOUD * _fade(at / samples) * _wave(pitch, at)))
        for pitch in _TONES
        for at in range(samples)
    )


def _wave(pitch: int, at: int) -> float:
    return math.sin(2 * math.pi * pitch * at / SAMPLES_PER_SECOND)


def _fade(passed: float) -> float:
    """Loudness over a tone, so that it doesn't click."""
    return math.sin(math.pi * passed)
