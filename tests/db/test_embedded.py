"""The embedded PostgreSQL starts, is shared, survives kills, and stops with its last user."""

import itertools
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest

from tests.waiting import HUNG_S
from tillhouse.db.cluster import program
from tillhouse.db.embedded import Embedded, EmbeddedError

# A user of the server in a process of its own: says where it is, leaves when its input ends.
USER = """
import sys
from pathlib import Path
from tillhouse.db.embedded import Embedded
from tests.waiting import HUNG_S
server = Embedded.start(Path(sys.argv[1]))
print(server.pid, flush=True)
sys.stdin.read()
server.release()
"""

# How often a moment that was missed is waited for again.
TRIES = 5

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another account")


@contextmanager
def using(data: Path) -> Iterator[Embedded]:
    """Hold the server of a folder."""
    server = Embedded.start(data)
    try:
        yield server
    finally:
        server.release()


@contextmanager
def another_user(data: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run a second process that uses the same folder, killed at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-c", USER, str(data)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def ended(pid: int) -> None:
    """Return when a process that isn't our child has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 60)[0], f"process {pid} is still running"
    finally:
        os.close(handle)


async def answer(server: Embedded, query: str) -> object:
    """Run one statement on a connection of its own."""
    connection = await asyncpg.connect(server.url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_new_folder_serves_with_the_settings_that_data_needs(tmp_path: Path) -> None:
    """A new folder serves durably and in UTC, keeps data, and tells of bad settings."""
    with using(tmp_path / "data") as server:
        settings = {
            name: await answer(server, f"SHOW {name}")
            for name in ("fsync", "synchronous_commit", "timezone", "jit", "listen_addresses")
        }
        assert settings == {
            "fsync": "on",
            "synchronous_commit": "on",
            "timezone": "UTC",
            "jit": "off",
            "listen_addresses": "",
        }
        database = "SELECT current_database() || ' ' || current_user || ' ' || datlocale"
        source = " FROM pg_database WHERE datname = current_database()"
        assert await answer(server, database + source) == "tillhouse tillhouse C.UTF-8"
        await answer(server, "CREATE TABLE kept AS SELECT 7 AS value")
    ended(server.pid)
    with using(tmp_path / "data") as server:
        assert await answer(server, "SELECT value FROM kept") == 7
    with (tmp_path / "data" / "postgres" / "postgresql.conf").open("a") as configuration:
        configuration.write("shared_buffers = nonsense\n")
    with pytest.raises(EmbeddedError, match=r"stopped while starting: .*errors.*postgres\.log"):
        Embedded.start(tmp_path / "data")


def test_folder_is_private(tmp_path: Path) -> None:
    """Nobody else can enter the folders or read the files; a second release does nothing."""
    data = tmp_path / "data"
    with using(data) as server:
        made = [data, *data.iterdir()]
        server.release()
    assert {path.name: oct(path.stat().st_mode & 0o077) for path in made} == {
        path.name: "0o0" for path in made
    }


@pytest.mark.parametrize("umask", ["0", "777"])
def test_files_are_private_whatever_the_umask(tmp_path: Path, umask: str) -> None:
    """Folders are 0700 and files 0600, those of PostgreSQL and those on the way there, too."""
    data = tmp_path / "way" / "data"
    run = [sys.executable, "-c", f"import os; os.umask(0o{umask})\n{USER}", str(data)]
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(run, stdin=subprocess.DEVNULL, check=True, env=os.environ | paths)
    kinds = {stat.S_IFDIR: 0o700, stat.S_IFREG: 0o600}
    wrong = [
        (str(path), oct(mode))
        for path in (data.parent, data, *data.rglob("*"))
        if (mode := path.lstat().st_mode) and stat.S_IMODE(mode) != kinds.get(stat.S_IFMT(mode))
    ]
    assert wrong == []
    with using(data) as server:
        assert server.is_alive()


def test_last_of_two_processes_stops_the_server(tmp_path: Path) -> None:
    """The server stays for the other process, whichever leaves first."""
    with another_user(tmp_path) as other:
        assert other.stdout is not None
        pid = int(other.stdout.readline())
        with using(tmp_path) as server:
            assert server.pid == pid
        os.kill(pid, 0)
        other.communicate(timeout=HUNG_S)
        assert other.returncode == 0
    ended(pid)


async def test_killed_user_is_not_counted(tmp_path: Path) -> None:
    """A killed process leaves the server running for others, and doesn't keep it up."""
    with using(tmp_path) as server, another_user(tmp_path) as other:
        assert other.stdout is not None
        assert int(other.stdout.readline()) == server.pid
        other.kill()
        other.wait()
        assert await answer(server, "SELECT 1") == 1
    ended(server.pid)


async def test_killed_starter_leaves_a_server_to_join(tmp_path: Path) -> None:
    """The server of a process that was killed goes on, and the next process takes it over."""
    with another_user(tmp_path) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        starter.kill()
        starter.wait()
    with using(tmp_path) as server:
        assert server.pid == pid
        assert await answer(server, "SELECT 1") == 1
    ended(pid)


async def test_starter_killed_while_setting_up(tmp_path: Path) -> None:
    """A folder half made is made anew."""
    for number in itertools.count():
        data = tmp_path / str(number)
        with another_user(data) as starter:
            while not (data / "postgres.new" / "PG_VERSION").exists():
                assert starter.poll() is None
                # On a busy machine the moment may be over before it is seen.
                if (data / "postgres").exists():
                    break
            starter.kill()
            starter.wait()
        if not (data / "postgres").exists():
            break
        assert number < TRIES, "the folder was always made already"
    with using(data) as server:
        assert await answer(server, "SELECT 1") == 1


async def test_killed_server_runs_again_with_its_data(tmp_path: Path) -> None:
    """After kill -9 of the server, ensure_running brings it back with all that was committed."""
    with using(tmp_path) as server:
        await answer(server, "CREATE TABLE kept AS SELECT 7 AS value")
        assert server.ensure_running() is False
        killed = server.pid
        os.kill(killed, signal.SIGKILL)
        ended(killed)
        with ThreadPoolExecutor() as threads, using(tmp_path) as second:
            assert second.pid != killed
            assert list(threads.map(lambda _: server.ensure_running(), range(2))) == [False] * 2
        assert server.pid == second.pid
        assert await answer(server, "SELECT value FROM kept") == 7
        os.kill(server.pid, signal.SIGKILL)
        ended(server.pid)
        assert server.ensure_running() is True
        assert await answer(server, "SELECT value FROM kept") == 7


async def test_a_socket_that_outlives_its_server_is_no_server(tmp_path: Path) -> None:
    """A process that a killed server was just starting may hold its socket for a moment."""
    with using(tmp_path) as server:
        os.kill(server.pid, signal.SIGKILL)
        ended(server.pid)
        path = tmp_path / "run" / ".s.PGSQL.5432"
        path.unlink()
        with socket.socket(socket.AF_UNIX) as held:
            held.bind(str(path))
            held.listen()
            assert server.ensure_running() is True
        assert await answer(server, "SELECT 1") == 1


async def test_stale_process_id_of_another_program(tmp_path: Path) -> None:
    """A process id that a crash left and another program has by now is no obstacle."""
    with using(tmp_path) as server:
        os.kill(server.pid, signal.SIGKILL)
        ended(server.pid)
        left = tmp_path / "postgres" / "postmaster.pid"
        mine = left.read_text().replace(str(server.pid), str(os.getppid()), 1)
        left.write_text(mine)
        (tmp_path / "run" / ".s.PGSQL.5432.lock").write_text(mine)
        assert server.ensure_running() is True
        assert await answer(server, "SELECT 1") == 1


async def test_long_and_odd_path(tmp_path: Path) -> None:
    """A path too long or too odd for a socket gets its socket in the temporary folder."""
    data = tmp_path / "a, b $(false) 'é'" / ("long" * 30)
    with using(data) as server:
        assert await answer(server, "SELECT 1") == 1
        sockets = Path(server.url.partition("host=")[2].partition("&")[0])
        assert sockets.stat().st_mode & 0o777 == 0o700
    sockets.chmod(0o755)
    with pytest.raises(EmbeddedError, match="yours alone"):
        Embedded.start(data)
    sockets.rmdir()


def test_unusable_folder_is_told(tmp_path: Path) -> None:
    """A data folder that is a file is refused in a sentence."""
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddedError, match="can't be used"):
        Embedded.start(tmp_path / "file")


