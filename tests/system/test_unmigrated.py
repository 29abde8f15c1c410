"""Commands on a database that nobody has migrated yet, or that a newer release has."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from tests.cli.command import Command
from tests.conftest import at_database
from tests.system.serving import until
from tests.system.test_outages import assert_every_line_is_json, assert_left_in_order, begun
from tillhouse.access.vault import new_master_key
from tillhouse.db.migrate import load

NOBODY = "019a0000-0000-7000-8000-000000000000"
# Each looks into the database in a way of its own.
COMMANDS = (
    ("verify",),
    ("business", "list"),
    ("business", "delete", NOBODY, "--name", "Nobody"),
    ("reconcile", "--plan"),
    ("trigger", "webhook.test"),
)
BACKUPS = (("backup",), ("backup", "a.backup"))
STARTING = (("serve", "--port", "0"), ("work",), ("migrate",), ("demo",))


@pytest.fixture
async def url(server_url: str) -> AsyncIterator[str]:
    """A database with nothing in it."""
    name = f"tillhouse_unmigrated_{secrets.token_hex(6)}"
    admin = await asyncpg.connect(server_url)
    await admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
    yield at_database(server_url, name)
    await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.close()


@pytest.fixture
def command(tmp_path: Path, url: str) -> Command:
    """The command on it, for a user whose servers no other test sees."""
    made = Command(
        tmp_path / "data",
        DATABASE_URL=url,
        MASTER_KEY=new_master_key(),
        BACKUP_PASSPHRASE="five words drawn at random",
        BACKUP_FOLDER=str(tmp_path / "kept"),
    )
    made.environment["XDG_RUNTIME_DIR"] = str(tmp_path)
    return made


async def told(command: Command, *args: str) -> str:
    """The one sentence of a refusal, behind the line that names the database."""
    said = (await asyncio.to_thread(command.refusal, *args)).splitlines()
    *before, sentence = said
    assert [line.partition(" ")[0] for line in before] in ([], ["Using"]), said
    return sentence


async def test_work_waits_for_the_migration(tmp_path: Path, url: str, command: Command) -> None:
    """It says so once, names the command, and works as soon as that is done."""
    log = tmp_path / "work.log"
    key = command.environment["TILLHOUSE_MASTER_KEY"]
    process = begun(Path("/dev/null"), log, {"DATABASE_URL": url, "MASTER_KEY": key}, "work")
    try:
        await until(lambda: "database_not_migrated" in log.read_text(), "it says so")
        await asyncio.to_thread(command.run, "migrate")
        await until(lambda: '"working"' in log.read_text(), "it works")
        process.terminate()
        await assert_left_in_order(process, log)
    finally:
        process.kill()
    assert_every_line_is_json(log.read_text())
    [said] = [line for line in log.read_text().splitlines() if "not_migrated" in line]
    assert "`tillhouse migrate`" in said


async def test_commands_name_the_migration(command: Command, tmp_path: Path) -> None:
    """A command that needs the tables names the one that makes them, and leaves nothing behind."""
    for args in COMMANDS:
        assert "run `tillhouse migrate` first" in await told(command, *args), args
    for args in BACKUPS:
        assert "nothing to back up: the database is empty" in await told(command, *args), args
    assert not (tmp_path / "kept").exists()
    assert not command.data.exists()


async def test_a_newer_schema_is_refused(command: Command, url: str) -> None:
    """Nothing starts or changes a database that a newer release has migrated."""
    await asyncio.to_thread(command.run, "migrate")
    connection = await asyncpg.connect(url)
    await connection.execute(
        "INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, 'later', '')",
        len(load()) + 1,
    )
    await connection.close()
    for args in (*STARTING, *COMMANDS, *BACKUPS):
        assert "install the newer Tillhouse" in await told(command, *args), args


def test_work_makes_no_installation(tmp_path: Path) -> None:
    """A folder without a database is refused, and not made."""
    lost = Command(tmp_path / "typo")
    assert "There is no database in" in lost.refusal("work")
    assert not lost.data.exists()
