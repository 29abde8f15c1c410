"""Reads the sound of a prompt."""

import base64
import binascii

from tillhouse.providers.telephony.sip.g711 import decode
from tillhouse.voice.prompts.rules import BYTES_PER_S, SECONDS_MAX
from tillhouse.voice.speech.wav import MU_LAW, RATE, Wav, is_pcm16, read_wav

_MU_LAW_BITS = 8


def read_prompt(encoded: str) -> bytes | None:
    """A WAV in base64 as lines play it: PCM16, mono, 8 kHz; None where it is no such sound."""
    try:
        found = read_wav(base64.b64decode(encoded, validate=True))
    except binascii.Error:
        return None
    pcm = _pcm(found) if found is not None else b""
    return pcm if 0 < len(pcm) <= SECONDS_MAX * BYTES_PER_S else None


def _pcm(found: Wav) -> bytes:
    if (found.rate, found.channels) != (RATE, 1):
        return b""
    if is_pcm16(found):
        return bytes(found.data[: len(found.data) // 2 * 2])
    is_mu_law = (found.kind, found.bits) == (MU_LAW, _MU_LAW_BITS)
    return decode("PCMU", bytes(found.data)) if is_mu_law else b""
