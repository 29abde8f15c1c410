"""How slow this machine is at this moment, by a fixed amount of work.

A bound in seconds holds on the machine that it was set on, and while nobody else works there. A
test that must have one multiplies it by what the same moment costs here: the bound stays what it
was on an idle machine of that kind, and is no stricter on a faster one.
"""

import time
from collections.abc import Callable

# The time of the work on the machine that the bounds were set on, with nothing else to do.
_NOMINAL_S = 0.011
_ROUNDS = 20_000


def _work() -> int:
    """Text, numbers and a table, as requests are made of."""
    known: dict[str, int] = {}
    for number in range(_ROUNDS):
        text = f"{number * 7919 % 10_007}:{number}"
        known[text[:5]] = known.get(text[:5], 0) + len(text)
    return sum(sorted(known.values()))


def _took(clock: Callable[[], float]) -> float:
    began = clock()
    _work()
    return clock() - began


def slower() -> float:
    """How many times longer things take here and now, others' work included; at least 1."""
    return max(1.0, _took(time.perf_counter) / _NOMINAL_S)


def slower_processor() -> float:
    """How many times more of the processor's own time things take here; at least 1."""
    return max(1.0, _took(time.thread_time) / _NOMINAL_S)
