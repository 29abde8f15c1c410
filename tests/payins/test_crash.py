"""A process that is killed between any two steps loses no payment and books none twice.

TILLHOUSE_TEST_FUZZ=1 kills before and after every statement instead of at some.
"""

import tempfile
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest

from tests.payins.collecting import Collecting
from tests.payins.processes import APPLY, TARGET
from tests.system.killed_steps import ENDS, EVERYTHING, run, targets
from tests.system.killing_proxy import Proxy
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.payins.jobs import kinds

# Connecting takes the first ones; then come the event, its lookup, the payment, and its target.
SOME = (12, 19, 24, 28, 31, 35, 39, 43, 47, 51)


@pytest.fixture
async def proxy(database_url: str) -> AsyncIterator[Proxy]:
    """The database, by way of somebody who kills."""
    with tempfile.TemporaryDirectory() as folder:
        async with Proxy(Path(folder), database_url) as made:
            yield made


@pytest.mark.parametrize(
    "points",
    [pytest.param((28,), id="one"), pytest.param(SOME, id="some", marks=pytest.mark.proof)],
)
async def test_whenever_it_is_killed_a_payment_is_booked_once(
    till: Collecting,
    proxy: Proxy,
    master_key: str,
    points: tuple[int, ...],
) -> None:
    """The next worker goes on where it ended."""
    killed = 0
    for target in targets(points):
        account = await till.account(type=TARGET)
        await till.simulate(account)
        code = await run(proxy, "tests.payins.processes", master_key, target)
        assert code in ENDS, code
        killed += target.is_dead
        await till.sql.execute(
            "UPDATE jobs SET due_at = $2 WHERE book_id = $1 AND kind <> 'payin_asking'",
            till.book.id,
            now(),
        )
        jobs = [*kinds(till.services), APPLY]
        runner = JobRunner(till.services.pool, jobs, till.services.job_results)
        await runner.run_due(now())
        await till.work()
        await runner.run_due(now())
        query = """
            SELECT p.applied_at IS NOT NULL, (SELECT count(*) FROM ledger_transfers t
                WHERE t.book_id = $1 AND t.source_id = p.id AND t.kind = 'wallet_deposit')
            FROM payins p WHERE p.book_id = $1 AND p.target_id = $2
        """
        rows = await till.sql.fetch(query, till.book.id, account.target_id)
        assert [tuple(row) for row in rows] == [(True, 1)], target.number
        if EVERYTHING and not target.is_dead:
            break
    payins = await till.payins()
    assert await till.balance("wallet") == len(payins) * Decimal("985.00")
    assert await till.faults() == []
    assert killed >= len(points)
