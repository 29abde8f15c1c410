"""Backups that Tillhouse makes by itself: where they are kept, and for how long."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tillhouse.access.vault import parse_master_key
from tillhouse.cli import installation as grounds
from tillhouse.cli.backup_writer import BackedUp, require_schema, write_backup
from tillhouse.cli.installation import Installation
from tillhouse.cli.output import CommandError
from tillhouse.db.archive import ArchiveError, MasterKey, Passphrase
from tillhouse.settings import Settings

ROUTINE = "routine"
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_BEGINNING, _ENDING = "tillhouse-", ".backup"


def folder_of(settings: Settings) -> Path:
    """The folder of kept backups."""
    return settings.backup_folder or settings.data / "backups"


async def keep_backup(
    installation: Installation, reason: str = ROUTINE, *, if_due: bool = False
) -> BackedUp | None:
    """Write one into the folder, and drop the oldest of the same reason beyond those to keep."""
    await require_schema(installation)
    folder = folder_of(installation.settings)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(folder):
        # Another process may just have made it.
        if if_due and not is_due(installation.settings):
            return None
        stamp = datetime.now(UTC).strftime(_STAMP)
        path = folder / f"{_BEGINNING}{stamp}-{reason}{_ENDING}"
        done = await write_backup(installation, path, await _opener(installation))
        # The clock may have gone back: the one just made stays, whatever its name says.
        others = [each for each in kept(folder, reason) if each != path]
        for old in others[max(0, installation.settings.backup_keep - 1) :]:
            old.unlink()
    return done


async def keep_before_migration(installation: Installation) -> None:
    """Keep a backup of the database before a migration changes it."""
    try:
        await keep_backup(installation, "migration")
    except (OSError, ArchiveError) as error:
        raise CommandError(
            f"No backup could be made before the migration, so nothing was migrated ({error}): "
            "make room, set TILLHOUSE_BACKUP_FOLDER, or run `tillhouse migrate --no-backup`."
        ) from error


def kept(folder: Path, reason: str = ROUTINE) -> list[Path]:
    """The backups of a reason, the newest first; files that others named so are not ours."""
    found = folder.glob(f"{_BEGINNING}*-{reason}{_ENDING}")
    return sorted((path for path in found if _made_at(path) is not None), reverse=True)


def is_due(settings: Settings) -> bool:
    """Whether the newest routine backup is older than the settings want."""
    if settings.backup_every_hours == 0:
        return False
    age = age_of_newest(settings)
    return age is None or age >= timedelta(hours=settings.backup_every_hours)


def age_of_newest(settings: Settings) -> timedelta | None:
    """How old the newest routine backup is; None when there is none.

    One that a wrong clock dated later than now doesn't count: its true age is unknown.
    """
    moment = datetime.now(UTC)
    made = (_made_at(path) for path in kept(folder_of(settings)))
    return min((moment - at for at in made if at is not None and at <= moment), default=None)


def _made_at(path: Path) -> datetime | None:
    try:
        made = path.name.removeprefix(_BEGINNING).partition("-")[0]
        return datetime.strptime(made, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None


async def _opener(installation: Installation) -> Passphrase | MasterKey:
    """The passphrase, where one is set; else the master key, which needs no question."""
    if installation.settings.backup_passphrase is not None:
        return Passphrase(installation.settings.backup_passphrase)
    keys = parse_master_key(await grounds.master_key(installation))
    return MasterKey(max(keys), keys[max(keys)])


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time writes into the folder; a draft found there is of a killed one."""
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for draft in folder.glob(f".{_BEGINNING}*.part"):
            draft.unlink(missing_ok=True)
        yield
    finally:
        os.close(handle)
