"""`tillhouse backup` and `tillhouse restore` as an operator meets them."""

import asyncio
import signal
import subprocess
from pathlib import Path

import asyncpg
import pytest

from tests.cli.command import Command
from tests.db.tables import rows_by_table
from tests.waiting import HUNG_S
from tests.webhooks.shop import until
from tillhouse.db.embedded import Embedded

WORDS = "five words drawn at random"


@pytest.fixture(scope="module")
def file(command: Command, business: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the session's database."""
    assert business
    path = tmp_path_factory.mktemp("backups") / "shop.backup"
    told = command.json("backup", str(path), "--passphrase-stdin", pipe=f"{WORDS}\n")
    assert told["file"] == str(path)
    assert told["bytes"] == path.stat().st_size
    assert told["database"].endswith(str(command.data))
    return path


async def rows(url: str) -> dict[str, list[str]]:
    """Every row of a database."""
    connection = await asyncpg.connect(url)
    try:
        return await rows_by_table(connection)
    finally:
        await connection.close()


@pytest.mark.proof
async def test_a_lost_folder_comes_back(file: Path, tmp_path: Path, embedded: Embedded) -> None:
    """A backup makes the folder again: the rows, the key, and verify finds them whole."""
    fresh = Command(tmp_path / "data", BACKUP_PASSPHRASE=WORDS)
    told = fresh.json("restore", str(file))
    assert told["broken"] == []
    assert told["businesses"] >= 1
    assert told["masterKey"] == str(tmp_path / "data" / "master.key")
    assert (tmp_path / "data" / "master.key").stat().st_mode & 0o777 == 0o600
    states = {row["about"]: row["state"] for row in fresh.json("doctor")["findings"]}
    assert (states["MASTER_KEY"], states["migrations"]) == ("fine", "fine")
    server = Embedded.start(tmp_path / "data")
    try:
        # A command wakes nobody and notes nothing, so the copies are equal to the last row.
        assert await rows(server.url) == await rows(embedded.url)
    finally:
        server.release()
    said = fresh.refusal("restore", str(file))
    assert "isn't empty" in said


def test_what_is_not_whole_is_refused_before_anything_is_made(file: Path, tmp_path: Path) -> None:
    """A file that was cut, or a wrong passphrase, makes not even the data folder."""
    cut = tmp_path / "cut.backup"
    cut.write_bytes(file.read_bytes()[:-1])
    fresh = Command(tmp_path / "data")
    for path, words, complaint in (
        (cut, WORDS, "cut short or altered"),
        (file, WORDS + "!", "not the passphrase"),
        (Path("/etc/hostname"), WORDS, "is no backup"),
        (tmp_path / "none", WORDS, "name one that `tillhouse backup` made"),
    ):
        said = fresh.refusal("restore", str(path), "--passphrase-stdin", pipe=f"{words}\n")
        assert complaint in said
    assert not fresh.data.exists()
    told = fresh.run("restore", str(file), "--check", "--passphrase-stdin", pipe=f"{WORDS}\n")
    assert "is whole" in told.stdout
    assert not fresh.data.exists()


def test_another_key_stays(file: Path, tmp_path: Path) -> None:
    """A master key that lies in the folder already is never replaced."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "master.key").write_text("1:" + "A" * 43 + "=")
    fresh = Command(tmp_path / "data", BACKUP_PASSPHRASE=WORDS)
    assert "another database's key" in fresh.refusal("restore", str(file))
    assert [path.name for path in fresh.data.iterdir()] == ["master.key"]


def test_backup_refuses_what_would_be_worthless(command: Command, file: Path) -> None:
    """No file is overwritten, no short passphrase is taken, and nobody is asked in vain."""
    before = file.read_bytes()
    assert "no backup is overwritten" in command.refusal("backup", str(file))
    assert file.read_bytes() == before
    other = str(file.with_name("other"))
    assert "nobody to ask" in command.refusal("backup", other)
    said = command.refusal("backup", other, "--passphrase-stdin", pipe="short\n")
    assert "has 5 characters" in said
    assert list(file.parent.iterdir()) == [file]


def test_a_full_disk_leaves_no_file(command: Command, tmp_path: Path) -> None:
    """A file that doesn't fit is removed again; the sentence says why."""
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -f 2; exec "$@"', "sh", *command.program, "backup",
            str(tmp_path / "a.backup")],
        env=command.environment | {"TILLHOUSE_BACKUP_PASSPHRASE": WORDS},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.proof