@as_root
async def test_root_with_a_folder_that_only_root_may_enter(tmp_path: Path) -> None:
    """As root, a parent folder closed to all others is no obstacle."""
    parent = tmp_path / "closed"
    parent.mkdir(mode=0o700)
    with using(parent / "data") as server:
        assert await answer(server, "SELECT 1") == 1
        assert (parent / "data" / "postgres").stat().st_uid == 0


@as_root
def test_root_without_namespaces_needs_a_reachable_folder(tmp_path: Path) -> None:
    """Where no user namespace can be made, an unreachable folder is refused in a sentence."""
    tmp_path.chmod(0o700)
    with another_user(tmp_path / "data", PATH="/nonexistent") as process:
        _, said = process.communicate(timeout=HUNG_S)
    assert "can't reach" in said
    assert "TILLHOUSE_DATABASE_URL" in said


@as_root
async def test_root_without_namespaces_uses_another_user() -> None:
    """Where no user namespace can be made, the server runs as an unprivileged user."""
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        with another_user(folder / "data", PATH="/nonexistent") as process:
            assert process.stdout is not None
            pid = process.stdout.readline()
            if not pid:  # only where the virtual environment itself is closed to others
                assert f"can't reach {program('postgres')}" in process.stderr.read()
                return
            with using(folder / "data") as server:
                assert server.pid == int(pid)
                assert await answer(server, "SELECT 1") == 1
            assert (folder / "data" / "postgres").stat().st_uid != 0
            process.communicate(timeout=HUNG_S)
        ended(int(pid))
    finally:
        shutil.rmtree(folder)
