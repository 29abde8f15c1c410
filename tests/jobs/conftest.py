"""A database with a table for the effects of jobs."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.conftest import fresh_database
from tests.jobs.desk import Desk
from tillhouse.db.pool import Pool


@pytest.fixture(scope="session")
async def jobs_url(server_url: str) -> AsyncIterator[str]:
    """A database on which nobody but these tests runs jobs."""
    async with fresh_database(server_url, "tillhouse_jobs") as url:
        connection = await asyncpg.connect(url)
        await connection.execute("CREATE TABLE effects (subject_id uuid, what text)")
        await connection.close()
        yield url


@pytest.fixture
async def desk(jobs_url: str) -> AsyncIterator[Desk]:
    """The queue, empty."""
    pool = await Pool.open(jobs_url, size=8)
    connection = await asyncpg.connect(jobs_url)
    await connection.execute("TRUNCATE jobs, effects")
    yield Desk(pool, connection)
    await connection.close()
    await pool.close()
