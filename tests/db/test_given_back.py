"""Connections that are given back in the middle of something: the next user begins anew."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import asyncpg
import pytest

from tests.waiting import within
from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Db, Pool

_LOCK, _WAIT = "SELECT pg_advisory_xact_lock(1)", "SELECT pg_advisory_xact_lock(2)"
_STATE = """
    SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS has_begun,
        (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')
            AS locks,
        current_setting('lock_timeout') AS lock_timeout, pg_backend_pid() AS pid
"""


class Held:
    """A pool with one connection for writes, beside a lock that others hold."""

    def __init__(self, pool: Pool, other: asyncpg.Connection) -> None:
        self.pool = pool
        self.other = other

    async def begin(self) -> tuple[Db, int]:
        """A transaction that has a lock, a setting and a number; and its server process."""
        db = self.pool.writer()
        await db.execute(_LOCK)
        await db.execute("SELECT set_config('lock_timeout', '77s', true)")
        await db.execute("SELECT pg_current_xact_id()")
        return db, await db.fetchval("SELECT pg_backend_pid()")

    async def waiting(self, db: Db, pid: int) -> asyncio.Task[str]:
        """A statement of it that waits."""
        task = asyncio.create_task(db.execute(_WAIT))
        waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)"
        async with within():
            while not await self.other.fetchval(waits, pid):
                pass
        return task


@pytest.fixture
async def held(fresh_database_url: str) -> AsyncIterator[Held]:
    """One for the test, and the lock that its statement waits for."""
    pool = await Pool.open(fresh_database_url, size=2)
    other = await asyncpg.connect(fresh_database_url)
    await other.execute("SELECT pg_advisory_lock(2)")
    yield Held(pool, other)
    await other.close()
    await pool.close()


async def _left(_held: Held, _db: Db, _pid: int) -> None:
    """Nothing ends the transaction."""


async def _failed(_held: Held, db: Db, _pid: int) -> None:
    with pytest.raises(asyncpg.PostgresError):
        await db.execute("SELECT 1 / 0")


async def _cancelled(held: Held, db: Db, pid: int) -> None:
    task = await held.waiting(db, pid)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def _too_long(_held: Held, db: Db, _pid: int) -> None:
    await db.execute("SELECT set_config('statement_timeout', '50ms', true)")
    with pytest.raises(asyncpg.QueryCanceledError):
        await db.execute(_WAIT)


async def _killed(held: Held, db: Db, pid: int) -> None:
    task = await held.waiting(db, pid)
    await held.other.execute("SELECT pg_terminate_backend($1)", pid)
    with pytest.raises(FAILURES):
        await task


async def _killed_unseen(held: Held, _db: Db, pid: int) -> None:
    await held.other.execute("SELECT pg_terminate_backend($1, 60000)", pid)


Way = Callable[[Held, Db, int], Awaitable[None]]


@pytest.mark.parametrize("ends", ["release", "rollback"])
@pytest.mark.parametrize("way", [_left, _failed, _cancelled, _too_long, _killed, _killed_unseen])
async def test_the_next_user_begins_anew(held: Held, way: Way, ends: str) -> None:
    """In no transaction, with no lock and no setting of the one before."""
    db, pid = await held.begin()
    await way(held, db, pid)
    try:
        await (db.release() if ends == "release" else db.rollback())
    except FAILURES:
        assert "kill" in way.__name__
    connection = await held.pool.acquire(write=True)
    found = await connection.fetchrow(_STATE)
    assert found is not None
    await held.pool.release(connection, write=True)
    assert (found["has_begun"], found["locks"], found["lock_timeout"]) == (False, 0, "5s")
    assert (found["pid"] == pid) == ("kill" not in way.__name__)


@pytest.mark.parametrize("write", [False, True])
async def test_a_connection_at_rest_is_back_at_once(held: Held, *, write: bool) -> None:
    """A caller who leaves meanwhile has nothing to break off; so no task is made for it."""
    connection = await held.pool.acquire(write=write)
    assert await connection.fetchval("SELECT 1") == 1
    with pytest.raises(StopIteration):
        held.pool.release(connection, write=write).send(None)
    assert held.pool.usage()[0] == 0


@pytest.mark.parametrize("write", [False, True])
async def test_a_handle_that_gave_its_connection_back_takes_another(
    held: Held, *, write: bool
) -> None:
    """Nothing that is asked of it meets the statements of whoever has that one now."""
    db = held.pool.writer() if write else held.pool.reader()
    await db.fetchval("SELECT 1")
    await db.rollback()
    connection = await held.pool.acquire(write=write)
    asking = asyncio.create_task(db.fetchval("SELECT pg_backend_pid()"))
    pid = await connection.fetchval("SELECT pg_backend_pid() FROM pg_sleep(0.05)")
    assert not asking.done()
    await held.pool.release(connection, write=write)
    assert await asking == pid
    await db.rollback()
