"""A process that is killed between any two steps gives no payment back twice, and loses none.

TILLHOUSE_TEST_FUZZ=1 kills before and after every statement instead of at some.
"""

import tempfile
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from tests.orders.returning.giving import HOUR, MINUTES_5, Giving
from tests.system.killed_steps import ENDS, EVERYTHING, run, targets
from tests.system.killing_proxy import Proxy
from tillhouse.jobs.runner import JobRunner
from tillhouse.orders.returning.sending import kinds

# Connecting takes the first ones; then come the mark, the sandbox, the ledger, and the order.
SOME = (13, 16, 19, 22, 25, 28, 31, 34, 37, 40)


@pytest.fixture
async def proxy(database_url: str) -> AsyncIterator[Proxy]:
    """The database, by way of somebody who kills."""
    with tempfile.TemporaryDirectory() as folder:
        async with Proxy(Path(folder), database_url) as made:
            yield made


@pytest.mark.parametrize(
    "points",
    [pytest.param((25,), id="one"), pytest.param(SOME, id="some", marks=pytest.mark.proof)],
)
async def test_whenever_it_is_killed_a_payment_goes_back_once(
    till: Giving,
    proxy: Proxy,
    master_key: str,
    points: tuple[int, ...],
) -> None:
    """The next worker goes on where it ended."""
    killed = 0
    runner = JobRunner(till.services.pool, kinds(till.services), till.services.job_results)
    for target in targets(points):
        order = await till.sold()
        refund = await till.asked(order, amount=400)
        code = await run(proxy, "tests.orders.returning.processes", master_key, target)
        assert code in ENDS, code
        killed += target.is_dead
        for after in (MINUTES_5, MINUTES_5, HOUR):
            await till.make_due(after)
            await till.age(refund, HOUR)
            await runner.run_due(till.later(timedelta(seconds=2)))
        shown = await till.show(order)
        seen = (shown["refunds"][0]["status"], shown["amountPaid"], len(shown["refunds"]))
        assert seen == ("successful", 600, 1), target.number
        sent = "SELECT count(*) FROM sandbox_refunds WHERE book_id = $1 AND reference = $2"
        reference = till.reference(refund)
        assert await till.sql.fetchval(sent, till.book, reference) == 1, target.number
        booked = """
            SELECT count(*) FROM ledger_transfers
            WHERE book_id = $1 AND source_id = $2 AND kind = 'refund_funding'
        """
        assert await till.sql.fetchval(booked, till.book, UUID(refund["id"])) == 1
        if EVERYTHING and not target.is_dead:
            break
    assert killed >= len(points)