async def test_a_server_of_ones_own_is_told_where_its_key_goes(
    file: Path, tmp_path: Path, embedded: Embedded
) -> None:
    """Without a data folder, the key goes to a file that the caller names."""
    admin = await asyncpg.connect(embedded.url)
    await admin.execute("CREATE DATABASE restored")
    url = embedded.url.replace("/tillhouse?", "/restored?")
    own = Command(tmp_path / "none", DATABASE_URL=url, BACKUP_PASSPHRASE=WORDS)
    assert "--master-key-file" in own.refusal("restore", str(file))
    key = tmp_path / "key"
    told = own.json("restore", str(file), "--master-key-file", str(key))
    assert (told["broken"], told["masterKey"]) == ([], str(key))
    own.environment["TILLHOUSE_MASTER_KEY_FILE"] = str(key)
    assert own.json("verify")["broken"] == []
    await admin.execute("DROP DATABASE restored WITH (FORCE)")
    await admin.close()


@pytest.mark.proof
async def test_an_end_behind_the_commit_leaves_the_key(
    file: Path, tmp_path: Path, embedded: Embedded
) -> None:
    """Rows that are in need their key, however the rest of the restore ends."""
    admin = await asyncpg.connect(embedded.url)
    await admin.execute("CREATE DATABASE ended")
    url = embedded.url.replace("/tillhouse?", "/ended?")
    key = tmp_path / "key"
    own = Command(tmp_path / "none", DATABASE_URL=url, BACKUP_PASSPHRASE=WORDS)
    holder = await asyncpg.connect(url)
    async with holder.transaction():
        # The rows come in beside this; what looks them over afterwards waits for it.
        await holder.execute("LOCK TABLE pg_catalog.pg_seclabel IN SHARE UPDATE EXCLUSIVE MODE")
        with own.start("restore", str(file), "--master-key-file", str(key)) as process:

            async def waits() -> bool:
                return await holder.fetchval("SELECT bool_or(NOT granted) FROM pg_locks")

            await until(waits)
            process.send_signal(signal.SIGINT)
            _, said = await asyncio.to_thread(process.communicate, timeout=HUNG_S)
        assert process.returncode == 130, said
        assert "Traceback" not in said
    await holder.close()
    own.environment["TILLHOUSE_MASTER_KEY_FILE"] = str(key)
    own.run("migrate")
    assert own.json("verify")["broken"] == []
    await admin.execute("DROP DATABASE ended WITH (FORCE)")
    await admin.close()


@pytest.mark.proof
def test_a_disk_without_room_is_told_and_blocks_nothing(file: Path, tmp_path: Path) -> None:
    """A database that can't be made is told in one line; with room, the same folder does."""
    fresh = Command(tmp_path / "data", BACKUP_PASSPHRASE=WORDS)
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *fresh.program, "restore", str(file)],
        env=fresh.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    [said] = done.stderr.splitlines()
    assert "can't be set up: initdb ended with" in said
    assert fresh.json("restore", str(file))["broken"] == []


@pytest.mark.proof
async def test_a_restore_goes_on_after_one_that_was_cut_off(
    file: Path, tmp_path: Path, embedded: Embedded
) -> None:
    """Its connection breaks, then it is killed: both times nothing is there but the key."""
    admin = await asyncpg.connect(embedded.url)
    await admin.execute("CREATE DATABASE cut_off")
    url = embedded.url.replace("/tillhouse?", "/cut_off?")
    key = tmp_path / "key"
    own = Command(tmp_path / "none", DATABASE_URL=url, BACKUP_PASSPHRASE=WORDS)
    given = ("restore", str(file), "--master-key-file", str(key))

    async def is_at_work() -> bool:
        # Within its transaction, which has made a part of the tables by now.
        return await admin.fetchval(
            "SELECT count(*) > 100 FROM pg_locks l JOIN pg_database d ON d.oid = l.database "
            "WHERE d.datname = 'cut_off'"
        )

    with own.start(*given) as process:
        await until(is_at_work)
        await admin.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'cut_off'"
        )
        _, said = await asyncio.to_thread(process.communicate, timeout=HUNG_S)
    assert process.returncode == 1
    [sentence] = said.splitlines()
    assert "all of them or none" in sentence
    with own.start(*given) as process:
        await until(is_at_work)
        process.kill()
    told = await asyncio.to_thread(own.json, *given)
    assert told["broken"] == []
    assert "ends what it began" in await asyncio.to_thread(own.refusal, *given)
    await admin.execute("DROP DATABASE cut_off WITH (FORCE)")
    await admin.close()


def test_a_key_that_could_not_be_written_is_told_first(file: Path, tmp_path: Path) -> None:
    """Before the rows come in, and in one line."""
    own = Command(
        tmp_path / "none", DATABASE_URL="postgresql://nobody@127.0.0.1:1/x", BACKUP_PASSPHRASE=WORDS
    )
    lost = tmp_path / "lost" / "key"
    said = own.refusal("restore", str(file), "--master-key-file", str(lost))
    assert "can't be written" in said
    odd = tmp_path / "odd"
    odd.write_text("no key")
    assert "move it away" in own.refusal("restore", str(file), "--master-key-file", str(odd))
