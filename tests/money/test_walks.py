"""A book is right to the minor unit after all that payers, providers, tills and crashes do.

`make money` takes more walks, longer ones, and other ones each time.
"""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, example, given, note, settings

from tests.money.steps import HAPPENINGS, ROUND, TOUR, Step, walks
from tests.money.taking import take_walk
from tests.money.world import World

FEW, STEPS = 5, 32
walking = settings(
    max_examples=FEW,
    deadline=None,
    derandomize=True,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.proof
@walking
@given(steps=walks(STEPS))
@example(steps=TOUR)
async def test_a_book_is_right_to_the_minor_unit(world: World, steps: list[Step]) -> None:
    """After every step of any walk: orders, links, wallet, ledger, summary and events."""
    for step in steps:
        note(repr(step))
    reach: Counter[str] = Counter()
    await take_walk(world, reach, steps)


async def test_every_kind_of_step_can_be_taken(world: World) -> None:
    """None of them waits in vain for something to happen to, and none is only ever refused."""
    reach: Counter[str] = Counter()
    await take_walk(world, reach, ROUND)
    assert [what for what in HAPPENINGS if not reach[what]] == []
    assert reach["refused"] == 0
    assert reach["refunds paid out that ended successful"] == 1
