"""Refunds in a test book: the last two digits of the amount decide."""

from datetime import timedelta

import pytest

from tests.orders.returning.giving import HOUR, MINUTES_5, Giving
from tillhouse.jobs.runner import JobRunner
from tillhouse.orders.returning.sending import kinds
from tillhouse.payins import jobs as payins


@pytest.mark.parametrize(
    ("amount", "states"),
    [
        ("400.00", ["successful"] * 4),
        ("400.99", ["failed"] * 4),
        ("400.98", ["failed"] * 4),
        ("400.97", ["pending", "successful", "successful", "successful"]),
        ("400.96", ["pending", "pending", "successful", "successful"]),
        ("400.95", ["successful", "reversed", "reversed", "reversed"]),
    ],
)
async def test_amounts_decide(till: Giving, amount: str, states: list[str]) -> None:
    """At once, five minutes later, an hour later, and two hours later."""
    order = await till.sold()
    await till.asked(order, amount=amount)
    jobs = [*payins.kinds(till.services), *kinds(till.services)]
    runner = JobRunner(till.services.pool, jobs, till.services.job_results)
    for state, after in zip(states, (timedelta(), MINUTES_5, HOUR, HOUR * 2), strict=True):
        await till.make_due(after)
        await runner.run_due(till.later(timedelta(seconds=2)))
        assert (await till.refund_of(order))["status"] == state
