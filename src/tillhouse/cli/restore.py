"""`tillhouse restore`: a backup in an empty database, proved before and after."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import asyncpg
import msgspec
import typer
from rich.console import Group
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from tillhouse.access.vault import parse_master_key
from tillhouse.cli import installation as grounds
from tillhouse.cli.installation import Installation
from tillhouse.cli.output import AsJson, CommandError, Data, print_result, stderr_console
from tillhouse.cli.passphrases import FromStdin, passphrase
from tillhouse.cli.running import ended_by_signals
from tillhouse.cli.stopping import run_until_told
from tillhouse.cli.verify import VerifyResult, look_at_all
from tillhouse.db import restore as restoring
from tillhouse.db.archive import ArchiveReader, MasterKey
from tillhouse.db.backup import SESSION, Manifest
from tillhouse.db.migrate import Migration, MigrationError, migrate
from tillhouse.db.restore import Restored, read_manifest, require_migrations
from tillhouse.kit.clock import iso
from tillhouse.settings import SettingError, Settings

_FAILED = (asyncpg.PostgresError, asyncpg.InterfaceError, MigrationError, OSError)

File = Annotated[Path, typer.Argument(help="A file of `tillhouse backup`.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(help="Where to write the master key, for a server of your own.", dir_okay=False),
]


class BackupContents(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The contents of a file that was read to its end and is whole."""

    file: str
    made_at: str
    made_by: str
    postgresql: str
    schema: str
    tables: int
    opened_by: str

    @property
    def sentence(self) -> str:
        """The same for people."""
        return (
            f"{self.file} is whole: {self.tables} tables at migration {self.schema}, made on "
            f"{self.made_at} by Tillhouse {self.made_by} on PostgreSQL {self.postgresql}; "
            f"the {self.opened_by} opens it."
        )


