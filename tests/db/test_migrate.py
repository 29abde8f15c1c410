"""Migrations run once, in order, alone, each wholly or not at all."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from tests.waiting import within
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import (
    MIGRATIONS,
    Migration,
    MigrationError,
    load,
    migrate,
    plan,
    require_server,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """One server for the tests of this file."""
    embedded = Embedded.start(tmp_path_factory.mktemp("migrate"))
    yield embedded
    embedded.release()


@pytest.fixture
async def database(server: Embedded) -> str:
    """A new database's address."""
    name = f"test_{uuid4().hex}"
    async with connected(server.url) as connection:
        await connection.execute(f"CREATE DATABASE {name}")
    return server.url.replace("/tillhouse?", f"/{name}?")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two migrations that work."""
    (tmp_path / "0001_shops.sql").write_text("CREATE TABLE shops (id int); SELECT 1;")
    (tmp_path / "0002_names.sql").write_text("ALTER TABLE shops ADD COLUMN name text;")
    return tmp_path


@asynccontextmanager
async def connected(url: str, **settings: str) -> AsyncIterator[asyncpg.Connection]:
    """Hold a connection with settings of its own."""
    connection = await asyncpg.connect(url, server_settings=settings)
    try:
        yield connection
    finally:
        await connection.close()


async def tables(connection: asyncpg.Connection) -> set[str]:
    """Name the tables of the database."""
    rows = await connection.fetch("SELECT relname FROM pg_stat_user_tables")
    return {row["relname"] for row in rows}


async def test_applies_what_is_missing_and_reports_it(database: str, folder: Path) -> None:
    """A run applies, reports and records what is missing, and the next run finds nothing."""
    reported: list[Migration] = []
    async with connected(database) as connection:
        assert [step.label for step in await plan(connection, folder)] == [
            "0001_shops",
            "0002_names",
        ]
        assert await tables(connection) == set()
        assert await migrate(connection, reported.append, folder) == reported == load(folder)
        assert await tables(connection) == {"shops", "schema_migrations"}
        assert await plan(connection, folder) == []
        (folder / "0003_more.sql").write_text("CREATE TABLE more (id int);")
        assert [step.number for step in await migrate(connection, folder=folder)] == [3]
        rows = await connection.fetch("SELECT number, name FROM schema_migrations ORDER BY 1")
        assert [tuple(row) for row in rows] == [(1, "shops"), (2, "names"), (3, "more")]


async def test_own_migrations_apply(database: str) -> None:
    """The product's own migrations build a schema on an empty database."""
    async with connected(database) as connection:
        assert await migrate(connection) == load(MIGRATIONS)


async def test_second_runner_waits_and_applies_nothing(database: str, folder: Path) -> None:
    """Of two runners at once one does the work; the other waits longer than its timeouts."""
    (folder / "0001_shops.sql").write_text("CREATE TABLE shops (id int); SELECT pg_sleep(0.4);")
    fail_fast = {"statement_timeout": "200ms", "lock_timeout": "100ms"}
    async with (
        connected(database, **fail_fast) as first,
        connected(database, **fail_fast) as second,
    ):
        done = await asyncio.gather(migrate(first, folder=folder), migrate(second, folder=folder))
        assert sorted(len(steps) for steps in done) == [0, 2]
        assert await second.fetchval("SHOW statement_timeout") == "200ms"


async def test_failing_migration_leaves_nothing(database: str, folder: Path) -> None:
    """A failing step is undone as a whole, the ones before it stay, and the lock is free."""
    bad = folder / "0003_bad.sql"
    bad.write_text("CREATE TABLE half (id int); SELECT 1 / 0;")
    async with connected(database) as connection, connected(database) as other:
        with pytest.raises(MigrationError, match="0003_bad failed and changed nothing: division"):
            await migrate(connection, folder=folder)
        assert await tables(connection) == {"shops", "schema_migrations"}
        bad.write_text("CREATE TABLE whole (id int);")
        assert [step.number for step in await migrate(other, folder=folder)] == [3]


async def test_killed_runner_frees_the_lock(database: str, folder: Path) -> None:
    """A runner whose connection dies leaves neither half a step nor the lock behind."""
    step = folder / "0003_dies.sql"
    step.write_text("CREATE TABLE half (id int); SELECT pg_terminate_backend(pg_backend_pid());")
    async with connected(database) as connection, connected(database) as other:
        with pytest.raises((MigrationError, asyncpg.InterfaceError)):
            await migrate(connection, folder=folder)
        step.write_text("CREATE TABLE half (id int);")
        assert [step.number for step in await migrate(other, folder=folder)] == [3]


async def test_table_in_use_is_given_up(database: str, folder: Path) -> None:
    """A step that can't lock its table fails after a few seconds instead of blocking everybody."""
    async with connected(database) as connection, connected(database) as busy:
        await migrate(connection, folder=folder)
        (folder / "0003_more.sql").write_text(
            "SET LOCAL lock_timeout = '50ms'; ALTER TABLE shops ADD COLUMN more text;"
        )
        async with busy.transaction():
            await busy.execute("LOCK TABLE shops")
            with pytest.raises(MigrationError, match=r"0003_more failed .* lock timeout"):
                await migrate(connection, folder=folder)
        (folder / "0003_more.sql").write_text(
            "CREATE TABLE limits AS SELECT current_setting('lock_timeout') AS lock,"
            " current_setting('statement_timeout') AS statement;"
        )
        await migrate(connection, folder=folder)
        assert tuple(await connection.fetchrow("TABLE limits")) == ("4s", "15min")


