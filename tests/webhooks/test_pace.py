"""Beside requests attempts begin one after the other; without them nothing holds them up."""

import asyncio

import pytest

from tillhouse.app import App
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


async def _ask(app: App, times: int) -> None:
    async with app.house.pool.reading() as db:
        for _ in range(times):
            await db.fetchval("SELECT 1")


async def test_requests_hold_attempts_apart_while_they_come(app: App) -> None:
    """From the next look on, until a look finds no more than a process's own chores."""
    pace = Pace(app.house.pool)
    now_s = 1000.0
    pace.most(now_s)
    await _ask(app, int(LOOK_EVERY_S * OF_ITS_OWN_PER_S) + 20)
    assert pace.most(now_s) == CLAIM_MAX
    assert pace.wait_s(now_s) is None
    now_s += LOOK_EVERY_S
    assert pace.most(now_s) == CLAIM_BESIDE_MAX
    assert pace.wait_s(now_s) is not None
    now_s += 1000 * LOOK_EVERY_S
    assert pace.most(now_s) == CLAIM_MAX
    assert pace.wait_s(now_s) is None


async def test_who_is_late_makes_up_for_a_little(app: App) -> None:
    """So many a second on the whole; after a long delay no flood."""
    pace = Pace(app.house.pool)
    pace.most(1000.0)
    await _ask(app, 1000)
    began_s = now_s = 1000.0 + LOOK_EVERY_S
    for _ in range(100):
        wait_s = pace.wait_s(now_s)
        assert wait_s is not None
        now_s += wait_s
    assert now_s - began_s == pytest.approx(100 / BESIDE_PER_S - LATE_S_MAX, abs=0.002)
    await _ask(app, 1000)
    now_s += LATE_S
    at_once = 0
    while pace.wait_s(now_s) == 0:
        at_once += 1
    assert at_once == pytest.approx(LATE_S_MAX * BESIDE_PER_S, abs=1)


async def test_a_request_under_way_goes_first(app: App) -> None:
    """The loop goes round for it, but not for ever; where there is none, at once."""
    pace, ran = Pace(app.house.pool), list[int]()
    connection = await app.house.pool.acquire()
    try:
        asyncio.get_running_loop().call_soon(ran.append, 1)
        await pace.give_way()
        assert ran == [1]
    finally:
        await app.house.pool.release(connection)
    assert app.house.pool.usage()[0] == 0
    asyncio.get_running_loop().call_soon(ran.append, 2)
    await pace.give_way()
    assert ran == [1]


async def test_a_process_that_only_sends_is_never_held_up() -> None:
    """It has no pool of requests."""
    pace = Pace(None)
    assert pace.most(1000.0) == CLAIM_MAX
    assert pace.wait_s(1000.0) is None
