"""espeak-ng, a speech synthesizer that is a program of its own."""

import asyncio
import contextlib
import shutil
from asyncio.subprocess import DEVNULL, PIPE

from tillhouse.voice.speech.speaking import TEXT_LENGTH_MAX, NotSpoken
from tillhouse.voice.speech.wav import telephone_sound

PROGRAM = "espeak-ng"
SPOKEN_WITHIN_S = 20.0


class Espeak:
    """Speaks by espeak-ng."""

    def __init__(self, program: str, voice: str = "en") -> None:
        self._program, self._voice = program, voice
        # One at a time: more threads that compute would take the loop's turns.
        self._resampling = asyncio.Semaphore(1)

    @classmethod
    def found(cls, voice: str = "en") -> "Espeak | None":
        """The engine, where it is installed."""
        program = shutil.which(PROGRAM)
        return cls(program, voice) if program is not None else None

    async def speak(self, text: str) -> bytes:
        """The text as sound."""
        # The text goes in by a pipe, so that none of it is taken for an option.
        process = await asyncio.create_subprocess_exec(
            self._program, "-v", self._voice, "--stdin", "--stdout",
            stdin=PIPE, stdout=PIPE, stderr=DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(SPOKEN_WITHIN_S):
                wav, _ = await process.communicate(text[:TEXT_LENGTH_MAX].encode())
        except TimeoutError:
            raise NotSpoken(f"{PROGRAM} took longer than {SPOKEN_WITHIN_S:g} s") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            raise NotSpoken(f"{PROGRAM} failed: is there a voice {self._voice}?")
        async with self._resampling:
            return await asyncio.to_thread(telephone_sound, wav, PROGRAM)
