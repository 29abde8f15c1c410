"""Periodic jobs that look at much: they may take longer than any request."""

from datetime import timedelta
from typing import Any

import pytest

from tests.jobs.desk import Desk
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.jobs.runner import JobRunner, Results
from tillhouse.kit.clock import now


@pytest.mark.proof
async def test_a_statement_of_a_chore_may_take_longer_than_one_of_a_request(desk: Desk) -> None:
    """Neither the server nor the client ends it; the pool's next user has the usual limits."""
    done: list[Any] = []

    async def sweep(db: Db, _job: Job) -> bool:
        done.append(await db.fetchval("SELECT true FROM pg_sleep(15.5)"))
        return False

    kind = LocalKind(name="slow", run=sweep, every=timedelta(hours=1))
    await JobRunner(desk.pool, (kind,), Results()).begin_next(now())
    assert done == [True]
    async with desk.pool.transaction() as db:
        assert await db.fetchval("SELECT current_setting('statement_timeout')") == "13s"
