"""Lanes: who goes together, and what becomes of those whose company fails."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import asyncpg
import pytest

from tillhouse.db.lanes import ITEMS_MAX, WEIGHT_MAX, Lanes
from tillhouse.db.pool import FAILURES, Db, Pool


@pytest.fixture
async def pool(fresh_database_url: str) -> AsyncIterator[Pool]:
    """A pool on a database with one table."""
    opened = await Pool.open(fresh_database_url, size=8)
    async with opened.transaction() as db:
        await db.execute("CREATE TABLE notes (text text UNIQUE)")
    yield opened
    async with opened.transaction() as db:
        await db.execute("DROP TABLE notes")
    await opened.close()


class Desk:
    """A place to write at, which remembers who came together."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.lanes = Lanes(pool)
        self.companies: list[list[str]] = []

    async def record(self, db: Db, place: str, items: Sequence[str]) -> bool:
        """All of them, or none."""
        self.companies.append(list(items))
        await db.whole("INSERT INTO notes SELECT unnest($1::text[])", list(items))
        return True

    async def write(self, item: str, *, place: str = "here", weight: int = 1) -> bool:
        """One request's own way to it."""
        db = self.pool.writer(is_brief=True)
        try:
            return await self.lanes.write(db, self.record, place, item, weight=weight)
        finally:
            await db.rollback()

    async def notes(self) -> set[str]:
        """What everybody can read."""
        async with self.pool.reading() as db:
            return {row["text"] for row in await db.fetch("SELECT text FROM notes")}


@pytest.fixture
def desk(pool: Pool) -> Desk:
    """Where the tests write."""
    return Desk(pool)


async def held(pool: Pool, text: str) -> Db:
    """A transaction that has written a text, and goes on."""
    db = pool.writer()
    await db.execute("INSERT INTO notes VALUES ($1)", text)
    return db


_WAITING = """
    FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


async def waits_for_lock(pool: Pool) -> None:
    """Until a statement waits for somebody's lock."""
    async with asyncio.timeout(10), pool.reading() as db:
        while not await db.fetchval("SELECT count(*)" + _WAITING):
            pass


async def test_those_who_wait_together_go_together(desk: Desk) -> None:
    """In the order in which they came, as many as one statement takes."""
    names = [f"{number:02}" for number in range(ITEMS_MAX + 4)]
    assert all(await asyncio.gather(*(desk.write(name) for name in names)))
    assert desk.companies == [names[:ITEMS_MAX], names[ITEMS_MAX:]]
    assert await desk.notes() == set(names)


async def test_who_comes_while_one_is_under_way_shares_the_next(desk: Desk) -> None:
    """The first goes at once and alone; nobody joins a statement that was sent before."""
    rival = await held(desk.pool, "one")
    first = asyncio.create_task(desk.write("one"))
    await waits_for_lock(desk.pool)
    later = [asyncio.create_task(desk.write(name)) for name in ("two", "three")]
    await asyncio.sleep(0)
    await rival.rollback()
    assert all(await asyncio.gather(first, *later))
    assert desk.companies == [["one"], ["two", "three"]]


async def test_heavy_ones_go_apart(desk: Desk) -> None:
    """One statement takes so much and no more, but always one."""
    heavy = [desk.write(name, weight=WEIGHT_MAX) for name in ("one", "two")]
    assert all(await asyncio.gather(*heavy, desk.write("three", weight=2 * WEIGHT_MAX)))
    assert desk.companies == [["one"], ["two"], ["three"]]


async def test_different_places_do_not_wait_for_each_other(desk: Desk) -> None:
    """Each has a lane of its own."""
    rival = await held(desk.pool, "one")
    first = asyncio.create_task(desk.write("one", place="there"))
    await waits_for_lock(desk.pool)
    assert await desk.write("two")
    assert not first.done()
    await rival.rollback()
    assert await first


async def test_nobody_waits_long_behind_one_who_waits_for_a_lock(desk: Desk) -> None:
    """What is stuck is passed, also at its own place."""
    rival = await held(desk.pool, "one")
    first = asyncio.create_task(desk.write("one"))
    await waits_for_lock(desk.pool)
    async with asyncio.timeout(3):
        assert await desk.write("two")
    assert not first.done()
    await rival.rollback()
    assert await first


