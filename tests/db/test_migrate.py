"""Migrations run once, in order, alone, each wholly or not at all."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import (
    Migration,
    MigrationError,
    load,
    migrate,
    plan,
    require_server,
)

SHOPS = "shops/schema.sql"


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
    """The migrations of a room that has one, beside the room's table."""
    migrations = tmp_path / "shops" / "migrations"
    migrations.mkdir(parents=True)
    (tmp_path / SHOPS).write_text("CREATE TABLE shops (id int); SELECT 1;")
    (migrations / "0002_names.sql").write_text("ALTER TABLE shops ADD COLUMN name text;")
    return migrations


def steps(folder: Path) -> list[Migration]:
    """The steps of that room."""
    return load(folder.parents[1], [SHOPS])


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
        assert [step.label for step in await plan(connection, steps(folder))] == [
            "0001_schema",
            "0002_names",
        ]
        assert await tables(connection) == set()
        assert (
            await migrate(connection, reported.append, steps(folder)) == reported == steps(folder)
        )
        assert await tables(connection) == {"shops", "schema_migrations"}
        assert await plan(connection, steps(folder)) == []
        (folder / "0003_more.sql").write_text("CREATE TABLE more (id int);")
        assert [step.number for step in await migrate(connection, steps=steps(folder))] == [3]
        rows = await connection.fetch("SELECT number, name FROM schema_migrations ORDER BY 1")
        assert [tuple(row) for row in rows] == [(1, "schema"), (2, "names"), (3, "more")]


async def test_own_migrations_apply(database: str) -> None:
    """The product's own migrations build a schema on an empty database."""
    async with connected(database) as connection:
        assert await migrate(connection) == load()


async def test_second_runner_waits_and_applies_nothing(database: str, folder: Path) -> None:
    """Of two runners at once one does the work; the other waits longer than its timeouts."""
    (folder.parent / "schema.sql").write_text("CREATE TABLE shops (id int); SELECT pg_sleep(0.4);")
    fail_fast = {"statement_timeout": "200ms", "lock_timeout": "100ms"}
    async with (
        connected(database, **fail_fast) as first,
        connected(database, **fail_fast) as second,
    ):
        done = await asyncio.gather(
            migrate(first, steps=steps(folder)), migrate(second, steps=steps(folder))
        )
        assert sorted(len(steps) for steps in done) == [0, 2]
        assert await second.fetchval("SHOW statement_timeout") == "200ms"


async def test_failing_migration_leaves_nothing(database: str, folder: Path) -> None:
    """A failing step is undone as a whole, the ones before it stay, and the lock is free."""
    bad = folder / "0003_bad.sql"
    bad.write_text("CREATE TABLE half (id int); SELECT 1 / 0;")
    async with connected(database) as connection, connected(database) as other:
        with pytest.raises(MigrationError, match="0003_bad failed and changed nothing: division"):
            await migrate(connection, steps=steps(folder))
        assert await tables(connection) == {"shops", "schema_migrations"}
        bad.write_text("CREATE TABLE whole (id int);")
        assert [step.number for step in await migrate(other, steps=steps(folder))] == [3]


async def test_killed_runner_frees_the_lock(database: str, folder: Path) -> None:
    """A runner whose connection dies leaves neither half a step nor the lock behind."""
    step = folder / "0003_dies.sql"
    step.write_text("CREATE TABLE half (id int); SELECT pg_terminate_backend(pg_backend_pid());")
    async with connected(database) as connection, connected(database) as other:
        with pytest.raises((MigrationError, asyncpg.InterfaceError)):
            await migrate(connection, steps=steps(folder))
        step.write_text("CREATE TABLE half (id int);")
        assert [step.number for step in await migrate(other, steps=steps(folder))] == [3]


async def test_table_in_use_is_given_up(database: str, folder: Path) -> None:
    """A step that can't lock its table fails after a few seconds instead of blocking everybody."""
    async with connected(database) as connection, connected(database) as busy:
        await migrate(connection, steps=steps(folder))
        (folder / "0003_more.sql").write_text(
            "SET LOCAL lock_timeout = '50ms'; ALTER TABLE shops ADD COLUMN more text;"
        )
        async with busy.transaction():
            await busy.execute("LOCK TABLE shops")
            with pytest.raises(MigrationError, match=r"0003_more failed .* lock timeout"):
                await migrate(connection, steps=steps(folder))
        (folder / "0003_more.sql").write_text(
            "CREATE TABLE limits AS SELECT current_setting('lock_timeout') AS lock,"
            " current_setting('statement_timeout') AS statement;"
        )
        await migrate(connection, steps=steps(folder))
        assert tuple(await connection.fetchrow("TABLE limits")) == ("4s", "15min")


async def test_changed_migration_is_refused(database: str, folder: Path) -> None:
    """A text that changed after it was applied is refused."""
    async with connected(database) as connection:
        await migrate(connection, steps=steps(folder))
        (folder.parent / "schema.sql").write_text("CREATE TABLE shops (id bigint);")
        with pytest.raises(MigrationError, match="0001_schema was changed after"):
            await migrate(connection, steps=steps(folder))


async def test_comments_may_change(database: str, folder: Path) -> None:
    """A sentence about a table may be corrected, and its lines may be broken elsewhere."""
    async with connected(database) as connection:
        await migrate(connection, steps=steps(folder))
        text = "-- The shops.\nCREATE TABLE shops\n    (id int); -- All of them.\nSELECT 1;\n"
        (folder.parent / "schema.sql").write_text(text)
        assert await plan(connection, steps(folder)) == []


async def test_newer_database_is_refused(database: str, folder: Path) -> None:
    """An older release refuses the database of a newer one."""
    async with connected(database) as connection:
        await migrate(connection, steps=steps(folder))
        (folder / "0002_names.sql").unlink()
        with pytest.raises(MigrationError, match="at migration 0002, and this release knows 0001"):
            await plan(connection, steps(folder))


async def test_gap_in_the_database_is_refused(database: str, folder: Path) -> None:
    """A database that lacks an earlier step is refused."""
    async with connected(database) as connection:
        await migrate(connection, steps=steps(folder))
        await connection.execute("DELETE FROM schema_migrations WHERE number = 1")
        with pytest.raises(MigrationError, match="lacks migration 0001_schema"):
            await plan(connection, steps(folder))


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("0004_gap.sql", "", "Found migration 0004_gap where 0003"),
        ("0002_twice.sql", "", "Found migration 0002_twice where 0003"),
        ("x_short.sql", "", "Name the migration x_short.sql"),
        ("0003_own.sql", "SELECT 1;\nCOMMIT;\n", "Take BEGIN and COMMIT out of 0003_own"),
    ],
)
def test_bad_folder_is_refused(folder: Path, name: str, text: str, complaint: str) -> None:
    """Files that can't be a sequence of steps are refused by name."""
    (folder / name).write_text(text)
    with pytest.raises(MigrationError, match=complaint):
        steps(folder)


def test_old_server_is_refused() -> None:
    """PostgreSQL 15 is the oldest that will do."""
    require_server(15)
    with pytest.raises(MigrationError, match="needs PostgreSQL 15 or newer, and this server is 14"):
        require_server(14)
