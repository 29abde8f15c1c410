"""Servers of this user on this machine: each notes where it answers and on which database."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tillhouse.cli.installation import Installation
from tillhouse.cli.output import stderr_console


class RunningServer(msgspec.Struct, frozen=True):
    """A server that runs at this moment."""

    address: str
    database: str


@contextmanager
def noted(server: RunningServer) -> Iterator[None]:
    """Let commands find the server while the block runs; the lock ends with the process."""
    folder = _folder()
    if folder is None:
        yield
        return
    path = folder / f"{os.getpid()}.json"
    draft = path.with_suffix(".new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        # Before it has its name: a note without a lock is taken for a dead server's.
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.write(handle, msgspec.json.encode(server))
        draft.rename(path)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def running_servers() -> list[RunningServer]:
    """All of them."""
    folder = _folder()
    found = [_read(path) for path in sorted(folder.glob("*.json"))] if folder else []
    return [server for server in found if server is not None]


def address_of(installation: Installation) -> str | None:
    """Where the server of this database answers, if one runs."""
    found = (each for each in running_servers() if each.database == installation.shown)
    return next((server.address for server in found), None)


def tell_database(installation: Installation) -> None:
    """Say which database a command works on, and warn when a running server has another."""
    console = stderr_console()
    servers = running_servers()
    console.print(f"Using {installation.shown}.", soft_wrap=True)
    others = [each for each in servers if each.database != installation.shown]
    if others and len(others) == len(servers):
        told = ", ".join(f"{each.address} has {each.database}" for each in others)
        console.print(
            f"Warning: the running server has another database ({told}): give --data or "
            "TILLHOUSE_DATABASE_URL if you meant that one.",
            soft_wrap=True,
        )


def _read(path: Path) -> RunningServer | None:
    try:
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return msgspec.json.decode(file.read(), type=RunningServer)
        # Left by a server that was killed.
        path.unlink()
    except (OSError, msgspec.DecodeError):
        pass
    return None


def _folder() -> Path | None:
    """The folder of the notes, ours alone; None where it can't be had."""
    above = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    folder = above / f"tillhouse-servers-{os.geteuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    # Anybody could have made a folder of that name in the temporary folder.
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return folder if is_ours and not found.st_mode & 0o077 else None
