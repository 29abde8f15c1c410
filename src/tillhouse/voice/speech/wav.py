"""Reads the WAV that a speech engine answers, and writes the one that it is asked about."""

import struct
from typing import NamedTuple

import msgspec

from tillhouse.voice.speech.protocols import NotSpoken
from tillhouse.voice.speech.resampling import RATE

_HEAD, _CHUNK = 12, 8
_PCM, MU_LAW, _EXTENSIBLE = 1, 7, 0xFFFE
_FORMAT_BYTES = 16
_BITS = 16
_RATES = range(8_000, 48_001)
_CHANNELS_MAX = 2
# The bound on one spoken answer.
SOUND_MAX_S = 120


class Wav(NamedTuple):
    """The parts of a WAV."""

    kind: int
    channels: int
    rate: int
    bits: int
    data: memoryview


class PcmSound(msgspec.Struct, frozen=True, kw_only=True):
    """PCM16 of any rate, its channels side by side."""

    data: memoryview
    rate: int
    channels: int


def read_wav(wav: bytes) -> Wav | None:
    """A WAV of any kind; None where it is none."""
    if wav[:4] != b"RIFF" or wav[8:12] != b"WAVE":
        return None
    form: tuple[int, int, int, int] | None = None
    at = _HEAD
    while at + _CHUNK <= len(wav):
        name, size = wav[at : at + 4], struct.unpack_from("<I", wav, at + 4)[0]
        at += _CHUNK
        if name == b"fmt " and size >= _FORMAT_BYTES and at + _FORMAT_BYTES <= len(wav):
            kind, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", wav, at)
            form = (kind, channels, rate, bits)
        if name == b"data" and form is not None:
            # A head that was written to a pipe can't know the length: it may be anything.
            length = size if 0 < size <= len(wav) - at else len(wav) - at
            return Wav(*form, memoryview(wav)[at : at + length])
        at += size + size % 2
    return None


def is_pcm16(wav: Wav) -> bool:
    """Whether its samples have 16 bits."""
    return wav.kind in (_PCM, _EXTENSIBLE) and wav.bits == _BITS


def read_sound(wav: bytes, engine: str) -> PcmSound:
    """The sound of a WAV with 16 bits a sample, cut where it is too long; else `NotSpoken`."""
    found = read_wav(wav)
    if found is None:
        raise NotSpoken(f"{engine} answered with no WAV")
    is_known = is_pcm16(found) and found.rate in _RATES and 1 <= found.channels <= _CHANNELS_MAX
    if not is_known:
        raise NotSpoken(f"{engine} answered with a WAV of another kind than PCM16")
    frame = 2 * found.channels
    length = min(len(found.data) - len(found.data) % frame, found.rate * frame * SOUND_MAX_S)
    return PcmSound(data=found.data[:length], rate=found.rate, channels=found.channels)


def telephone_wav(pcm: bytes) -> bytes:
    """PCM16, mono, 8 kHz as a WAV."""
    head = struct.pack("<HHIIHH", _PCM, 1, RATE, RATE * 2, 2, 16)
    size = 4 + _CHUNK + len(head) + _CHUNK + len(pcm)
    parts = (b"RIFF", struct.pack("<I", size), b"WAVEfmt ", struct.pack("<I", len(head)), head,
             b"data", struct.pack("<I", len(pcm)), pcm)  # fmt: skip
    return b"".join(parts)
