"""Sounds that are compared: how alike what was heard is to what was said."""

import math
import struct
import wave
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tillhouse.providers.telephony.wav import StereoWav

# A sweep, which is like itself at no other moment: two seconds from 200 to 1,200 Hz.
SWEEP = [int(9000 * math.sin(2 * math.pi * (200 + 250 * t) * t)) for t in
          (index / 8000 for index in range(16_000))]  # fmt: skip
PCM = struct.pack(f"<{len(SWEEP)}h", *SWEEP)


def correlation(said: Sequence[int], heard: Sequence[int]) -> float:
    """How alike two sounds are where they are most alike: 1 is the same."""
    loudest = max(range(len(said)), key=lambda index: abs(said[index]))
    piece = said[loudest : loudest + 400]
    at = max(
        range(len(heard) - 400),
        key=lambda lag: _alike(piece, heard[lag : lag + 400]) if heard[lag] else 0,
    )
    start = at - loudest
    begin, length = max(start, 0), min(len(said) + min(start, 0), len(heard) - max(start, 0))
    return _alike(said[max(-start, 0) :][:length], heard[begin : begin + length])


def _alike(one: Sequence[int], other: Sequence[int]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    power = sum(a * a for a in one) * sum(b * b for b in other)
    return product / math.sqrt(power) if power else 0.0


@asynccontextmanager
async def recorded(folder: Path) -> AsyncIterator[StereoWav]:
    """A recording that is finished when all went well, and never left open."""
    recording = StereoWav(folder / "call.wav")
    try:
        yield recording
    except BaseException:
        recording.discard()
        raise
    recording.finish()


def samples(path: Path, channel: int = 0) -> list[int]:
    """The samples of one channel of a file."""
    with wave.open(str(path)) as file:
        channels = file.getnchannels()
        data = file.readframes(file.getnframes())
    return list(struct.unpack(f"<{len(data) // 2}h", data))[channel::channels]


def write_tone(folder: Path) -> Path:
    """A file of a minute for a telephone to play: it is heard, then it listens."""
    path = folder / "tone.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(PCM + bytes(16_000 * 58))
    return path
