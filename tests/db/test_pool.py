"""Connections: what a handle sends, and what becomes of it."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from tests.system.killing_proxy import Proxy, Target
from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Db, Pool
from tillhouse.kit.errors import Unavailable

WRITE = "INSERT INTO notes (text) VALUES ($1) RETURNING text"


@pytest.fixture
async def pool(fresh_database_url: str) -> AsyncIterator[Pool]:
    """A pool on a database with one table."""
    opened = await Pool.open(fresh_database_url, size=4)
    async with opened.transaction() as db:
        await db.execute("CREATE TABLE notes (text text UNIQUE)")
    yield opened
    async with opened.transaction() as db:
        await db.execute("DROP TABLE notes")
    await opened.close()


async def notes(pool: Pool) -> list[str]:
    """The rows that every transaction can read."""
    async with pool.reading() as db:
        return [row["text"] for row in await db.fetch("SELECT text FROM notes ORDER BY text")]


async def test_a_whole_write_is_lasting_when_it_returns(pool: Pool) -> None:
    """It needs no commit, and a rollback that comes after it takes nothing back."""
    db = pool.writer(commits_next=True)
    assert db.can_write_once
    row = await db.write_once(WRITE, "one")
    assert row is not None
    assert row["text"] == "one"
    assert await notes(pool) == ["one"]
    await db.rollback()
    assert await notes(pool) == ["one"]


async def test_nothing_follows_a_whole_write(pool: Pool) -> None:
    """A later statement would be a transaction of its own, so it is refused."""
    db = pool.writer(commits_next=True)
    await db.write_once(WRITE, "one")
    assert not db.can_write_once
    with pytest.raises(RuntimeError, match="is over"):
        await db.write_once(WRITE, "two")
    with pytest.raises(RuntimeError, match="nothing may follow"):
        await db.execute(WRITE, "two")
    await db.commit()
    assert await notes(pool) == ["one"]


async def test_a_whole_write_that_fails_can_be_tried_as_a_part(pool: Pool) -> None:
    """The holder goes on in a transaction, on the same connection."""
    db = pool.writer(commits_next=True)
    await db.write_once(WRITE, "one")
    await db.release()
    db = pool.writer(commits_next=True)
    with pytest.raises(asyncpg.UniqueViolationError):
        await db.write_once(WRITE, "one")
    assert db.can_write_once
    await db.execute(WRITE, "two")
    assert not db.can_write_once
    assert await notes(pool) == ["one"]
    await db.commit()
    assert await notes(pool) == ["one", "two"]


async def test_no_write_is_whole_within_a_transaction(pool: Pool) -> None:
    """Neither once it has begun, nor where the holder may go on after it."""
    begun, long = pool.writer(commits_next=True), pool.writer()
    await begun.execute(WRITE, "one")
    for db in (begun, long):
        assert not db.can_write_once
        with pytest.raises(RuntimeError, match="has begun"):
            await db.write_once(WRITE, "two")
        await db.rollback()
    assert await notes(pool) == []


async def test_a_row_is_read_ahead_of_the_transaction(pool: Pool) -> None:
    """A brief write hasn't begun by that; another has, and a read never does."""
    moment = "SELECT now() AS begun, pg_backend_pid() AS pid"
    for db, is_begun in (
        (pool.writer(commits_next=True), False),
        (pool.writer(), True),
        (pool.reader(), False),
    ):
        first, second = await db.read_before(moment), await db.read_before(moment)
        assert first is not None
        assert second is not None
        assert first["pid"] == second["pid"]
        assert (first["begun"] == second["begun"]) is is_begun
        await db.rollback()


async def test_writes_keep_their_plans_and_reads_do_not(pool: Pool) -> None:
    """Each has connections of its own, also those of a worker with its own planner."""
    asked = "SELECT current_setting('plan_cache_mode')"
    beside = await pool.beside(size=2, planner={"plan_cache_mode": "force_custom_plan"})
    try:
        for one, reads, writes in (
            (pool, "auto", "force_generic_plan"),
            (beside, "force_custom_plan", "force_generic_plan"),
        ):
            async with one.reading() as db:
                assert await db.fetchval(asked) == reads
            async with one.transaction() as db:
                assert await db.fetchval(asked) == writes
    finally:
        await beside.close()


class Lost(Target):
    """A connection that dies at a statement: of the first so many, as if it had died before."""

    def __init__(self, statement: bytes, times: int) -> None:
        super().__init__(times, is_after=False)
        self._statement = statement

    def hits(self, pid: int, kind: bytes, text: bytes, *, in_transaction: bool) -> bool:
        """Count what begins by the statement."""
        self.seen += text.startswith(self._statement)
        return text.startswith(self._statement) and self.seen <= self.number

    def kill(self) -> None:
        """The proxy lets the connection go; its process goes on."""
        self.is_dead = True


