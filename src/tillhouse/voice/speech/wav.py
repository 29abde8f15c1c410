"""Reads the WAV that a speech engine answers, and writes the one that it is asked about."""

import struct

import msgspec

from tillhouse.voice.speech.resampling import RATE
from tillhouse.voice.speech.speaking import NotSpoken

_HEAD, _CHUNK = 12, 8
_PCM, _EXTENSIBLE = 1, 0xFFFE
_FORMAT_BYTES = 16
_RATES = range(8_000, 48_001)
_CHANNELS_MAX = 2
# Nobody listens to a longer answer at once.
SOUND_MAX_S = 120


class Sound(msgspec.Struct, frozen=True, kw_only=True):
    """PCM16 of any rate, its channels side by side."""

    data: memoryview
    rate: int
    channels: int


def read_sound(wav: bytes, engine: str) -> Sound:
    """The sound of a WAV with 16 bits a sample, cut where it is too long; else `NotSpoken`."""
    if wav[:4] != b"RIFF" or wav[8:12] != b"WAVE":
        raise NotSpoken(f"{engine} answered with no WAV")
    rate = channels = 0
    at = _HEAD
    while at + _CHUNK <= len(wav):
        name, size = wav[at : at + 4], struct.unpack_from("<I", wav, at + 4)[0]
        at += _CHUNK
        if name == b"fmt " and size >= _FORMAT_BYTES and at + _FORMAT_BYTES <= len(wav):
            kind, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", wav, at)
            is_known = kind in (_PCM, _EXTENSIBLE) and bits == 16 and rate in _RATES
            if not is_known or not 1 <= channels <= _CHANNELS_MAX:
                raise NotSpoken(f"{engine} answered with a WAV of another kind than PCM16")
        if name == b"data" and rate:
            # A head that was written to a pipe can't know the length: it may be anything.
            length = size if 0 < size <= len(wav) - at else len(wav) - at
            frame = 2 * channels
            length = min(length - length % frame, rate * frame * SOUND_MAX_S)
            return Sound(data=memoryview(wav)[at : at + length], rate=rate, channels=channels)
        at += size + size % 2
    raise NotSpoken(f"{engine} answered with no WAV")


def telephone_wav(pcm: bytes) -> bytes:
    """PCM16, mono, 8 kHz as a WAV."""
    head = struct.pack("<HHIIHH", _PCM, 1, RATE, RATE * 2, 2, 16)
    size = 4 + _CHUNK + len(head) + _CHUNK + len(pcm)
    parts = (b"RIFF", struct.pack("<I", size), b"WAVEfmt ", struct.pack("<I", len(head)), head,
             b"data", struct.pack("<I", len(pcm)), pcm)  # fmt: skip
    return b"".join(parts)
