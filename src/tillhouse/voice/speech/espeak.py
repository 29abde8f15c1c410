"""espeak-ng, a speech synthesizer that is a program of its own."""

import asyncio
import contextlib
import shutil
import struct
from asyncio.subprocess import DEVNULL, PIPE

from tillhouse.voice.speech.resampling import to_telephone
from tillhouse.voice.speech.speaking import TEXT_LENGTH_MAX, NotSpoken

PROGRAM = "espeak-ng"
SPOKEN_WITHIN_S = 20.0
# Where the head of its WAV has the rate, and its first chunk.
_RATE_AT, _CHUNKS_AT = 24, 12


class Espeak:
    """Speaks by espeak-ng."""

    def __init__(self, program: str, voice: str = "en") -> None:
        self._program, self._voice = program, voice

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
        return await asyncio.to_thread(_telephone_sound, wav)


def _telephone_sound(wav: bytes) -> bytes:
    """The sound in a WAV that was written to a pipe, whose head can't know its length."""
    at = _CHUNKS_AT
    while wav[at : at + 4] != b"data":
        if at + 8 > len(wav):
            raise NotSpoken(f"{PROGRAM} answered with no WAV")
        at += 8 + struct.unpack_from("<I", wav, at + 4)[0]
    (rate,) = struct.unpack_from("<I", wav, _RATE_AT)
    sound = wav[at + 8 :]
    return to_telephone(struct.unpack(f"<{len(sound) // 2}h", sound[: len(sound) // 2 * 2]), rate)
