"""A backup brings back every row, on every version of PostgreSQL, or changes nothing."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import asyncpg
import msgspec
import pytest

from tests.cli.command import Command
from tests.db.dump import dump
from tests.db.servers import INSTALLED, embedded, installed
from tests.db.tables import rows_by_table
from tillhouse.access.vault import new_master_key
from tillhouse.db.archive import ArchiveError, ArchiveReader, ArchiveWriter, MasterKey, Record
from tillhouse.db.backup import SESSION, Applied, back_up
from tillhouse.db.migrate import load, migrate
from tillhouse.db.restore import read_manifest, require_migrations, restore

KEY = MasterKey(1, bytes(32))


@pytest.fixture(scope="module")
def servers() -> Iterator[list[str]]:
    """Servers of all versions there are, the newest last."""
    with ExitStack() as stack:
        held = [stack.enter_context(installed(programs)) for programs in INSTALLED]
        yield [*held, stack.enter_context(embedded())]


@asynccontextmanager
async def database(server: str) -> AsyncIterator[tuple[str, asyncpg.Connection]]:
    """An empty database on a server: its address and a connection."""
    name = f"test_{uuid4().hex}"
    admin = await asyncpg.connect(server)
    await admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
    url = server.replace("/tillhouse?", f"/{name}?").replace("/postgres?", f"/{name}?")
    connection = await asyncpg.connect(url, server_settings=SESSION)
    try:
        yield url, connection
    finally:
        await connection.close()
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await admin.close()


def read(path: Path) -> list[Record]:
    """A file's records."""
    reader = ArchiveReader(path)
    reader.unlock(KEY)
    reader.check()
    return list(reader.records())


@pytest.mark.proof
async def test_every_version_reads_every_other(servers: list[str], tmp_path: Path) -> None:
    """A shop that sold moves through all versions and back, and no row of any table differs."""
    key = new_master_key()
    async with database(servers[0]) as (url, connection):
        shop = Command(tmp_path, DATABASE_URL=url, MASTER_KEY=key)
        await asyncio.to_thread(shop.run, "migrate")
        await asyncio.to_thread(shop.run, "demo", "--orders", "60")
        # Old rows of the webhook log are in weeks that no migration makes.
        await connection.execute("SELECT turn_webhook_partitions(now() - interval '60 days', 9999)")
        await connection.execute(
            "INSERT INTO webhook_events (book_id, id, type, payload)"
            " SELECT id, new_id(now() - interval '55 days'), 'order.created', E'a\\\\b\\n\\tc'"
            " FROM books"
        )
        wanted = await rows_by_table(connection)
        schema = await dump(connection)
        with ArchiveWriter(tmp_path / "0", KEY) as archive:
            written = await back_up(connection, archive, key)
    assert written.rows == sum(len(rows) for rows in wanted.values()) > 500
    for number, server in enumerate([*servers[1:], *servers[:1]]):
        async with database(server) as (url, connection):
            records = read(tmp_path / str(number))
            manifest = read_manifest(iter(records))
            assert manifest.master_key == key
            restored = await restore(connection, manifest, iter(records[1:]))
            assert (restored.rows, restored.left_out) == (written.rows, ())
            assert await rows_by_table(connection) == wanted
            assert await dump(connection) == schema
            found = Command(tmp_path, DATABASE_URL=url, MASTER_KEY=key)
            assert (await asyncio.to_thread(found.json, "verify"))["broken"] == []
            with ArchiveWriter(tmp_path / str(number + 1), KEY) as archive:
                await back_up(connection, archive, key)


async def small_backup(server: str, path: Path) -> list[Record]:
    """The records of a backup of a migrated database with one row of a user."""
    async with database(server) as (_, connection):
        await migrate(connection)
        await connection.execute(
            "INSERT INTO users SELECT gen_random_uuid(), 'a', 'b', 'c', now(), now()"
        )
        with ArchiveWriter(path, KEY) as archive:
            await back_up(connection, archive, None)
    return read(path)


