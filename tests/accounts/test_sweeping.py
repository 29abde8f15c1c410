"""Rows that are over are forgotten: counted failures, empty cells, sessions that ended long ago."""

import asyncpg

from tests.make import Business, Make
from tests.sweeping import sweep
from tillhouse.access.process import Services


async def test_sessions_that_ended_are_forgotten_after_a_month(
    make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """Ended or expired for 30 days: gone. Ended yesterday, or still good: there."""
    ages = {"expires_at": ("31 days", "29 days"), "ended_at": ("31 days", "29 days")}
    gone: list[Business] = []
    kept = [await make.business()]
    for column, (long_ago, lately) in ages.items():
        for age, businesses in ((long_ago, gone), (lately, kept)):
            business = await make.business()
            businesses.append(business)
            await sql.execute(
                f"UPDATE sessions SET {column} = now() - $2::text::interval "  # noqa: S608
                "WHERE business_id = $1::text::uuid",
                business.id,
                age,
            )
    await sweep(services, "logins")
    left = await sql.fetch(
        "SELECT business_id FROM sessions WHERE business_id::text = ANY($1)",
        [business.id for business in (*gone, *kept)],
    )
    assert {str(row["business_id"]) for row in left} == {business.id for business in kept}


async def test_failures_and_cells_are_forgotten(
    services: Services, sql: asyncpg.Connection
) -> None:
    """A flood leaves nothing: thousands of rows, and only what still counts stays."""
    await sql.execute(
        """
        INSERT INTO login_failures SELECT sha256(n::text::bytea), 'flood', 3,
            now() - make_interval(mins => CASE WHEN n <= 10 THEN 29 ELSE 31 END)
        FROM generate_series(1, 2510) n
        """
    )
    await sql.execute(
        """
        INSERT INTO attempt_cells SELECT sha256(('flood' || n)::bytea),
            now() + make_interval(mins => CASE WHEN n <= 10 THEN 1 ELSE -1 END)
        FROM generate_series(1, 2510) n
        """
    )
    await sweep(services, "logins")
    assert await sql.fetchval("SELECT count(*) FROM login_failures WHERE network = 'flood'") == 10
    left = await sql.fetchval(
        "SELECT count(*) FROM attempt_cells WHERE subject IN "
        "(SELECT sha256(('flood' || n)::bytea) FROM generate_series(1, 2510) n)"
    )
    assert left == 10
