"""Writing a backup of an installation, with the report of the command."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import msgspec
from rich.filesize import decimal
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from tillhouse.access.vault import open_vault
from tillhouse.cli import installation as grounds
from tillhouse.cli.installation import Installation
from tillhouse.cli.output import CommandError, stderr_console
from tillhouse.db.archive import ArchiveWriter, MasterKey, Passphrase
from tillhouse.db.backup import SESSION, BackupProgress, back_up
from tillhouse.db.migrate import plan
from tillhouse.db.pool import Pool


class BackedUp(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A backup as the command tells it."""

    file: str
    database: str
    schema: str
    tables: int
    rows: int
    # In the file, and before they were compressed.
    bytes: int
    text_bytes: int
    seconds: float

    @property
    def sentence(self) -> str:
        """The same for people."""
        return (
            f"Backed up {self.database}: {self.rows:,} rows of {self.tables} tables, "
            f"{decimal(self.text_bytes)} as text, in {self.seconds:.1f} s. "
            f"{self.file} has {decimal(self.bytes)}."
        )


async def write_backup(
    installation: Installation, path: Path, opener: Passphrase | MasterKey
) -> BackedUp:
    """Write a backup of an installation, showing how far it is."""
    began = time.monotonic()
    connection = await grounds.connect(installation, SESSION)
    try:
        await _look_at_schema(connection)
        key = await _proved_key(installation)
        # A file that only the key opens needn't hold it.
        kept = key if isinstance(opener, Passphrase) else None
        with ArchiveWriter(path, opener) as archive, _bar() as report:
            written = await back_up(connection, archive, kept, report)
            size = archive.bytes_written
    finally:
        await connection.close()
    return BackedUp(
        file=str(path),
        database=installation.shown,
        schema=written.manifest.schema,
        tables=len(written.manifest.tables),
        rows=written.rows,
        bytes=size,
        text_bytes=written.text_bytes,
        seconds=round(time.monotonic() - began, 2),
    )


async def require_schema(installation: Installation) -> None:
    """Refuse a database that has nothing to back up, or belongs to a newer release."""
    connection = await grounds.connect(installation)
    try:
        await _look_at_schema(connection)
    finally:
        await connection.close()


async def _look_at_schema(connection: asyncpg.Connection) -> None:
    # A schema that this release doesn't know can't be restored by it either.
    missing = await plan(connection)
    if missing and missing[0].finds_nothing:
        raise CommandError("There is nothing to back up: the database is empty.")


async def _proved_key(installation: Installation) -> str:
    """The master key, which opens this database: beside another, the rows would be worthless."""
    key = (await grounds.master_key(installation)).strip()
    pool = await Pool.open(installation.database_url, size=1)
    try:
        await open_vault(pool, key)
    finally:
        await pool.close()
    return key


@contextmanager
def _bar() -> Iterator[Callable[[BackupProgress], None]]:
    console = stderr_console()
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"))
    with Bar(
        *columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("Backing up", told="")

        def report(progress: BackupProgress) -> None:
            bar.update(
                task,
                total=max(progress.rows_expected, progress.rows),
                completed=progress.rows,
                description=progress.table,
                told=f"{progress.rows:,} rows, {decimal(progress.text_bytes)}",
            )

        yield report
