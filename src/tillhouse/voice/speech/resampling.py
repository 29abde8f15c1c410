"""Sound of any rate at the rate of telephones, without the tones that it can't hold."""

import math
import struct
from collections.abc import Sequence

RATE = 8000
# Of the kernel: how far it reaches to each side, in periods of the lower rate.
_REACH = 8
_LIMIT = 32_767


def to_telephone(samples: Sequence[int], rate: int) -> bytes:
    """Samples at this rate as PCM16, little-endian, at 8 kHz."""
    if rate == RATE:
        return struct.pack(f"<{len(samples)}h", *samples)
    kernels: dict[int, tuple[int, list[float]]] = {}
    found: list[int] = []
    for index in range(len(samples) * RATE // rate):
        whole, phase = divmod(index * rate, RATE)
        if phase not in kernels:
            kernels[phase] = _kernel(phase / RATE, rate)
        start, weights = kernels[phase]
        first = whole + start
        value = sum(
            weight * samples[at]
            for at, weight in enumerate(weights, first)
            if 0 <= at < len(samples)
        )
        found.append(max(-_LIMIT, min(_LIMIT, round(value))))
    return struct.pack(f"<{len(found)}h", *found)


def _kernel(phase: float, rate: int) -> tuple[int, list[float]]:
    """The index of the first sample beside a moment, and the weight of each (a windowed sinc)."""
    scale = min(1.0, RATE / rate)
    reach = _REACH / scale
    start = math.ceil(phase - reach)
    weights = [
        _sinc((at - phase) * scale) * math.cos((at - phase) / reach * math.pi / 2) ** 2
        for at in range(start, math.floor(phase + reach) + 1)
    ]
    # Silence between words stays silence, and a constant stays itself.
    total = sum(weights)
    return start, [weight / total for weight in weights]


def _sinc(x: float) -> float:
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0
