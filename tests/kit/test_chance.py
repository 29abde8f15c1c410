"""Chance: draws that nobody can set, and that set nobody else's."""

import random

from tillhouse.jobs.kinds import Retry
from tillhouse.kit.ids import CHANCE


def test_a_draw_leaves_the_common_state_alone() -> None:
    """A library that seeded `random` in this process goes on as if nothing had been drawn."""
    random.seed(3)
    before = random.getstate()
    for attempts in range(1, 5):
        Retry().delay(attempts)
    assert random.getstate() == before


def test_a_seed_foretells_nothing() -> None:
    """The same seed twice, and yet other draws."""
    drawn = set[float]()
    for _ in range(2):
        random.seed(3)
        drawn.add(CHANCE.random())
    assert len(drawn) == 2
