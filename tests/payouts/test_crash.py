"""A process that is killed between any two steps pays a refund out once, and books it as one.

TILLHOUSE_TEST_FUZZ=1 kills before and after every statement instead of at some.
"""

import tempfile
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from tests.make import Make
from tests.orders.returning.giving import HOUR, MINUTES_5
from tests.payouts.paying_out import PayingOut
from tests.system.killed_steps import ENDS, EVERYTHING, run, targets
from tests.system.killing_proxy import Proxy
from tillhouse.access.process import Services
from tillhouse.jobs.runner import JobRunner
from tillhouse.payouts.room import kinds

# Connecting takes the first ones; then come the mark, the sandbox, the order, limits and ledger.
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
async def test_whenever_it_is_killed_a_refund_is_paid_out_once(
    services: Services,
    make: Make,
    sql: asyncpg.Connection,
    proxy: Proxy,
    master_key: str,
    points: tuple[int, ...],
) -> None:
    """The next worker goes on where it ended, and the order says what the withdrawal says."""
    till = await PayingOut.prepared(make, sql, services)
    killed = 0
    runner = JobRunner(services.pool, kinds(services), services.job_results)
    for target in targets(points):
        order = await till.refused()
        asked = await till.paid_out(order, 400)
        code = await run(proxy, "tests.payouts.processes", master_key, target)
        assert code in ENDS, code
        killed += target.is_dead
        for after in (MINUTES_5, MINUTES_5, HOUR):
            await till.make_due(after)
            await till.make_old(asked, HOUR)
            await runner.run_due(till.later(timedelta(seconds=2)))
        stands = await till.stands(order, asked)
        assert stands == ("completed", "successful", 600, 400), target.number
        sent = "SELECT count(*) FROM sandbox_payouts WHERE book_id = $1 AND reference = $2"
        paid = await sql.fetchval(sent, till.book, till.paid_by(asked))
        assert paid == 1, target.number
        assert await till.faults(services) == [], target.number
        if EVERYTHING and not target.is_dead:
            break
    assert killed >= len(points)