class Back(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A restored installation."""

    file: str
    database: str
    master_key: str
    rows: int
    left_out: tuple[str, ...]
    applied: tuple[str, ...]
    seconds: float
    businesses: int
    broken: list[dict[str, Any]]

    @property
    def sentence(self) -> str:
        """The same for people."""
        told = [
            f"Restored {self.rows:,} rows into {self.database} in {self.seconds:.1f} s; "
            f"the master key is {self.master_key}."
        ]
        if self.left_out:
            told.append(f"Left out, since Tillhouse doesn't make them: {', '.join(self.left_out)}.")
        if self.applied:
            told.append(f"Migrated since: {', '.join(self.applied)}.")
        return "\n".join(told)


def restore(
    file: File,
    *,
    check: Annotated[bool, typer.Option("--check", help="Only read it to its end.")] = False,
    master_key_file: KeyFile = None,
    passphrase_stdin: FromStdin = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Bring a backup into a new data folder or an empty database, and verify it."""
    settings = grounds.settings_without_key(data=data)
    archive, manifest = _opened(file.expanduser().absolute(), settings, passphrase_stdin)
    if check:
        held = _held(file, archive, manifest)
        print_result(held, as_json=as_json, shown=held.sentence)
        return
    require_migrations(manifest)
    key = KeyPlace(settings, manifest.master_key, master_key_file)
    with ended_by_signals() as stop, grounds.running_database(settings, stop) as installation:
        done, verdict = run_until_told(_restore(installation, archive, key), stop)
    shown = Group(done.sentence, verdict.shown)
    print_result(done, as_json=as_json, shown=shown)
    if verdict.broken:
        raise typer.Exit(1)


class KeyPlace:
    """Where the master key of the restored database will be looked for."""

    def __init__(self, settings: Settings, brought: str | None, file: Path | None) -> None:
        self.text = brought or settings.master_key or ""
        self._path = settings.data / "master.key" if settings.database_url is None else file
        if settings.master_key is not None and not _has(settings.master_key, self.text):
            raise CommandError(
                "TILLHOUSE_MASTER_KEY isn't the key of this backup, which has its own: unset it."
            )
        if self._path is None and settings.master_key is None:
            raise CommandError(
                "The backup brings the master key: tell with --master-key-file where to write it, "
                "and give that file as TILLHOUSE_MASTER_KEY_FILE from then on."
            )
        if self._path is not None and self._path.exists():
            if not _has(_read_key(self._path), self.text):
                raise CommandError(f"{self._path} is another database's key: move it away.")
            self._path = None
        elif file is not None and self._path is file and not _takes_files(file.parent):
            raise CommandError(
                f"The master key can't be written to {file}: make its folder, or name another."
            )

    @property
    def told(self) -> str:
        """Where it is."""
        return str(self._path) if self._path is not None else "the one you have"

    def fill(self) -> None:
        """Write the key down, unless it is there."""
        if self._path is not None:
            grounds.keep_key(self._path, self.text)


def _has(given: str, wanted: str) -> bool:
    return parse_master_key(wanted).items() <= parse_master_key(given).items()


def _read_key(path: Path) -> str:
    try:
        text = path.read_text("utf-8")
        parse_master_key(text)
    except (OSError, UnicodeDecodeError, SettingError):
        raise CommandError(f"{path} holds no master key that can be read: move it away.") from None
    return text


def _takes_files(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def _opened(path: Path, settings: Settings, from_stdin: bool) -> tuple[ArchiveReader, Manifest]:
    """The file, read to its end once, so that the restored data are whole."""
    if not path.is_file():
        raise CommandError(f"There is no file {path}: name one that `tillhouse backup` made.")
    archive = ArchiveReader(path)
    if archive.master_version is None:
        archive.unlock(passphrase(settings, from_stdin=from_stdin, is_new=False))
    else:
        archive.unlock(_installations_key(settings, archive.master_version))
    with _bar("Reading", archive.size) as advance:
        archive.check(lambda: advance(archive.bytes_read))
    return archive, read_manifest(archive.records())


def _installations_key(settings: Settings, version: int) -> MasterKey:
    path = settings.data / "master.key"
    given = settings.master_key
    if given is None and settings.database_url is None and path.exists():
        given = path.read_text("utf-8")
    keys = {} if given is None else parse_master_key(given)
    if version not in keys:
        raise CommandError(
            f"Version {version} of the master key opens this backup: give it as "
            "TILLHOUSE_MASTER_KEY or TILLHOUSE_MASTER_KEY_FILE."
        )
    return MasterKey(version, keys[version])


def _held(file: Path, archive: ArchiveReader, manifest: Manifest) -> BackupContents:
    return BackupContents(
        file=str(file),
        made_at=iso(manifest.made_at),
        made_by=manifest.made_by,
        postgresql=manifest.server,
        schema=manifest.schema,
        tables=len(manifest.tables),
        opened_by="passphrase" if archive.master_version is None else "master key",
    )


async def _restore(
    installation: Installation, archive: ArchiveReader, key: KeyPlace
) -> tuple[Back, VerifyResult]:
    began = time.monotonic()
    connection = await grounds.connect(installation, SESSION)
    try:
        await restoring.require_empty(connection)
        try:
            restored = await _bring_rows(connection, archive, key)
        except _FAILED as error:
            raise CommandError(
                f"{installation.shown} could not take the rows ({_reason(error)}), and has all of "
                "them or none: see that its disk has room, and run this again."
            ) from error
        applied = await _bring_up_to_date(connection, installation)
    finally:
        await connection.close()
    seconds = round(time.monotonic() - began, 2)
    keyed = Installation(
        settings=msgspec.structs.replace(installation.settings, master_key=key.text),
        database_url=installation.database_url,
        embedded=installation.embedded,
    )
    async with grounds.open_services(keyed) as services:
        verdict = await look_at_all(services)
    return Back(
        file=str(archive.path),
        database=installation.shown,
        master_key=key.told,
        rows=restored.rows,
        left_out=restored.left_out,
        applied=tuple(migration.label for migration in applied),
        seconds=seconds,
        businesses=verdict.businesses,
        broken=verdict.broken,
    ), verdict


async def _bring_rows(
    connection: asyncpg.Connection, archive: ArchiveReader, key: KeyPlace
) -> Restored:
    records = archive.records()
    with _bar("Restoring", archive.size) as advance:
        # The key is there before its rows, and stays: whether a commit failed may never be known.
        return await restoring.restore(
            connection,
            read_manifest(records),
            records,
            lambda: advance(archive.bytes_read),
            before_commit=key.fill,
        )


async def _bring_up_to_date(
    connection: asyncpg.Connection, installation: Installation
) -> list[Migration]:
    try:
        await restoring.look_over(connection)
        return await migrate(connection)
    except _FAILED as error:
        raise CommandError(
            f"All rows are back in {installation.shown}, which could not be brought up to date "
            f"({_reason(error)}): run `tillhouse migrate`, then `tillhouse verify`."
        ) from error


def _reason(error: BaseException) -> str:
    """The cause in one line; where the connection broke, the end of its transaction fails too."""
    if isinstance(error, asyncpg.InterfaceError) and error.__context__ is not None:
        error = error.__context__
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    console = stderr_console()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
