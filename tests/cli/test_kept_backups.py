"""Backups that nobody asks for: before a migration, and as many as are to be kept."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from tests.cli.command import Command
from tests.db.test_earlier import take_steps
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import load, migrate

LAST = load()[-1].label
USER = "INSERT INTO users SELECT gen_random_uuid(), 'ada@example.com', 'b', 'c', now(), now()"


@pytest.fixture
async def behind(tmp_path: Path) -> Iterator[Command]:
    """A database with a user that lacks the last migration."""
    server = Embedded.start(tmp_path / "data")
    connection = await asyncpg.connect(server.url)
    await migrate(connection, up_to=len(load()) - 1)
    await connection.execute(USER)
    await connection.close()
    yield Command(tmp_path / "data")
    server.release()


@pytest.fixture
async def earlier(tmp_path: Path) -> AsyncIterator[Command]:
    """A database with a user, made by a version before the tables stood in their rooms."""
    server = Embedded.start(tmp_path / "data")
    connection = await asyncpg.connect(server.url)
    await take_steps(connection)
    await connection.execute(USER)
    await connection.close()
    yield Command(tmp_path / "data")
    server.release()


def names(folder: Path) -> list[str]:
    """The backups in a folder."""
    return sorted(path.name for path in folder.glob("*.backup"))


@pytest.mark.proof
async def test_a_migration_leaves_the_way_back(behind: Command, tmp_path: Path) -> None:
    """The database is kept as it was before; the master key that lies there opens it."""
    assert behind.json("migrate") == {"applied": [LAST]}
    [name] = names(folder := behind.data / "backups")
    assert name.endswith("-migration.backup")
    told = behind.json("restore", str(folder / name), "--check")
    assert (told["schema"], told["openedBy"]) == (load()[-2].label, "master key")
    elsewhere = Command(tmp_path / "other")
    assert "master key opens this backup" in elsewhere.refusal("restore", str(folder / name))
    elsewhere.environment["TILLHOUSE_MASTER_KEY_FILE"] = str(behind.data / "master.key")
    back = elsewhere.json("restore", str(folder / name))
    assert (back["applied"], back["broken"]) == ([LAST], [])
    key = (behind.data / "master.key").read_text()
    assert (elsewhere.data / "master.key").read_text() == key
    assert behind.json("migrate") == {"applied": []}
    assert names(folder) == [name]


@pytest.mark.proof
async def test_an_earlier_database_goes_on(earlier: Command, tmp_path: Path) -> None:
    """It is kept, recognized and brought up to date; what was kept is restored to the same."""
    labels = [step.label for step in load()]
    done = earlier.run("migrate")
    assert "Found the tables of earlier versions" in done.stderr
    assert earlier.json("migrate") == {"applied": []}
    [name] = names(folder := earlier.data / "backups")
    elsewhere = Command(tmp_path / "other")
    elsewhere.environment["TILLHOUSE_MASTER_KEY_FILE"] = str(earlier.data / "master.key")
    back = elsewhere.json("restore", str(folder / name))
    assert (back["applied"], back["broken"]) == (labels, [])


async def test_without_a_backup_nothing_is_migrated(behind: Command) -> None:
    """Where no backup can be written, the database stays as it is, unless one goes without."""
    (behind.data / "backups").write_text("not a folder")
    assert "nothing was migrated" in behind.refusal("migrate")
    assert behind.json("migrate", "--plan") == {"pending": [LAST]}
    assert behind.json("migrate", "--no-backup") == {"applied": [LAST]}


def test_a_new_database_has_nothing_to_keep(tmp_path: Path) -> None:
    """The first start makes no backup of nothing."""
    new = Command(tmp_path / "data")
    new.run("migrate")
    assert not (tmp_path / "data" / "backups").exists()


def test_the_oldest_go(command: Command, tmp_path: Path) -> None:
    """As many are kept as the setting says; drafts of killed processes go, other files stay."""
    folder = tmp_path / "kept"
    keeper = Command(command.data, BACKUP_FOLDER=str(folder), BACKUP_KEEP="2")
    first = Path(keeper.json("backup")["file"])
    (folder / ".tillhouse-1.backup.7.part").write_text("half")
    (folder / "mine.backup").write_text("mine")
    second = Path(keeper.json("backup")["file"])
    assert names(folder) == ["mine.backup", first.name, second.name]
    third = Path(keeper.json("backup")["file"])
    assert names(folder) == ["mine.backup", second.name, third.name]
    assert not list(folder.glob(".*.part"))
    due = Command(command.data, BACKUP_FOLDER=str(folder), BACKUP_EVERY_HOURS="1")
    assert due.json("backup", "--if-due") == {"isDue": False}
    assert names(folder) == ["mine.backup", second.name, third.name]


def test_a_wrong_clock_or_name_stops_no_backup(command: Command, tmp_path: Path) -> None:
    """One that is dated later than now is no reason to make none, nor to drop the one just made."""
    folder = tmp_path / "kept"
    folder.mkdir()
    foreign = folder / "tillhouse-of-my-own-routine.backup"
    foreign.write_text("mine")
    future = folder / "tillhouse-20990101T000000.000000Z-routine.backup"
    future.write_text("of a wrong clock")
    keeper = Command(
        command.data, BACKUP_FOLDER=str(folder), BACKUP_KEEP="1", BACKUP_EVERY_HOURS="1"
    )
    made = Path(keeper.json("backup", "--if-due")["file"])
    assert names(folder) == sorted([foreign.name, made.name])
    keeper.run("restore", str(made), "--check")
    assert keeper.json("backup", "--if-due") == {"isDue": False}
