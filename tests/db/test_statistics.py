"""The planner hears of a table that has grown, once, and not of one that merely changes."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.webhooks.shop import until
from tillhouse.access.process import Services
from tillhouse.db.statistics import analyze

KNOWN = "SELECT reltuples FROM pg_class WHERE oid = 'grows'::regclass"
LIVE = "SELECT n_live_tup FROM pg_stat_user_tables WHERE relid = 'grows'::regclass"


@pytest.fixture
async def table(sql: asyncpg.Connection) -> AsyncIterator[asyncpg.Connection]:
    """A table that nobody but the test knows of."""
    await sql.execute("CREATE TABLE grows (id integer) WITH (autovacuum_enabled = off)")
    yield sql
    await sql.execute("DROP TABLE grows")


async def _grow(sql: asyncpg.Connection, rows: int) -> None:
    """Insert so many, and wait until the server has counted them."""
    before = await sql.fetchval(LIVE) or 0
    await sql.execute("INSERT INTO grows SELECT generate_series(1, $1)", rows)
    # Now, and not a second later.
    await sql.execute("SELECT pg_stat_force_next_flush()")

    async def look() -> bool | None:
        return True if (await sql.fetchval(LIVE) or 0) >= before + rows else None

    await until(look)


async def look_over(services: Services) -> None:
    """Until nothing is left that has grown."""
    while await analyze(services.pool):
        pass


async def test_what_doubles_is_looked_over(table: asyncpg.Connection, services: Services) -> None:
    """From a hundred rows on; then again only when there are twice as many."""
    await _grow(table, 90)
    await look_over(services)
    assert await table.fetchval(KNOWN) == -1
    await _grow(table, 30)
    await look_over(services)
    assert await table.fetchval(KNOWN) == 120
    await _grow(table, 60)
    await look_over(services)
    assert await table.fetchval(KNOWN) == 120
    await _grow(table, 100)
    await look_over(services)
    assert await table.fetchval(KNOWN) == 280
