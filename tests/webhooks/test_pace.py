"""Beside requests attempts begin one after the other; without them nothing holds them up."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tillhouse.db.pool import Pool
from tillhouse.webhooks.sender.pace import (
    BESIDE_PER_S,
    CLAIM_BESIDE_MAX,
    CLAIM_MAX,
    LATE_S_MAX,
    LOOK_EVERY_S,
    OF_ITS_OWN_PER_S,
    Pace,
)

LATE_S = 1.0


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    """One that nobody else asks: an application's own chores would count as requests."""
    opened = await Pool.open(database_url, size=2)
    yield opened
    await opened.close()


async def _ask(pool: Pool, times: int) -> None:
    async with pool.reading() as db:
        for _ in range(times):
            await db.fetchval("SELECT 1")


async def test_requests_hold_attempts_apart_while_they_come(pool: Pool) -> None:
    """From the next look on, until a look finds no more than a process's own chores."""
    pace = Pace(pool)
    now_s = 1000.0
    pace.most(now_s)
    await _ask(pool, int(LOOK_EVERY_S * OF_ITS_OWN_PER_S) + 20)
    assert pace.most(now_s) == CLAIM_MAX
    assert pace.wait_s(now_s) is None
    now_s += LOOK_EVERY_S
    assert pace.most(now_s) == CLAIM_BESIDE_MAX
    assert pace.wait_s(now_s) is not None
    now_s += 1000 * LOOK_EVERY_S
    assert pace.most(now_s) == CLAIM_MAX
    assert pace.wait_s(now_s) is None


async def test_who_is_late_makes_up_for_a_little(pool: Pool) -> None:
    """So many a second on the whole; after a long delay no flood."""
    pace = Pace(pool)
    pace.most(1000.0)
    await _ask(pool, 1000)
    began_s = now_s = 1000.0 + LOOK_EVERY_S
    for _ in range(100):
        wait_s = pace.wait_s(now_s)
        assert wait_s is not None
        now_s += wait_s
    assert now_s - began_s == pytest.approx(100 / BESIDE_PER_S - LATE_S_MAX, abs=0.002)
    await _ask(pool, 1000)
    now_s += LATE_S
    at_once = 0
    while pace.wait_s(now_s) == 0:
        at_once += 1
    assert at_once == pytest.approx(LATE_S_MAX * BESIDE_PER_S, abs=1)


async def test_a_request_under_way_goes_first(pool: Pool) -> None:
    """The loop goes round for it, but not for ever; where there is none, at once."""
    pace, ran = Pace(pool), list[int]()
    connection = await pool.acquire()
    try:
        asyncio.get_running_loop().call_soon(ran.append, 1)
        await pace.give_way()
        assert ran == [1]
    finally:
        await pool.release(connection)
    assert pool.usage()[0] == 0
    asyncio.get_running_loop().call_soon(ran.append, 2)
    await pace.give_way()
    assert ran == [1]


async def test_a_process_that_only_sends_is_never_held_up() -> None:
    """It has no pool of requests."""
    pace = Pace(None)
    assert pace.most(1000.0) == CLAIM_MAX
    assert pace.wait_s(1000.0) is None
