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
# Samples of a packet, and by how many of them one may have moved against the loudest.
_PACKET = 160
_MOVED = sorted(range(-50, 51), key=abs)
_LOUD = 500
PCM = struct.pack(f"<{len(SWEEP)}h", *SWEEP)


def correlation(said: Sequence[int], heard: Sequence[int]) -> float:
    """How alike two sounds are where they are most alike: 1 is the same."""
    start = _place(said, heard)
    begin, length = max(start, 0), min(len(said) + min(start, 0), len(heard) - max(start, 0))
    return _alike(said[max(-start, 0) :][:length], heard[begin : begin + length])


def found_again(said: Sequence[int], heard: Sequence[int]) -> float:
    """How much of the power of a sound was heard again, packet by packet, each near its place.

    A process that stood still loses or repeats whole packets, and all that follows them has
    another place: that is no fault of the sound itself.
    """
    lag = _place(said, heard)
    power = found = 0
    for begin in range(0, len(said) - _PACKET, _PACKET):
        piece = said[begin : begin + _PACKET]
        of_piece = sum(sample * sample for sample in piece)
        power += of_piece
        if max(map(abs, piece)) >= _LOUD and any(
            _alike(piece, heard[at : at + _PACKET]) > 0.95
            for at in (begin + lag + _PACKET * moved for moved in _MOVED)
            if 0 <= at <= len(heard) - _PACKET
        ):
            found += of_piece
    return found / power


def _place(said: Sequence[int], heard: Sequence[int]) -> int:
    """So many samples later the loudest part of a sound is heard."""
    loudest = max(range(len(said)), key=lambda index: abs(said[index]))
    piece = said[loudest : loudest + 400]
    at = max(
        range(len(heard) - 400),
        key=lambda lag: _alike(piece, heard[lag : lag + 400]) if heard[lag] else 0,
    )
    return at - loudest


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


def write_tone(folder: Path, pcm: bytes = PCM) -> Path:
    """A file of a minute or more for a telephone to play: it is heard, then it listens."""
    path = folder / "tone.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(pcm + bytes(16_000 * 58))
    return path
