"""Servers of every version of PostgreSQL that this machine has, each as long as a block lasts."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tillhouse.db.embedded import Embedded

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("[0-9]*/bin"))
DEBIAN = Path("/usr/lib/postgresql/15/bin")


@contextmanager
def embedded() -> Iterator[str]:
    """Hold the embedded server."""
    with tempfile.TemporaryDirectory() as folder:
        server = Embedded.start(Path(folder))
        try:
            yield server.url
        finally:
            server.release()


@contextmanager
def oldest() -> Iterator[str]:
    """Hold a server of the oldest supported version, where the system has one."""
    with installed(DEBIAN) if DEBIAN.exists() else embedded() as url:
        yield url


@contextmanager
def installed(programs: Path) -> Iterator[str]:
    """Hold a server of the system's."""
    folder = Path(tempfile.mkdtemp())
    account: dict[str, object] = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        os.chown(folder, user.pw_uid, user.pw_gid)

    def control(*command: str) -> None:
        subprocess.run(
            [str(programs / command[0]), "-D", str(folder / "data"), *command[1:]],
            cwd="/", check=True, stdout=subprocess.DEVNULL, **account,
        )  # fmt: skip

    control("initdb", "-U", "tillhouse", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
    options = f"-c listen_addresses='' -k {folder} -F"
    control("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgresql://tillhouse@/postgres?host={folder}&port=5432"
    finally:
        control("pg_ctl", "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder)
