"""The bell and those who follow it: each hears every ring, and none is busy without end."""

import asyncio
import time

import asyncpg
import pytest

from tillhouse.app import App
from tillhouse.db.bell import APART_S, LOOKS_AT_ONCE, LOOKS_PER_S, Bell, Follower

LONG_S = 10.0
BUSY_S = 0.5
_LISTENERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND query ILIKE 'LISTEN %' AND pid <> pg_backend_pid()
"""


async def took_s(follower: Follower) -> float:
    """How long it waits."""
    began = time.monotonic()
    await follower.wait(LONG_S)
    return time.monotonic() - began


async def test_a_ring_wakes_all_who_follow_and_is_left_to_a_worker() -> None:
    """Who follows takes nothing away, and hears a ring that came while it looked."""
    bell = Bell()
    with bell.following() as one, bell.following() as other:
        bell.ring()
        assert await took_s(one) < 1
        assert await took_s(other) < 1
        began = time.monotonic()
        await bell.wait(LONG_S)
        assert time.monotonic() - began < 1
        # What only concerns the worker of this process is no news to who follows.
        bell.ring_here()
        began = time.monotonic()
        await one.wait(0.1)
        assert time.monotonic() - began > 0.05


async def test_who_follows_a_busy_house_looks_now_and_then() -> None:
    """The more there are, the less often each: their number per second is bounded."""
    bell = Bell()
    looks = 0
    end = time.monotonic() + BUSY_S

    async def look() -> None:
        nonlocal looks
        with bell.following() as follower:
            while time.monotonic() < end:
                await follower.wait(LONG_S)
                looks += 1

    for count, most in ((1, BUSY_S / APART_S), (100, BUSY_S * LOOKS_PER_S)):
        looks = 0
        end = time.monotonic() + BUSY_S
        following = asyncio.gather(*(look() for _ in range(count)))
        while not following.done():
            bell.ring()
            await asyncio.sleep(0.001)
        # Each may end with one more, and begins with one at once.
        assert most / 4 < looks <= most + 2 * count


async def test_few_look_at_once() -> None:
    """The others wait for their turn, and go without when it does not come soon."""
    bell = Bell()
    with bell.following() as follower:
        turns = [follower.turn() for _ in range(LOOKS_AT_ONCE)]
        for turn in turns:
            await turn.__aenter__()
        with pytest.raises(TimeoutError):
            async with follower.turn():
                raise AssertionError("it is not its turn")
        for turn in turns:
            await turn.__aexit__(None, None, None)
        async with follower.turn():
            pass


async def test_a_process_without_followers_holds_no_connection_for_them(
    app: App, sql: asyncpg.Connection
) -> None:
    """However fast they come and go, one listens while there are some, and none afterwards."""
    bell = app.house.pool.bell
    before = await sql.fetchval(_LISTENERS)

    async def until(count: int) -> None:
        async with asyncio.timeout(LONG_S):
            while await sql.fetchval(_LISTENERS) != before + count:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    for _ in range(20):
        with bell.following():
            await asyncio.sleep(0)
    with bell.following():
        for _ in range(20):
            with bell.following():
                await asyncio.sleep(0)
        await until(1)
        with bell.following() as follower:
            await follower.wait(0.1)
            await sql.execute("NOTIFY tillhouse_work")
            assert await took_s(follower) < 1
    await until(0)
