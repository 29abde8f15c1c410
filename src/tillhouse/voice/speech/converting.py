"""Converts the sound of engines to that of telephones, in a process of its own.

In a thread it would take turns with the loop, and the sound of all other calls would wait.
"""

import asyncio
import contextlib
import sys
from asyncio.subprocess import DEVNULL, PIPE

import msgspec

from tillhouse.voice.speech import resampling
from tillhouse.voice.speech.protocols import NotSpoken
from tillhouse.voice.speech.wav import read_sound

_MODULE = resampling.__name__
_WITHIN_S = 20.0


class Converter:
    """Converts one sound after the other: the processors are for the calls."""

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(1)

    async def convert(self, wav: bytes, engine: str) -> bytes:
        """The sound of a WAV with 16 bits a sample as PCM16, mono, 8 kHz; else `NotSpoken`."""
        sound = read_sound(wav, engine)
        if (sound.rate, sound.channels) == (resampling.RATE, 1):
            return bytes(sound.data)
        command = (sys.executable, "-m", _MODULE, str(sound.rate), str(sound.channels))
        try:
            async with self._turn:
                output = await run_program(command, bytes(sound.data), _WITHIN_S)
        except TimeoutError:
            raise NotSpoken(f"the sound of {engine} took too long to convert") from None
        if output.code:
            raise NotSpoken(f"the sound of {engine} could not be converted")
        return output.data


class Output(msgspec.Struct, frozen=True):
    """All that a program wrote, and the code that it ended with."""

    code: int | None
    data: bytes


async def run_program(command: tuple[str, ...], given: bytes, within_s: float) -> Output:
    """The output of a program, which is killed when its time is over (`TimeoutError`)."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    )
    try:
        async with asyncio.timeout(within_s):
            data, _ = await process.communicate(given)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return Output(process.returncode, data)
