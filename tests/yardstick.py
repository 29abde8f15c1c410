"""How slow this processor is at this moment, by a fixed amount of work.

A bound on the processor's own time holds on the machine that it was set on. A test that must have
one multiplies it by what the same work costs here: the bound stays what it was on a machine of that
kind, and is no stricter on a faster one. A time on the wall has no bound at all.
"""

import time

# The time of the work on the machine that the bounds were set on.
_NOMINAL_S = 0.011
_ROUNDS = 20_000


def _work() -> int:
    """Text, numbers and a table, as requests are made of."""
    known: dict[str, int] = {}
    for number in range(_ROUNDS):
        text = f"{number * 7919 % 10_007}:{number}"
        known[text[:5]] = known.get(text[:5], 0) + len(text)
    return sum(sorted(known.values()))


def slower_processor() -> float:
    """How many times more of the processor's own time things take here; at least 1."""
    began = time.thread_time()
    _work()
    return max(1.0, (time.thread_time() - began) / _NOMINAL_S)
