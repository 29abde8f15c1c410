"""Batches: the items that share one, and the fate of those whose batch fails."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import asyncpg
import pytest

from tests.waiting import within
from tillhouse.db.batcher import ITEMS_MAX, WEIGHT_MAX, StatementBatcher
from tillhouse.db.connecting import FAIL_FAST, FAILURES
from tillhouse.db.pool import Db, Pool
from tillhouse.kit.errors import Unavailable


@pytest.fixture
async def pool(fresh_database_url: str) -> AsyncIterator[Pool]:
    """A pool on a database with one table."""
    opened = await Pool.open(fresh_database_url, size=8, fail_fast=2)
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
        self.batcher = StatementBatcher(pool)
        self.companies: list[list[str]] = []
        # How long the statements would wait for a lock.
        self.waits: set[str] = set()
        # Somebody's statement is on its way.
        self.sent = asyncio.Event()

    async def record(self, db: Db, place: str, items: Sequence[str]) -> bool:
        """All of them, or none."""
        self.companies.append(list(items))
        self.sent.set()
        row = await db.write_once(
            """
            INSERT INTO notes SELECT unnest($1::text[])
            RETURNING current_setting('lock_timeout') AS waits
            """,
            list(items),
        )
        assert row is not None
        self.waits.add(row["waits"])
        return True

    async def linger(self, db: Db, place: str, items: Sequence[str]) -> bool:
        """Stay in the database for longer than anybody would wait."""
        self.companies.append(list(items))
        await db.write_once("SELECT pg_sleep(15)")
        return True

    async def write(self, item: str, *, place: str = "here", weight: int = 1) -> bool:
        """One request's own way to it."""
        db = self.pool.writer(commits_next=True)
        try:
            return await self.batcher.write(db, self.record, place, item, weight=weight)
        finally:
            await db.rollback()

    async def notes(self) -> set[str]:
        """The rows that every transaction can read."""
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


async def test_those_who_wait_together_go_together(desk: Desk) -> None:
    """In the order in which they came, as many as one statement takes."""
    names = [f"{number:02}" for number in range(ITEMS_MAX + 4)]
    assert all(await asyncio.gather(*(desk.write(name) for name in names)))
    assert desk.companies == [names[:ITEMS_MAX], names[ITEMS_MAX:]]
    assert await desk.notes() == set(names)


async def test_who_comes_while_one_is_under_way_shares_the_next(desk: Desk) -> None:
    """The first goes at once and alone; nobody joins a statement that was sent before."""
    first = asyncio.create_task(desk.write("one"))
    await desk.sent.wait()
    later = [asyncio.create_task(desk.write(name)) for name in ("two", "three")]
    assert all(await asyncio.gather(first, *later))
    assert desk.companies == [["one"], ["two", "three"]]


async def test_heavy_ones_go_apart(desk: Desk) -> None:
    """One statement takes so much and no more, but always one."""
    heavy = [desk.write(name, weight=WEIGHT_MAX) for name in ("one", "two")]
    assert all(await asyncio.gather(*heavy, desk.write("three", weight=2 * WEIGHT_MAX)))
    assert desk.companies == [["one"], ["two"], ["three"]]


async def test_different_places_do_not_wait_for_each_other(desk: Desk) -> None:
    """Each has a queue of its own."""
    first = asyncio.create_task(desk.write("one", place="there"))
    await desk.sent.wait()
    assert await asyncio.gather(desk.write("two"), desk.write("three")) == [True, True]
    assert await first
    assert desk.companies == [["one"], ["two", "three"]]


async def test_nobody_waits_for_a_lock_in_company(desk: Desk) -> None:
    """Each is told to go on by itself, and those who come later aren't held up."""
    rival = await held(desk.pool, "one")
    assert await asyncio.gather(*(desk.write(name) for name in ("one", "two"))) == [False, False]
    assert await desk.write("one") is False
    assert await desk.write("two")
    assert desk.waits == {FAIL_FAST["lock_timeout"]}
    await rival.rollback()
    assert await desk.write("one")


async def test_of_a_company_that_breaks_a_rule_nobody_is_written(desk: Desk) -> None:
    """Each may go on by itself; who is alone hears what is wrong."""
    assert await desk.write("one")
    assert await asyncio.gather(*(desk.write(name) for name in ("one", "two"))) == [False, False]
    assert await desk.notes() == {"one"}
    with pytest.raises(asyncpg.UniqueViolationError):
        await desk.write("one")
    assert await desk.write("two")


async def test_a_handle_goes_on_only_when_it_was_not_written(pool: Pool, desk: Desk) -> None:
    """The batch's write is durable, so nothing may follow it."""
    db = pool.writer(commits_next=True)
    assert await desk.batcher.write(db, desk.record, "here", "one")
    with pytest.raises(RuntimeError, match="nothing may follow"):
        await db.execute("SELECT 1")
    both = [pool.writer(commits_next=True) for _ in range(2)]
    await asyncio.gather(*(desk.batcher.write(one, desk.record, "here", "one") for one in both))
    for number, one in enumerate(both):
        await one.execute("INSERT INTO notes VALUES ($1)", f"again {number}")
        await one.commit()
    assert await desk.notes() == {"one", "again 0", "again 1"}


