"""Numbers from the database are written as PostgreSQL writes them, never with an exponent."""

from collections.abc import AsyncIterator
from decimal import Decimal
from random import Random

import asyncpg
import pytest

from tillhouse.db.connecting import connect_alone
from tillhouse.db.pool import Db, Pool

DIGITS_MAX, SCALE_MAX = 18, 6
_FORMS = """
    SELECT n::text AS told, n AS plain, ARRAY[n, NULL] AS list, a::text AS told_of_domain,
        a::order_amount AS domain, ARRAY[a::order_amount] AS domains
    FROM unnest($1::text[]) t, CAST(t AS numeric) n, mod(abs(n), 1000000000000000::numeric) a
"""
_SENT = """
    SELECT $1::numeric::text AS plain, ($2::numeric[])[1]::text AS list,
        $3::order_amount::text AS domain, ($4::order_amount[])[1]::text AS domains
"""


def numbers(count: int, seed: int) -> list[str]:
    """Numbers of every size and scale, many of them with zeros at the end."""
    chance = Random(seed)  # noqa: S311 - no secret
    found = ["0", "0.0", "0.000000", "-0", "10000", "-20000", "10000.00", "0.000001", "1E+14"]
    for _ in range(count):
        scale = chance.randint(0, SCALE_MAX)
        digits = chance.randint(1, DIGITS_MAX)
        zeros = chance.randint(0, digits)
        whole = chance.randrange(10 ** (digits - zeros)) * 10**zeros
        found.append(f"{chance.choice((1, -1)) * Decimal(whole).scaleb(-scale):f}")
    return found


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    """A pool as the product opens it."""
    opened = await Pool.open(database_url, size=4)
    yield opened
    await opened.close()


async def _rows(db: Db, given: list[str]) -> list[asyncpg.Record]:
    return list(await db.fetch(_FORMS, given))


@pytest.mark.parametrize("seed", range(5))
async def test_numbers_come_as_they_are_written(pool: Pool, seed: int) -> None:
    """Alone, of a domain, in arrays; on the connections for reads and for writes."""
    given = numbers(2_000, seed)
    async with pool.reading() as reads, pool.transaction() as writes:
        rows = [*await _rows(reads, given), *await _rows(writes, given)]
    assert len(rows) == 2 * len(given)
    for row in rows:
        assert str(row["plain"]) == str(row["list"][0]) == row["told"]
        assert str(row["domain"]) == str(row["domains"][0]) == row["told_of_domain"]
        assert row["list"][1] is None


async def test_numbers_go_as_they_are(pool: Pool) -> None:
    """A parameter keeps its value, also where it is written with an exponent."""
    async with pool.reading() as db:
        for text in (*numbers(200, 0), "2E+4"):
            value = Decimal(text)
            amount = abs(value) % 10**15
            row = await db.fetchrow(_SENT, value, [value], amount, [amount])
            assert row is not None
            assert [Decimal(told) for told in row] == [value, value, amount, amount]


async def test_a_connection_of_its_own_reads_alike(database_url: str) -> None:
    """Workers and commands that hold one connection see what the pool sees."""
    connection = await connect_alone(database_url)
    try:
        assert str(await connection.fetchval("SELECT 20000::numeric")) == "20000"
    finally:
        await connection.close()
