"""Usage beyond what can be asked for and the rate of keys at rest are forgotten."""

import asyncpg

from tests.make import Make
from tests.sweeping import sweep
from tillhouse.access.process import Services

USAGE = "/api/developer/usage"


async def test_usage_that_nobody_can_ask_for_is_forgotten(
    make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """Of 2,510 old rows and 90 fresh ones the fresh ones stay, and are told."""
    business = await make.business()
    key = await business.key()
    await sql.execute(
        """
        INSERT INTO usage_records
        SELECT book_id, (now() AT TIME ZONE 'UTC')::date - n, developer_app_id, 'GET', '/old',
            '2xx', 1, 0, 1
        FROM api_keys, generate_series(0, 2610) n WHERE id::text = $1 AND (n < 90 OR n > 100)
        """,
        key["id"],
    )
    assert await sweep(services, "usage_records") == 3
    left = await sql.fetchval("SELECT count(*) FROM usage_records WHERE endpoint = '/old'")
    told = (await business.owner.get(f"{USAGE}?days=90", status=200)).data
    assert (left, len(told)) == (90, 90)


async def test_full_buckets_are_forgotten(services: Services, sql: asyncpg.Connection) -> None:
    """Those that were full an hour ago go; those that are being filled stay."""
    await sql.execute(
        """
        INSERT INTO rate_cells SELECT gen_random_uuid(), gen_random_uuid(),
            extract(epoch FROM now()) + CASE WHEN n <= 10 THEN -600 * (n % 2) + 60 ELSE -3700 END,
            1000000 + n FROM generate_series(1, 2510) n
        """
    )
    assert await sweep(services, "rate_cells") == 3
    left = await sql.fetch("DELETE FROM rate_cells WHERE granted > 1000000 RETURNING granted")
    assert sorted(row["granted"] for row in left) == list(range(1000001, 1000011))
