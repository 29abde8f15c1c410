"""G.711: PCM of 16 bits, little-endian, at 8 kHz, as a byte a sample by either law."""

import struct
from collections.abc import Callable
from typing import Literal, NamedTuple

Law = Literal["PCMU", "PCMA"]

_BIAS = 0x84
_U_CLIP = 32_635
_A_CLIP = 32_767
_SIGN = 0x80
# Every second bit of the A-law's bytes is turned over on the wire.
_A_MASK = 0x55
# Neither law tells samples apart by their last two bits: each start of a process makes the tables
# from every fourth sample.
_ALIKE = 4


def _encode_u(sample: int) -> int:
    sign = _SIGN if sample < 0 else 0
    biased = min(~sample if sample < 0 else sample, _U_CLIP) + _BIAS
    exponent = biased.bit_length() - 8
    return ~(sign | exponent << 4 | biased >> (exponent + 3) & 0x0F) & 0xFF


def _decode_u(byte: int) -> int:
    turned = ~byte & 0xFF
    exponent, mantissa = turned >> 4 & 0x07, turned & 0x0F
    value = ((mantissa << 3) + _BIAS << exponent) - _BIAS
    return -value if turned & _SIGN else value


def _encode_a(sample: int) -> int:
    sign = 0 if sample < 0 else _SIGN
    value = min(~sample if sample < 0 else sample, _A_CLIP) >> 4
    exponent = max(value.bit_length() - 4, 0)
    mantissa = (value >> (exponent - 1) if exponent > 1 else value) & 0x0F
    exponent = exponent if value > 0x0F else 0
    return (sign | exponent << 4 | mantissa) ^ _A_MASK


def _decode_a(byte: int) -> int:
    turned = byte ^ _A_MASK
    exponent, mantissa = turned >> 4 & 0x07, turned & 0x0F
    value = (mantissa << 4) + 8
    if exponent:
        value = value + 0x100 << exponent - 1
    return value if turned & _SIGN else -value


class _Tables(NamedTuple):
    """Each byte's sample in two halves, and each sample's byte."""

    low: bytes
    high: bytes
    bytes_of: bytes


def _tables(encode: Callable[[int], int], decode: Callable[[int], int]) -> _Tables:
    samples = struct.pack("<256h", *(decode(byte) for byte in range(256)))
    # By the sample's bits without a sign, which is how the encoder reads them.
    words = range(0, 0x10000, _ALIKE)
    firsts = (encode(word - 0x10000 if word & 0x8000 else word) for word in words)
    bytes_of = b"".join(first.to_bytes() * _ALIKE for first in firsts)
    return _Tables(samples[0::2], samples[1::2], bytes_of)


_OF: dict[Law, _Tables] = {
    "PCMU": _tables(_encode_u, _decode_u),
    "PCMA": _tables(_encode_a, _decode_a),
}


def decode(law: Law, data: bytes) -> bytes:
    """The samples of a received payload."""
    tables = _OF[law]
    pcm = bytearray(2 * len(data))
    pcm[0::2] = data.translate(tables.low)
    pcm[1::2] = data.translate(tables.high)
    return bytes(pcm)


def encode(law: Law, pcm: bytes) -> bytes:
    """The bytes to send for these samples."""
    words = struct.unpack(f"<{len(pcm) // 2}H", pcm)
    return bytes(map(_OF[law].bytes_of.__getitem__, words))