async def test_of_a_company_that_breaks_a_rule_nobody_is_written(desk: Desk) -> None:
    """Each may go on by itself; who is alone hears what is wrong."""
    assert await desk.write("one")
    assert await asyncio.gather(*(desk.write(name) for name in ("one", "two"))) == [False, False]
    assert await desk.notes() == {"one"}
    with pytest.raises(asyncpg.UniqueViolationError):
        await desk.write("one")
    assert await desk.write("two")


async def test_a_handle_goes_on_only_when_it_was_not_written(pool: Pool, desk: Desk) -> None:
    """What was written by the lane is lasting, so that nothing may follow."""
    db = pool.writer(is_brief=True)
    assert await desk.lanes.write(db, desk.record, "here", "one")
    with pytest.raises(RuntimeError, match="nothing may follow"):
        await db.execute("SELECT 1")
    both = [pool.writer(is_brief=True) for _ in range(2)]
    await asyncio.gather(*(desk.lanes.write(one, desk.record, "here", "one") for one in both))
    for number, one in enumerate(both):
        await one.execute("INSERT INTO notes VALUES ($1)", f"again {number}")
        await one.commit()
    assert await desk.notes() == {"one", "again 0", "again 1"}


async def test_no_transaction_waits_in_a_lane(pool: Pool, desk: Desk) -> None:
    """What it has written would not be part of it."""
    db = pool.writer(is_brief=True)
    await db.execute("INSERT INTO notes VALUES ('one')")
    with pytest.raises(RuntimeError, match="has begun"):
        await desk.lanes.write(db, desk.record, "here", "two")
    await db.rollback()
    assert await desk.notes() == set()


async def test_who_gives_up_takes_nobody_along(desk: Desk) -> None:
    """Before it is sent, it isn't; afterwards the others are served all the same."""
    rival = await held(desk.pool, "one")
    names = ("one", "two", "three", "four")
    first, second = (asyncio.create_task(desk.write(name)) for name in names[:2])
    await waits_for_lock(desk.pool)
    third, fourth = (asyncio.create_task(desk.write(name)) for name in names[2:])
    await asyncio.sleep(0)
    first.cancel()
    third.cancel()
    await rival.rollback()
    assert await asyncio.gather(second, fourth) == [True, True]
    assert desk.companies == [["one", "two"], ["four"]]
    assert await desk.notes() == {"one", "two", "four"}
    assert desk.pool.usage()[0] == 0


async def test_an_end_of_the_connection_is_told_to_all(pool: Pool, desk: Desk) -> None:
    """Nobody is left waiting, and the next ones find another connection."""
    rival = await held(pool, "one")
    tasks = [asyncio.create_task(desk.write(name)) for name in ("one", "two")]
    await waits_for_lock(pool)
    async with pool.reading() as db:
        await db.execute("SELECT pg_terminate_backend(pid)" + _WAITING)
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(end, FAILURES) for end in ends), ends
    await rival.rollback()
    assert await desk.write("three")
    assert await desk.notes() == {"three"}


async def test_lanes_are_forgotten_when_nobody_is_there(desk: Desk) -> None:
    """A process that serves many places keeps none of them."""
    await asyncio.gather(*(desk.write(str(place), place=str(place)) for place in range(30)))
    assert len(desk.lanes) == 0


async def test_what_is_read_together_is_told_to_each(pool: Pool) -> None:
    """Work that only reads needs no handle of the request."""

    async def sums(db: Db, place: int, items: Sequence[int]) -> int:
        row = await db.ahead("SELECT sum(n) AS sum FROM unnest($1::int[]) AS n", list(items))
        assert row is not None
        return row["sum"] + place

    lanes = Lanes(pool)
    assert await asyncio.gather(*(lanes.share(sums, 100, item) for item in (1, 2, 3))) == [106] * 3
    assert pool.usage()[0] == 0
