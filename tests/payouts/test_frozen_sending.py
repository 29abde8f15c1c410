"""A freeze stops every withdrawal of which nothing was handed over."""

import pytest

from tests.payouts.treasury import HOUR, MINUTES_5, SWITCH, Treasury

FROZEN = {"frozen": True, "reason": "A key has leaked"}


@pytest.mark.parametrize("manner", ["away", "lost"])
async def test_a_freeze_stops_what_has_not_left(treasury: Treasury, manner: str) -> None:
    """Not reached, or lost on the way: nothing is sent again until withdrawals go again."""
    # Jobs of other books may be asked for as well.
    treasury.bank.manners.extend([manner] * 5)
    asked = await treasury.withdraw(400)
    await treasury.work()
    assert await treasury.status(asked["id"]) == "processing"
    await treasury.api.request("PUT", SWITCH, FROZEN, status=200)
    await treasury.age(asked["id"], HOUR)
    await treasury.work(MINUTES_5)
    assert treasury.reference(asked["id"]) not in treasury.bank.paid
    assert await treasury.status(asked["id"]) == "processing"


async def test_letting_go_of_nothing_forgives_nothing(treasury: Treasury) -> None:
    """Failures are counted on, though somebody says that withdrawals aren't frozen."""
    for _ in range(5):
        treasury.bank.manners.append("refused")
        await treasury.withdraw(1)
        await treasury.work()
        thawed = await treasury.api.request("PUT", SWITCH, {"frozen": False}, status=None)
        assert thawed.status in (200, 400)
    assert (await treasury.api.get(SWITCH, status=200)).data["frozen"] is True