async def _until_awaited(connection: asyncpg.Connection, table: str) -> None:
    """Until another connection waits for the lock of a table."""
    async with within():
        while not await connection.fetchval(  # noqa: ASYNC110 - the server tells nobody
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = $1::regclass", table
        ):
            await asyncio.sleep(0)


async def test_credit_that_changes_during_a_migration_is_counted(database: str) -> None:
    """A change that commits between the count and its trigger is part of the sum."""
    async with connected(database) as migrating, connected(database) as writing:
        await migrate(migrating, up_to=26)
        # Without foreign keys, so that one row is all that there has to be.
        await writing.execute("SET session_replication_role = replica")
        await writing.execute(
            "INSERT INTO ledger_balances (book_id, kind, owner_id, credits, debits) "
            "VALUES ($1, 'customer_credit', $1, 10, 0)",
            uuid4(),
        )
        async with writing.transaction():
            await writing.execute("UPDATE ledger_balances SET credits = 15")
            migrated = asyncio.create_task(migrate(migrating))
            await _until_awaited(writing, "ledger_balances")
        await migrated
        assert await writing.fetchval("SELECT sum(credit) FROM customer_credit_tallies") == 15


async def test_stays_and_conversations_of_before_are_tallied(database: str) -> None:
    """Those that were there, and one that commits between the count and its trigger."""
    async with connected(database) as migrating, connected(database) as writing:
        [tallied] = [one for one in load() if one.name == "tallies_of_stays_and_conversations"]
        await migrate(migrating, up_to=tallied.number - 1)
        # Without foreign keys, so that one row is all that there has to be.
        await writing.execute("SET session_replication_role = replica")
        book_id = uuid4()
        await writing.execute(_STAY, book_id, uuid4())
        await writing.execute(_CONVERSATION, book_id, uuid4())
        async with writing.transaction():
            await writing.execute(_STAY, book_id, uuid4())
            migrated = asyncio.create_task(migrate(migrating, up_to=tallied.number))
            await _until_awaited(writing, "hotel_reservations")
        await migrated
        stays = await writing.fetch(
            "SELECT side, period, day::text, status, stays FROM hotel_stay_tallies ORDER BY 1, 2"
        )
        assert [tuple(row) for row in stays] == [
            ("arrival", "day", "2026-01-31", "booked", 2),
            ("arrival", "month", "2026-01-01", "booked", 2),
            ("departure", "day", "2026-02-03", "booked", 2),
            ("departure", "month", "2026-02-01", "booked", 2),
        ]
        await migrate(migrating)
        assert await writing.fetchval("SELECT count(*) FROM hotel_stay_tallies") == 8
        [talks] = await writing.fetch("SELECT * FROM conversation_tallies")
        assert tuple(talks) == (book_id, "open", None, True, 1)


_STAY = """
    INSERT INTO hotel_reservations (book_id, id, short_code, status, guest_id, guest_name,
        room_type_id, room_id, adults, children, check_in_on, check_out_on, nights, taxes,
        total_amount, deposit_amount, currency, source, created_at, updated_at)
    VALUES ($1, $2, left($2::uuid::text, 8), 'booked', $2, 'Ada', $2, $2, 1, 0,
        '2026-01-31', '2026-02-03', '[]', '[]', 0, 0, 'NGN', 'front_desk', now(), now())
"""
_CONVERSATION = """
    INSERT INTO conversations (book_id, id, customer_phone, last_message_at, unread_count,
        created_at, updated_at)
    VALUES ($1, $2, '+2348030000001', now(), 2, now(), now())
"""


async def test_changed_migration_is_refused(database: str, folder: Path) -> None:
    """A text that changed after it was applied is refused."""
    async with connected(database) as connection:
        await migrate(connection, folder=folder)
        (folder / "0001_shops.sql").write_text("CREATE TABLE shops (id bigint);")
        with pytest.raises(MigrationError, match="0001_shops was changed after"):
            await migrate(connection, folder=folder)


async def test_newer_database_is_refused(database: str, folder: Path) -> None:
    """An older release refuses the database of a newer one."""
    async with connected(database) as connection:
        await migrate(connection, folder=folder)
        (folder / "0002_names.sql").unlink()
        with pytest.raises(MigrationError, match="at migration 0002, and this release knows 0001"):
            await plan(connection, folder)


async def test_gap_in_the_database_is_refused(database: str, folder: Path) -> None:
    """A database that lacks an earlier step is refused."""
    async with connected(database) as connection:
        await migrate(connection, folder=folder)
        await connection.execute("DELETE FROM schema_migrations WHERE number = 1")
        with pytest.raises(MigrationError, match="lacks migration 0001_shops"):
            await plan(connection, folder)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("0004_gap.sql", "", "Found migration 0004_gap where 0003"),
        ("0002_twice.sql", "", "Found migration 0002_twice where 0003"),
        ("3_short.sql", "", "Name the migration 3_short.sql"),
        ("0003_own.sql", "SELECT 1;\nCOMMIT;\n", "Take BEGIN and COMMIT out of 0003_own"),
    ],
)
def test_bad_folder_is_refused(folder: Path, name: str, text: str, complaint: str) -> None:
    """Files that can't be a sequence of steps are refused by name."""
    (folder / name).write_text(text)
    with pytest.raises(MigrationError, match=complaint):
        load(folder)


def test_old_server_is_refused() -> None:
    """PostgreSQL 15 is the oldest that will do."""
    require_server(15)
    with pytest.raises(MigrationError, match="needs PostgreSQL 15 or newer, and this server is 14"):
        require_server(14)
