"""The sound of a simulated voice: a tone for each letter, the same for the same text."""

import math
from array import array
from functools import lru_cache

from tillhouse.providers.telephony.provider import FRAME_BYTES, SAMPLES_PER_SECOND

_FRAMES_PER_S = 50
_SAMPLES = FRAME_BYTES // 2
_VOLUME = 8_000
# A letter sounds so long.
_FRAMES_PER_LETTER = 4


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
