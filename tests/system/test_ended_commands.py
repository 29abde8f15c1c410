"""A signal to a command that would end by itself: it ends in order, and its database with it."""

import asyncio
import os
import pty
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.cli.command import COMMAND, Command, environment
from tests.system.conftest import Start
from tests.system.serving import until
from tests.system.test_interrupts import assert_nothing_is_left, is_there
from tests.waiting import HUNG_S

WORDS = "five words drawn at random"
NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}
DATABASE_RUNS = is_there("postgres", "postmaster.pid")
IGNORING = ("/bin/sh", "-c", 'trap "" HUP; exec "$@"', "sh")


@pytest.fixture(scope="module")
def migrated() -> Iterator[Path]:
    """A folder with the demo business, which nobody uses."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-ended-") as folder:
        data = Path(folder) / "data"
        Command(data).run("demo", "--orders", "50")
        yield data


@pytest.fixture
def fresh() -> Iterator[Path]:
    """A folder in which there is nothing yet."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-ended-") as folder:
        yield Path(folder) / "data"


class Run:
    """One run of the command; its standard error goes to a file."""

    def __init__(self, data: Path, *args: str, shell: tuple[str, ...] = ()) -> None:
        self._data = data
        self._log = data.parent / "log"
        with self._log.open("wb") as file:
            self.process = subprocess.Popen(
                [*shell, *COMMAND, *args],
                env=environment(DATA=str(data), BACKUP_PASSPHRASE=WORDS)
                # Servers of other tests are another user's.
                | {"XDG_RUNTIME_DIR": str(data.parent)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
            )

    @property
    def said(self) -> str:
        """The text on its standard error."""
        return self._log.read_text()

    async def signalled(self, number: signal.Signals, has_come: Callable[[], bool]) -> int:
        """Send the signal at a moment, and wait for the end; the exit code."""
        try:
            await until(has_come, "its moment")
            self.process.send_signal(number)
            return await asyncio.to_thread(self.process.wait, HUNG_S)
        finally:
            self.process.kill()

    async def ends_by(self, number: signal.Signals, has_come: Callable[[], bool]) -> None:
        """Send the signal: it is told in one line and by the exit code, and nothing is left."""
        assert await self.signalled(number, has_come) == 128 + number, self.said
        *before, last = self.said.splitlines()
        assert last == f"Stopped by {NAMES[number]}."
        assert {line.partition(" ")[0] for line in before} <= {"Using", "Applied"}, before
        await assert_nothing_is_left(self._data)


def begun_at(terminal: int, data: Path, *args: str) -> subprocess.Popen[bytes]:
    """Start the command at this terminal."""
    return subprocess.Popen(
        [*COMMAND, *args],
        env=environment(DATA=str(data)),
        stdin=terminal,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
    )


@pytest.mark.parametrize(
    ("args", "number"),
    [
        (("doctor",), signal.SIGTERM),
        (("verify",), signal.SIGHUP),
        (("migrate", "--plan"), signal.SIGTERM),
        (("demo", "--orders", "900"), signal.SIGTERM),
        (("backup",), signal.SIGINT),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else given.name,
)
async def test_while_the_database_starts(
    migrated: Path, args: tuple[str, ...], number: signal.Signals
) -> None:
    """The database is waited for, and stopped at once."""
    await Run(migrated, *args).ends_by(number, lambda: DATABASE_RUNS(migrated))


@pytest.mark.parametrize(
    ("args", "number"),
    [
        (("business", "list"), signal.SIGINT),
        (("verify",), signal.SIGTERM),
        (("demo", "--orders", "900"), signal.SIGHUP),
        (("backup",), signal.SIGTERM),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else given.name,
)
async def test_while_it_works(
    migrated: Path, args: tuple[str, ...], number: signal.Signals
) -> None:
    """Its work is cut off; the database undoes what was not committed."""
    run = Run(migrated, *args)
    await run.ends_by(number, lambda: "Using" in run.said)
    assert not list(migrated.glob("backups/*"))


async def test_while_it_makes_a_database(fresh: Path) -> None:
    """A folder that was left half made is made anew by the next command."""
    await Run(fresh, "migrate").ends_by(signal.SIGTERM, lambda: is_there("postgres.new")(fresh))
    run = Run(fresh, "migrate")
    await run.ends_by(signal.SIGTERM, lambda: "Applied 0001" in run.said)
    await asyncio.to_thread(Command(fresh).run, "migrate")


@asynccontextmanager
async def asked_for_its_name(data: Path) -> AsyncIterator[tuple[subprocess.Popen[bytes], int]]:
    """A command that asks for the name of what it deletes, and its terminal; nothing is deleted."""
    found = await asyncio.to_thread(Command(data).json, "business", "list")
    [business] = found["businesses"]
    ours, theirs = pty.openpty()
    process = begun_at(theirs, data, "business", "delete", business["id"])
    os.close(theirs)
    try:
        await shows(ours, b"Type its name:")
        yield process, ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert await asyncio.to_thread(Command(data).json, "business", "list") == found


async def shows(terminal: int, text: bytes) -> None:
    """Wait until the terminal shows a text."""
    shown = b""
    while text not in shown:
        shown += await asyncio.to_thread(os.read, terminal, 1000)


async def test_a_question_ends_at_the_first_ctrl_c(migrated: Path) -> None:
    """Nobody who is asked for a name has to answer before a command ends."""
    async with asked_for_its_name(migrated) as (process, _):
        process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(process.wait, HUNG_S) == 130
        await assert_nothing_is_left(migrated)


@pytest.mark.parametrize("typed", [b"Another\n", b"\x04"], ids=["another name", "the end"])
async def test_nothing_but_the_name_deletes(migrated: Path, typed: bytes) -> None:
    """Another name deletes nothing, nor does the end of what is typed."""
    async with asked_for_its_name(migrated) as (process, terminal):
        os.write(terminal, typed)
        await shows(terminal, b"nothing was deleted")
        assert await asyncio.to_thread(process.wait, HUNG_S) == 1


async def test_the_end_of_its_terminal(fresh: Path, start: Start) -> None:
    """A server ends in order by SIGHUP; what was started to outlive its terminal goes on."""
    serving = await start(DATA=str(fresh))
    serving.signal(signal.SIGHUP)
    assert await serving.ended() == 0, serving.log
    await assert_nothing_is_left(fresh)
    run = Run(fresh, "migrate", shell=IGNORING)
    assert await run.signalled(signal.SIGHUP, lambda: DATABASE_RUNS(fresh)) == 0, run.said
    await assert_nothing_is_left(fresh)
