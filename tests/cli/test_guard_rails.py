"""Commands say which database they work on, and none makes or deletes one by mistake."""

import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from tests.cli.command import Command
from tests.db.tables import rows_by_table
from tests.waiting import HUNG_S
from tillhouse.access.vault import new_master_key
from tillhouse.db.embedded import Embedded

PASSWORD = "correct horse battery\n"


@pytest.fixture
def apart(tmp_path: Path, command: Command) -> Command:
    """The session's folder, for a user whose servers no other test sees."""
    made = Command(command.data)
    made.environment["XDG_RUNTIME_DIR"] = str(tmp_path)
    return made


def test_a_command_makes_no_second_installation(tmp_path: Path) -> None:
    """A folder without a database is refused, and not made."""
    lost = Command(tmp_path / "typo")
    for command in ("business list", "verify", "keys list 7", "backup x", "business delete 7"):
        lost.refusal(*command.split(), code=2 if "7" in command else 1)
    said = lost.refusal("business", "list")
    assert f"There is no database in {tmp_path / 'typo'}" in said
    assert not lost.data.exists()


@pytest.mark.proof
def test_another_servers_database_is_told(apart: Command, tmp_path: Path) -> None:
    """A command on another database than the running server's warns; a dead server is none."""
    ours = f"Using the database in {apart.data.resolve()}."
    told = apart.run("business", "list").stderr
    assert ours in told
    assert "Warning" not in told
    serving = Command(tmp_path / "data")
    serving.environment = apart.environment | {"TILLHOUSE_DATA": str(serving.data)}
    with serving.start("serve", "--json", "--port", "0") as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        told = apart.run("business", "list").stderr
        assert ours in told
        assert f"{address} has the database in {serving.data.resolve()}" in told
        assert "Warning" not in serving.run("business", "list").stderr
        demo = serving.json("demo")
        assert demo["baseUrl"] == address
        link = serving.json("user", "password-link", demo["email"])["url"]
        assert link.startswith(f"{address}/desk/reset/")
        process.kill()
    assert "Warning" not in apart.run("business", "list").stderr
    with serving.start("serve", "--json", "--port", "0") as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=HUNG_S)
        assert process.returncode == 0
    assert "Warning" not in apart.run("business", "list").stderr
    assert serving.json("demo")["baseUrl"] == "http://127.0.0.1:8000"


def test_nothing_to_verify_is_no_success(tmp_path: Path) -> None:
    """A database without a business isn't found whole."""
    new = Command(tmp_path / "data")
    new.run("migrate")
    assert "no business in this database" in new.run("verify", code=1).stdout


async def rows(url: str) -> dict[str, list[str]]:
    """Every row of a database."""
    connection = await asyncpg.connect(url)
    try:
        return await rows_by_table(connection)
    finally:
        await connection.close()


@pytest.fixture(params=["plain", pytest.param("tillhouse", marks=pytest.mark.proof)])
async def own(
    request: pytest.FixtureRequest, embedded: Embedded, tmp_path: Path
) -> AsyncIterator[Command]:
    """A database of a role's own: one that may all, and one that owns its tables alone."""
    role = request.param
    admin = await asyncpg.connect(embedded.url)
    await admin.execute("CREATE ROLE plain LOGIN")
    await admin.execute(f"CREATE DATABASE own OWNER {role}")
    url = embedded.url.replace("//tillhouse@/tillhouse?", f"//{role}@/own?")
    yield Command(tmp_path, DATABASE_URL=url, MASTER_KEY=new_master_key())
    await admin.execute("DROP DATABASE own WITH (FORCE)")
    await admin.execute("DROP ROLE plain")
    await admin.close()


async def test_a_business_is_deleted_with_all_it_has(own: Command) -> None:
    """Once its name is typed, no row of it is left, and no other business lacks one."""
    own.run("migrate")
    new = ["business", "create", "--name", "Bo's", "--owner-name", "Bo", "--password-stdin"]
    own.run(*new, "--email", "bo@example.com", pipe=PASSWORD)
    url = own.environment["TILLHOUSE_DATABASE_URL"]
    before = await rows(url)
    made = own.json("demo", "--orders", "20")["businessId"]
    assert "nobody to ask" in own.refusal("business", "delete", made)
    said = own.refusal("business", "delete", made, "--name", "tillhouse demo")
    assert "nothing was deleted" in said
    done = own.json("business", "delete", made, "--name", "Tillhouse Demo")
    assert done["rows"] > 100
    assert await rows(url) == before
    assert "There is no business" in own.refusal("business", "delete", made, "--name", "x")
    # The rules of those who stay hold as before.
    connection = await asyncpg.connect(url)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
        await connection.execute("DELETE FROM audit_events")
    await connection.close()
