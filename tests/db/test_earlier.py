"""Databases that were made before the tables stood in their rooms, by 113 steps."""

import hashlib
import tarfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from tests.conftest import at_database
from tests.db.dump import dump
from tillhouse.db.archive import ArchiveReader, ArchiveWriter, MasterKey
from tillhouse.db.backup import SESSION, back_up
from tillhouse.db.migrate import TABLE, MigrationError, list_applied, load, migrate, plan
from tillhouse.db.restore import read_manifest, require_migrations, restore

STEPS = Path(__file__).parent / "first_migrations.tar.xz"
RECORD = "INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)"
KEY = MasterKey(1, bytes(32))
EMPTY = AbstractAsyncContextManager[asyncpg.Connection]


@pytest.fixture
def empty(server_url: str) -> Callable[[], EMPTY]:
    """Makes an empty database and a connection to it, as often as it is called."""

    @asynccontextmanager
    async def made() -> AsyncIterator[asyncpg.Connection]:
        name = f"tillhouse_earlier_{uuid4().hex}"
        admin = await asyncpg.connect(server_url)
        await admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        address = at_database(server_url, name)
        connection = await asyncpg.connect(address, server_settings=SESSION)
        yield connection
        await connection.close()
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await admin.close()

    return made


async def take_steps(connection: asyncpg.Connection, up_to: int | None = None) -> None:
    """Make the tables as versions of before did."""
    await connection.execute(TABLE)
    with tarfile.open(STEPS) as archive:
        for member in archive.getmembers()[:up_to]:
            file = archive.extractfile(member)
            assert file is not None
            text = file.read()
            await connection.execute(text.decode())
            number, name = member.name.removesuffix(".sql").split("_", 1)
            await connection.execute(RECORD, int(number), name, hashlib.sha256(text).hexdigest())


async def test_tables_of_before_are_those_of_the_rooms(empty: Callable[[], EMPTY]) -> None:
    """They are recognized, recorded as the first step, and differ from new ones in nothing."""
    async with empty() as before, empty() as new:
        await take_steps(before)
        first, *later = load()
        assert [(step.label, step.is_there) for step in await plan(before)] == [
            (first.label, True),
            *((step.label, False) for step in later),
        ]
        kept: list[str] = []

        async def keep() -> None:
            kept.append("backup")

        [found] = await migrate(before, up_to=1, before=keep)
        assert "Found the tables of earlier versions" in found.done
        assert kept == ["backup"]
        await migrate(new, up_to=1)
        assert await list_applied(before) == await list_applied(new)
        assert await dump(before) == await dump(new)
        assert await plan(before) == later


async def test_steps_in_between_are_sent_back(empty: Callable[[], EMPTY]) -> None:
    """A database that lacks some of those steps can't be recognized, and stays as it is."""
    async with empty() as before:
        await take_steps(before, 20)
        with pytest.raises(MigrationError, match=r"at 0020_logins, .* bring it to 0113_"):
            await migrate(before)
        assert len(await list_applied(before)) == 20


async def test_steps_with_another_text_are_sent_back(empty: Callable[[], EMPTY]) -> None:
    """Tables of which one was made otherwise aren't taken for those of the rooms."""
    async with empty() as before:
        await take_steps(before, 1)
        steps = load()
        with tarfile.open(STEPS) as archive:
            names = archive.getnames()
        for number, name in enumerate(names[1:], 2):
            label = name.removesuffix(".sql").split("_", 1)[1]
            await before.execute(RECORD, number, label, steps[0].checksum)
        with pytest.raises(MigrationError, match="at 0113_factors_by_role"):
            await plan(before)


async def test_a_backup_of_before_is_restored(empty: Callable[[], EMPTY], tmp_path: Path) -> None:
    """Its rows come into the tables of the rooms, and migrations go on from there."""
    user = uuid4()
    async with empty() as before:
        await take_steps(before)
        await before.execute(
            "INSERT INTO users SELECT $1, 'ada@example.com', 'b', 'c', now(), now()", user
        )
        with ArchiveWriter(tmp_path / "a", KEY) as archive:
            await back_up(before, archive, None)
    reader = ArchiveReader(tmp_path / "a")
    reader.unlock(KEY)
    records = list(reader.records())
    manifest = read_manifest(iter(records))
    require_migrations(manifest)
    async with empty() as now:
        await restore(now, manifest, iter(records[1:]))
        assert await now.fetchval("SELECT id FROM users") == user
        assert [step.label for step in await migrate(now)] == [step.label for step in load()]
        assert await plan(now) == []