@pytest.mark.proof
async def test_a_restore_is_whole_or_nothing(servers: list[str], tmp_path: Path) -> None:
    """A failed restore leaves the database as empty as it was, and a second one succeeds."""
    records = await small_backup(servers[-1], tmp_path / "a")
    manifest = read_manifest(iter(records))
    users = records.index(next(r for r in records if b"\ta\tb\tc\t" in r.body))

    def breaks() -> Iterator[Record]:
        yield from records[1 : users + 1]
        raise OSError("the disk is gone")

    def lacks_a_row() -> Iterator[Record]:
        yield from records[1:users]
        yield from records[users + 1 :]

    def refuses() -> None:
        raise OSError("the key can't be written")

    async with database(servers[-1]) as (_, connection):
        with pytest.raises(OSError, match="the disk is gone"):
            await restore(connection, manifest, breaks())
        with pytest.raises(ArchiveError, match="Of 1 rows of users, 0 came back"):
            await restore(connection, manifest, lacks_a_row())
        with pytest.raises(OSError, match="can't be written"):
            await restore(connection, manifest, iter(records[1:]), before_commit=refuses)
        assert await rows_by_table(connection) == {}
        await restore(connection, manifest, iter(records[1:]))
        assert len((await rows_by_table(connection))["users"]) == 1
        with pytest.raises(ArchiveError, match="isn't empty"):
            await restore(connection, manifest, iter(records[1:]))


async def test_a_row_without_what_it_refers_to_is_refused(
    servers: list[str], tmp_path: Path
) -> None:
    """Foreign keys are proved: rows that don't fit one another don't come in."""
    records = await small_backup(servers[-1], tmp_path / "a")
    manifest = read_manifest(iter(records))
    members = next(n for n, t in enumerate(manifest.tables) if t.name == "members")
    ends = [n for n, record in enumerate(records) if record.kind == "end of table"]
    nobody = f"{uuid4()}\t{uuid4()}\towner\t2026-01-01 00:00:00+00\t\\N\n".encode()
    forged = [*records[1 : ends[members]], Record("rows", nobody)]
    forged += [Record("end of table", b'{"rows":1}'), *records[ends[members] + 1 :]]
    async with database(servers[-1]) as (_, connection):
        with pytest.raises(asyncpg.ForeignKeyViolationError):
            await restore(connection, manifest, iter(forged))
        assert await rows_by_table(connection) == {}


async def test_tables_of_others_are_told(servers: list[str], tmp_path: Path) -> None:
    """A table that no migration makes is left out of a restore, which says so."""
    async with database(servers[-1]) as (_, connection):
        await migrate(connection)
        await connection.execute("CREATE TABLE a_report AS SELECT 1 AS figure")
        with ArchiveWriter(tmp_path / "a", KEY) as archive:
            await back_up(connection, archive, None)
    records = read(tmp_path / "a")
    async with database(servers[-1]) as (_, connection):
        restored = await restore(connection, read_manifest(iter(records)), iter(records[1:]))
        assert restored.left_out == ("a_report",)


async def test_an_older_backup_is_migrated_from_where_it_was(
    servers: list[str], tmp_path: Path
) -> None:
    """Rows come back into the schema that they were written from; migrations then go on."""
    async with database(servers[-1]) as (_, connection):
        await migrate(connection, up_to=1)
        with ArchiveWriter(tmp_path / "a", KEY) as archive:
            await back_up(connection, archive, None)
    records = read(tmp_path / "a")
    manifest = read_manifest(iter(records))
    assert manifest.migrations[-1].number == 1
    require_migrations(manifest)
    async with database(servers[-1]) as (_, connection):
        await restore(connection, manifest, iter(records[1:]))
        later = await migrate(connection)
        assert later == load()[1:]
    newer = Applied(len(load()) + 1, "later", "")
    changed = Applied(1, manifest.migrations[0].name, "another")
    for migrations, complaint in (
        ((*manifest.migrations, newer), "install the newer"),
        ((changed, *manifest.migrations[1:]), "was another when the backup was made"),
    ):
        with pytest.raises(ArchiveError, match=complaint):
            require_migrations(msgspec.structs.replace(manifest, migrations=migrations))
