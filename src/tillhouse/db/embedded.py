"""The PostgreSQL that Tillhouse brings along: one server for one data folder.

Several processes may share it. Each holds a shared lock on `postgres.users` for as long as it
lives, so that a killed process is never counted, and the last one to leave stops the server.
Starting, mending and stopping are serialised by `postgres.start`.

The calls block for up to a second or two: call them from a thread when a loop is running.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self
from urllib.parse import quote

from tillhouse.db.cluster import (
    PRIVATE,
    ClusterUser,
    EmbeddedError,
    account_for,
    create,
    program,
)

__all__ = ["Embedded", "EmbeddedError"]

PORT = 5432
SOCKET = f".s.PGSQL.{PORT}"
# 108 bytes on Linux, 104 elsewhere, a closing zero byte included.
LONGEST_SOCKET_PATH = 100
# Recovery after a crash replays up to max_wal_size.
START_SECONDS = 120
STOP_SECONDS = 60
NOTICED_SECONDS = 2
# Backends of a killed server hold its shared memory until they notice.
ORPHANS_SECONDS = 30
LONGEST_LOG = 10_000_000

SETTINGS = """\
# Written by Tillhouse at every start; put your own settings at the end of postgresql.conf.
listen_addresses = ''
port = {port}
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0700
max_connections = 200
shared_buffers = 128MB
password_encryption = 'scram-sha-256'
timezone = 'UTC'
log_timezone = 'UTC'
jit = off
random_page_cost = 1.1
fsync = on
recovery_init_sync_method = {sync}
full_page_writes = on
synchronous_commit = on
wal_level = replica
min_wal_size = 80MB
max_wal_size = 1GB
# Failing statements hold customers' data and are reported by Tillhouse: keep them out of the log.
log_min_messages = log
log_checkpoints = off
"""


class Embedded:
    """A running server that this process uses, together with others or alone."""

    def __init__(self, data: Path, users: int) -> None:
        self._data = data
        self._users = users
        self._is_left = False
        self.pid = 0
        self.url = ""

    @classmethod
    def start(cls, data: Path) -> Self:
        """Use the server of a data folder: made when new, started when down, joined when up."""
        data = data.expanduser().absolute()
        try:
            _make_private(data)
            data = data.resolve()
            users = _private(data / "postgres.users", os.O_RDWR)
        except OSError as error:
            raise EmbeddedError(
                f"The data folder {data} can't be used: {error.strerror}."
            ) from error
        server = cls(data, users)
        try:
            with _locked(data / "postgres.start") as lock:
                fcntl.flock(users, fcntl.LOCK_SH)
                server._bring_up(lock)
        except BaseException:
            os.close(users)
            raise
        return server

    def is_alive(self) -> bool:
        """Whether the server's process is there, be it ready or not."""
        return _is_alive(self.pid, self._cluster)

    def ensure_running(self) -> bool:
        """Start the server again when it has died; true when this call did that."""
        if self._answers():
            return False
        with _locked(self._data / "postgres.start") as lock:
            return not self._is_left and self._bring_up(lock)

    def release(self, *, at_once: bool = False) -> None:
        """Leave the server; the last process that leaves stops it.

        At once: the server is told to stop and ends by itself. That may be in the middle of a
        release that waits, in the same thread, and the process has to end after it.
        """
        if self._users < 0:
            return
        self._is_left = True
        try:
            with contextlib.nullcontext() if at_once else _locked(self._data / "postgres.start"):
                fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._stop(at_once=at_once)
        except BlockingIOError:
            pass  # somebody else is using it
        finally:
            if not at_once:
                users, self._users = self._users, -1
                os.close(users)

    @property
    def _cluster(self) -> Path:
        return self._data / "postgres"

    def _answers(self) -> bool:
        """Whether the server is there and listens on its socket, and if so remember it."""
        status = _status(self._cluster)
        # Alone, the socket tells nothing: a child of a killed server holds it, too.
        if len(status) < 5 or not _is_alive(_claimed(status), self._cluster):
            return False
        if not _listens(Path(status[4]) / SOCKET):
            return False
        self._remember(status)
        return True

    def _remember(self, status: list[str]) -> None:
        # The running server knows its folder; ours could differ (TMPDIR) when we only joined.
        self.pid = int(status[0])
        sockets = quote(status[4], safe="/")
        self.url = f"postgresql://tillhouse@/tillhouse?host={sockets}&port={PORT}"

    def _bring_up(self, lock: int) -> bool:
        """Return once the server takes connections; true when it had to be launched."""
        if _ready(status := _status(self._cluster)) and self._answers():
            return False
        account = account_for(self._data, self._cluster)
        create(self._cluster, account, lock)
        launched, began, pid = False, time.monotonic(), 0
        while not (_ready(status := _status(self._cluster)) and self._answers()):
            waited = time.monotonic() - began
            if waited > START_SECONDS:
                raise EmbeddedError(self._complaint(f"did not come up in {START_SECONDS} s"))
            # The other one may be of a starter that was killed a moment ago.
            if any(_is_alive(each, self._cluster) for each in (pid, _claimed(status))):
                time.sleep(0.01)
                continue
            if launched and not self._may_try_again(waited):
                raise EmbeddedError(self._complaint("stopped while starting"))
            if launched:
                time.sleep(0.1)
            pid, launched = self._launch(account), True
        return launched

    def _launch(self, account: ClusterUser) -> int:
        """Start the postmaster as a process of its own, and give its id."""
        sockets = _socket_folder(self._data, account)
        # No living server has these: a crash left them. The process that they name may be gone
        # but unreaped, or another program by now, and PostgreSQL would refuse to start.
        for left in (
            self._cluster / "postmaster.pid",
            sockets / SOCKET,
            sockets / f"{SOCKET}.lock",
        ):
            left.unlink(missing_ok=True)
        self._write_settings(account, sockets)
        log = self._data / "postgres.log"
        if log.exists() and log.stat().st_size > LONGEST_LOG:
            log.replace(log.with_suffix(".log.old"))
        command = [*account.prefix, program("postgres"), "-D", str(self._cluster)]
        with os.fdopen(_private(log, os.O_WRONLY | os.O_APPEND), "ab") as output:
            # The shell leaves at once, so the server has no parent: it survives us and is
            # reaped by the system. A session of its own keeps the terminal's Ctrl-C away.
            shell = subprocess.run(
                ["/bin/sh", "-c", '"$@" >&2 & echo $!', "sh", *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=output,
                umask=PRIVATE,
                cwd=self._cluster,
                start_new_session=True,
                check=True,
                **account.options,
            )
        return int(shell.stdout)

    def _write_settings(self, account: ClusterUser, sockets: Path) -> None:
        # After a crash all files are brought to the disk: one call where the system has it, instead
        # of one for each of thousands of files, which takes seconds on a busy disk.
        sync = "syncfs" if sys.platform == "linux" else "fsync"
        text = SETTINGS.format(port=PORT, sockets=sockets, sync=sync)
        settings = self._cluster / "tillhouse.conf"
        with os.fdopen(_private(settings, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
            file.write(text)
        account.own(settings)

    def _stop(self, *, at_once: bool) -> None:
        status = _status(self._cluster)
        pid = _claimed(status)
        if not _is_alive(pid, self._cluster):
            return
        os.kill(pid, signal.SIGINT)  # fast: ends connections, writes a checkpoint
        deadline = time.monotonic() + (NOTICED_SECONDS if at_once else STOP_SECONDS)
        while _is_alive(pid, self._cluster) and time.monotonic() < deadline:
            # A server that says so itself can't be joined.
            if at_once and not _ready(_status(self._cluster)):
                return
            time.sleep(0.01)

    def _may_try_again(self, waited: float) -> bool:
        return waited < ORPHANS_SECONDS and "shared memory block" in self._last_words()

    def _last_words(self) -> str:
        log = self._data / "postgres.log"
        text = log.read_text("utf-8", "replace")[-4000:] if log.exists() else ""
        return (re.findall(r"FATAL: +(.*)", text) or text.splitlines() or [""])[-1]

    def _complaint(self, what: str) -> str:
        log = self._data / "postgres.log"
        return f"The embedded PostgreSQL {what}: {self._last_words()!r}; see {log}."


def _make_private(data: Path) -> None:
    # Each folder on the way, too: a user who may write there may put another in its place.
    for folder in (*reversed(data.parents), data):
        _make_folder(folder)
    # A folder that already holds something may be there for others too, such as /srv.
    if not any(data.iterdir()):
        data.chmod(0o700)


def _make_folder(folder: Path) -> None:
    """Make a folder that is private, whatever the umask is, unless it is there."""
    if folder.is_dir():
        return
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)


def _private(path: Path, flags: int) -> int:
    """A file of this mode, whatever the umask is; one that others could read is closed to them."""
    handle = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if os.fstat(handle).st_uid == os.geteuid():
        os.fchmod(handle, 0o600)
    return handle


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    handle = _private(path, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _status(cluster: Path) -> list[str]:
    """Lines of postmaster.pid: pid, data, start, port, sockets, address, memory, state."""
    try:
        return (cluster / "postmaster.pid").read_text("utf-8").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []


def _ready(status: list[str]) -> bool:
    return len(status) > 7 and status[7].strip() == "ready"


def _claimed(status: list[str]) -> int:
    """Give the process id that postmaster.pid names, or 0."""
    return int(status[0]) if status and status[0].isdecimal() else 0


def _is_alive(pid: int, cluster: Path) -> bool:
    """Whether a process id belongs to a living server of this folder, not to a namesake."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    if not Path("/proc/self/cwd").exists():
        return True
    try:
        # A server stays in its folder. The link of a dead but unreaped process can't be followed.
        return Path(f"/proc/{pid}/cwd").samefile(cluster)
    except PermissionError:
        return True
    except OSError:
        return False


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def _socket_folder(data: Path, account: ClusterUser) -> Path:
    """Give a private folder for the socket, near the data when its path is short and plain."""
    folder = data / "run"
    path = str(folder / SOCKET)
    if len(path.encode()) > LONGEST_SOCKET_PATH or re.search(r"[^\w/.+-]", path, re.ASCII):
        name = "tillhouse-" + hashlib.sha256(os.fsencode(data)).hexdigest()[:20]
        folder = Path(tempfile.gettempdir()) / name
        if len(str(folder / SOCKET)) > LONGEST_SOCKET_PATH:
            folder = Path("/tmp") / name  # noqa: S108 - verified below
    try:
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)
        account.own(folder)
    except FileExistsError:
        # Anybody could have made a folder of that name in the temporary folder.
        found = folder.lstat()
        ours = found.st_uid in {os.geteuid(), account.uid}
        if not (stat.S_ISDIR(found.st_mode) and ours and not found.st_mode & 0o077):
            message = f"{folder} must be a folder that is yours alone: remove it and try again."
            raise EmbeddedError(message) from None
        account.own(folder)
    return folder
