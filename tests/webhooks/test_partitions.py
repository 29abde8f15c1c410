"""The log in weeks."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import asyncpg

from tests.webhooks.shop import until
from tillhouse.app import App
from tillhouse.db.pool import Db
from tillhouse.kit.ids import new_id
from tillhouse.webhooks.store.deliveries import turn_partitions

WEEKS = """
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'webhook_deliveries'::regclass ORDER BY 1
"""


async def _weeks(db: Db) -> list[str]:
    return [row["relname"] for row in await db.fetch(WEEKS)]


async def test_weeks_come_and_go(sending_app: App) -> None:
    """Coming weeks are made ahead; a week is dropped when all of it is older than is kept."""
    services = sending_app.services
    future = datetime(2031, 1, 8, tzinfo=UTC)
    async with services.pool.transaction() as db:
        assert await turn_partitions(db, future, 36500) == 0
        assert {"webhook_deliveries_20310106", "webhook_deliveries_20310120"} <= set(
            await _weeks(db)
        )
        later = future + timedelta(days=110)
        assert await turn_partitions(db, later, 100) > 0
        assert "webhook_deliveries_20310106" not in await _weeks(db)
        assert "webhook_deliveries_20310120" in await _weeks(db)
        # In this transaction only: other tests still need the present weeks.
        await db.rollback()


async def test_what_no_week_takes_is_forgotten_all_the_same(sending_app: App) -> None:
    """After a clock that was wrong or a long stop; a week that began there stays there."""
    services = sending_app.services
    future = datetime(2031, 1, 8, tzinfo=UTC)
    add = (
        "INSERT INTO webhook_events (book_id, id, type, payload) VALUES ($1, least_id($2), 'x', '')"
    )
    count = "SELECT count(*) FROM webhook_events_rest WHERE book_id = $1"
    async with services.pool.transaction() as db:
        book_id = new_id()
        for age in (0, 50, 110):
            await db.execute(add, book_id, future - timedelta(days=age))
        await turn_partitions(db, future, 100)
        assert await db.fetchval(count, book_id) == 2
        weeks = await _weeks(db)
        assert "webhook_deliveries_20310106" in weeks
        assert await db.fetchval("SELECT to_regclass('webhook_events_20310106')") is None
        assert await db.fetchval("SELECT to_regclass('webhook_events_20310113')")
        await turn_partitions(db, future + timedelta(days=101), 100)
        assert await db.fetchval(count, book_id) == 0
        await db.rollback()


async def test_everything_lands_in_a_week(sending_app: App) -> None:
    """An id of now belongs to a week's partition, never to the rest."""
    services = sending_app.services
    async with services.pool.reading() as db:
        row = await db.fetchrow(
            "SELECT (SELECT count(*) FROM webhook_events_rest) AS events, "
            "(SELECT count(*) FROM webhook_deliveries_rest) AS deliveries"
        )
    assert isinstance(row, asyncpg.Record)
    assert tuple(row) == (0, 0)


async def test_a_backup_that_takes_long_holds_up_no_event(sending_app: App) -> None:
    """A week that is to be dropped stays until the backup is over; events are written meanwhile."""
    services = sending_app.services
    long_ago = datetime(2021, 1, 6, tzinfo=UTC)
    async with services.pool.transaction() as db:
        await turn_partitions(db, long_ago, 36500)

    async def turn() -> None:
        with suppress(asyncpg.LockNotAvailableError):
            async with services.pool.transaction() as db:
                await turn_partitions(db, datetime.now(UTC), 100)

    async with services.pool.transaction() as backup:
        await backup.execute("LOCK TABLE webhook_events, webhook_deliveries IN ACCESS SHARE MODE")
        turning = asyncio.create_task(turn())

        async def waits() -> bool:
            waiting = "SELECT bool_or(NOT granted) FROM pg_locks WHERE mode = 'AccessExclusiveLock'"
            return turning.done() or await backup.fetchval(waiting)

        await until(waits)
        async with services.pool.transaction() as writing:
            # Shorter than a request waits, and many times what a chore may wait.
            await writing.execute("SET LOCAL lock_timeout = '3s'")
            await writing.execute(
                "INSERT INTO webhook_events (book_id, id, type, payload)"
                " VALUES ($1, new_id(now()), 'x', '')",
                new_id(),
            )
            await writing.rollback()
        await turning
        assert "webhook_deliveries_20210104" in await _weeks(backup)
    await turn()
    async with services.pool.reading() as db:
        assert "webhook_deliveries_20210104" not in await _weeks(db)