async def test_a_transaction_begins_on_a_connection_that_lives(
    pool: Pool, fresh_database_url: str
) -> None:
    """Connections that died in the pool are passed over, until none is left to try."""
    with tempfile.TemporaryDirectory() as folder:
        async with Proxy(Path(folder), fresh_database_url) as proxy:
            behind = await Pool.open(proxy.url, size=4)
            proxy.target = Lost(b"BEGIN", 2)
            async with behind.transaction() as db:
                await db.execute(WRITE, "one")
            assert proxy.target.seen == 3
            assert await notes(pool) == ["one"]
            proxy.target = Lost(b"BEGIN", 100)
            with pytest.raises(Unavailable):
                await behind.writer().execute(WRITE, "two")
            assert 1 < proxy.target.seen <= behind.writers + 1
            proxy.target = None
            await behind.close()
    assert await notes(pool) == ["one"]


async def insert_and_commit(db: Db) -> None:
    """The rest of a transaction."""
    await db.execute(WRITE, "one")
    await db.commit()


async def test_what_was_sent_is_never_sent_again(pool: Pool, fresh_database_url: str) -> None:
    """A connection that dies after a read, at a write or at the commit is told as a failure."""
    with tempfile.TemporaryDirectory() as folder:
        async with Proxy(Path(folder), fresh_database_url) as proxy:
            for statement in (b"BEGIN", b"INSERT", b"COMMIT"):
                behind = await Pool.open(proxy.url, size=4)
                db = behind.writer(commits_next=True)
                await db.read_before("SELECT 1")
                proxy.target = Lost(statement, 1)
                with pytest.raises(FAILURES):
                    await insert_and_commit(db)
                assert proxy.target.seen == 1
                proxy.target = None
                await db.rollback()
                await behind.close()
    assert await notes(pool) == []


async def test_a_commit_that_fails_gives_its_connection_back(
    pool: Pool, fresh_database_url: str
) -> None:
    """Whether it is refused or its connection dies: so often that none were left otherwise."""
    async with pool.transaction() as db:
        await db.execute(
            "ALTER TABLE notes ADD CONSTRAINT late UNIQUE (text) DEFERRABLE INITIALLY DEFERRED"
        )
        await db.execute("ALTER TABLE notes DROP CONSTRAINT notes_text_key")
        await db.execute(WRITE, "one")
    for _ in range(pool.writers + 1):
        with pytest.raises(asyncpg.UniqueViolationError):
            async with pool.transaction() as db:
                await db.execute(WRITE, "one")
    with tempfile.TemporaryDirectory() as folder:
        async with Proxy(Path(folder), fresh_database_url) as proxy:
            behind = await Pool.open(proxy.url, size=4)
            for _ in range(behind.writers + 1):
                proxy.target = Lost(b"COMMIT", 1)
                with pytest.raises(FAILURES):
                    async with behind.transaction() as db:
                        await db.execute(WRITE, "two")
            proxy.target = None
            async with behind.transaction() as db:
                await db.execute(WRITE, "three")
            await behind.close()
    assert pool.usage()[0] == 0
    assert await notes(pool) == ["one", "three"]


async def test_as_many_connections_as_were_asked_for(database_url: str) -> None:
    """Half of them read and half write, however many there are, besides those that fail fast."""
    for size, fail_fast in ((1, 0), (2, 0), (5, 0), (4, 1), (9, 2)):
        pool = await Pool.open(database_url, size=size, fail_fast=fail_fast)
        others = size - fail_fast
        held = [pool.reader() for _ in range(max(1, others - others // 2))]
        held += [pool.writer() for _ in range(others // 2)]
        held += [pool.writer(fails_fast=True) for _ in range(fail_fast)]
        for db in held:
            await db.fetchval("SELECT 1")
        assert pool.usage() == (size, size)
        for db in held:
            await db.rollback()
        await pool.close()


async def test_a_server_that_is_away_is_not_asked_by_everybody(database_url: str) -> None:
    """A request just after a failed attempt is refused at once; a later one tries again."""
    with tempfile.TemporaryDirectory() as folder:
        async with Proxy(Path(folder), database_url) as proxy:
            pool = await Pool.open(proxy.url, size=2)
            async with pool.reading() as db:
                assert await db.fetchval("SELECT 1") == 1
        outcomes: list[str] = []
        # A connection that has just died may be handed out once. However slow the machine is: of
        # those who ask again and again, more are told than try.
        while outcomes.count("told") <= outcomes.count("tried"):
            try:
                await pool.reader().fetchval("SELECT 1")
            except Unavailable:
                outcomes.append("told")
            except FAILURES:
                outcomes.append("tried")
            assert len(outcomes) < 100
        async with Proxy(Path(folder), database_url):
            while True:
                db = pool.reader()
                try:
                    assert await db.fetchval("SELECT 1") == 1
                    break
                except Unavailable:
                    outcomes.append("told")
                finally:
                    await db.release()
        assert outcomes.count("tried") < outcomes.count("told"), outcomes[:100]
        await pool.close()
