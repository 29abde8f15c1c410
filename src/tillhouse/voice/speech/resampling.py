"""Sound of any rate at the rate of telephones, without the tones that it can't hold.

As a program it reads PCM16 of the rate and the channels that are its arguments, and writes PCM16,
mono, 8 kHz.
"""

import math
import struct
import sys
from collections.abc import Sequence
from operator import mul

RATE = 8000
# Of the kernel: how far it reaches to each side, in periods of the lower rate.
_REACH = 8
_LIMIT = 32_767


def to_telephone(samples: Sequence[int], rate: int) -> bytes:
    """Samples at this rate as PCM16, little-endian, at 8 kHz."""
    if rate == RATE:
        return struct.pack(f"<{len(samples)}h", *samples)
    kernels: dict[int, tuple[int, list[float]]] = {}
    # Beyond both ends there is silence, as far as a kernel reaches.
    beyond = math.ceil(_REACH * max(1.0, rate / RATE)) + 1
    padded = [*[0] * beyond, *samples, *[0] * beyond]
    found: list[int] = []
    for index in range(len(samples) * RATE // rate):
        whole, phase = divmod(index * rate, RATE)
        if phase not in kernels:
            kernels[phase] = _kernel(phase / RATE, rate)
        start, weights = kernels[phase]
        first = whole + start + beyond
        value = sum(map(mul, weights, padded[first : first + len(weights)]))
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


def main() -> None:
    """One sound, of which the first channel is taken."""
    rate, channels = map(int, sys.argv[1:])
    sound = sys.stdin.buffer.read()
    count = len(sound) // 2
    samples = struct.unpack(f"<{count}h", sound[: count * 2])[::channels]
    sys.stdout.buffer.write(to_telephone(samples, rate))


if __name__ == "__main__":
    main()