async def test_no_transaction_waits_in_a_lane(pool: Pool, desk: Desk) -> None:
    """Its own writes would not be part of the batch."""
    db = pool.writer(commits_next=True)
    await db.execute("INSERT INTO notes VALUES ('one')")
    with pytest.raises(RuntimeError, match="has begun"):
        await desk.batcher.write(db, desk.record, "here", "two")
    await db.rollback()
    assert await desk.notes() == set()


async def test_who_gives_up_takes_nobody_along(desk: Desk) -> None:
    """Before it is sent, it isn't; afterwards the others are served all the same."""
    names = ("one", "two", "three", "four")
    first, second = (asyncio.create_task(desk.write(name)) for name in names[:2])
    await desk.sent.wait()
    third, fourth = (asyncio.create_task(desk.write(name)) for name in names[2:])
    await asyncio.sleep(0)
    first.cancel()
    third.cancel()
    assert await asyncio.gather(second, fourth) == [True, True]
    assert desk.companies == [["one", "two"], ["four"]]
    assert await desk.notes() == {"one", "two", "four"}
    assert desk.pool.usage()[0] == 0


async def test_an_end_of_the_connection_is_told_to_all(pool: Pool, desk: Desk) -> None:
    """Nobody is left waiting, and the next ones find another connection."""
    async with pool.reading() as db:
        own = await db.fetchval("SELECT pg_backend_pid()")
        await desk.write("zero")
        writers = [pool.writer(commits_next=True) for _ in range(2)]
        tasks = [
            asyncio.create_task(desk.batcher.write(one, desk.linger, "here", "one"))
            for one in writers
        ]
        while not await db.fetchval(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event = 'PgSleep' AND pid <> $1
            """,
            own,
        ):
            pass
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(end, FAILURES) for end in ends), ends
    assert await desk.write("three")
    assert await desk.notes() == {"zero", "three"}


@pytest.mark.proof
async def test_without_a_connection_nobody_waits_in_turn(desk: Desk) -> None:
    """The next item has waited as long, and gets the same answer: no batch follows the first."""
    holders = [desk.pool.writer(fails_fast=True) for _ in range(2)]
    for holder in holders:
        await holder.execute("SELECT 1")
    writes = [desk.write(str(number)) for number in range(2 * ITEMS_MAX + 1)]
    ends = await asyncio.gather(*writes, return_exceptions=True)
    assert {type(end) for end in ends} == {Unavailable}
    assert desk.companies == [[str(number) for number in range(ITEMS_MAX)]]
    for holder in holders:
        await holder.rollback()
    assert await desk.write("one")


async def test_what_can_not_be_stored_is_told_to_its_owner_alone(desk: Desk) -> None:
    """A text with a NUL is no text of the database's."""
    assert await asyncio.gather(desk.write("one"), desk.write("t\0wo")) == [False, False]
    with pytest.raises(asyncpg.CharacterNotInRepertoireError):
        await desk.write("t\0wo")
    assert await desk.write("one")


async def test_lanes_are_forgotten_when_nobody_is_there(desk: Desk) -> None:
    """A process that serves many places keeps none of them."""
    await asyncio.gather(*(desk.write(str(place), place=str(place)) for place in range(30)))
    assert desk.batcher._queues == {}


async def sums(db: Db, place: int, items: Sequence[int]) -> int:
    """Work that reads: the sum of the whole batch, and of the key."""
    row = await db.read_before("SELECT sum(n) AS sum FROM unnest($1::int[]) AS n", list(items))
    assert row is not None
    return row["sum"] + place


async def test_what_is_read_together_is_told_to_each(pool: Pool) -> None:
    """Once for all, and the handles of the requests hold nothing for it."""
    batcher, handles = StatementBatcher(pool), [pool.writer(commits_next=True) for _ in range(3)]
    before = pool.statements
    reads = [batcher.read(db, sums, 100, item) for item, db in enumerate(handles)]
    assert await asyncio.gather(*reads) == [103] * 3
    assert pool.statements - before == 1
    assert pool.usage()[0] == 0


async def test_who_has_begun_to_write_reads_in_the_transaction(pool: Pool) -> None:
    """So that it reads what it wrote, and holds what it locked."""

    async def counts(db: Db, place: str, items: Sequence[str]) -> int:
        row = await db.read_before("SELECT count(*) AS notes FROM notes")
        assert row is not None
        return row["notes"]

    db, batcher = pool.writer(commits_next=True), StatementBatcher(pool)
    await db.execute("INSERT INTO notes VALUES ('one')")
    assert await batcher.read(db, counts, "here", "") == 1
    await db.rollback()
    assert await batcher.read(db, counts, "here", "") == 0
    await db.rollback()


async def test_what_can_not_be_read_at_once_is_read_alone(pool: Pool) -> None:
    """A table that is being altered is waited for by each request itself."""

    async def names(db: Db, place: str, items: Sequence[str]) -> list[str]:
        row = await db.read_before("SELECT array_agg(text) AS texts FROM notes")
        assert row is not None
        return row["texts"]

    altering = pool.writer()
    await altering.execute("LOCK TABLE notes")
    await altering.execute("INSERT INTO notes VALUES ('one')")
    db = pool.writer(commits_next=True)
    reading = asyncio.create_task(StatementBatcher(pool).read(db, names, "here", ""))
    async with within(), pool.reading() as other:
        while not await other.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
            "AND datname = current_database() AND state_change < now() - interval '0.3 s'"
        ):
            pass
    assert not reading.done()
    await altering.commit()
    assert await reading == ["one"]
    await db.rollback()
