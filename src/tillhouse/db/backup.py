"""Write the rows of a database into an archive, all as they were at one moment.

The schema isn't written: it is the work of the migrations, whose numbers and checksums are.
Partitions and the positions of sequences, which migrations don't make, are written too.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import asyncpg
import msgspec

from tillhouse import __version__
from tillhouse.db.archive import ArchiveWriter
from tillhouse.db.migrate import Applied, list_applied

HERE = "current_schema()::regnamespace"
UNOWNED = """NOT EXISTS (
    SELECT FROM pg_depend WHERE classid = {catalog}::regclass AND objid = {oid} AND deptype = 'e'
)"""

# Rows as text mean the same to every server, whatever it is set to.
SESSION = {
    "application_name": "tillhouse backup",
    "client_encoding": "UTF8",
    "datestyle": "ISO",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "extra_float_digits": "3",
    "statement_timeout": "0",
    "lock_timeout": "30s",
    "idle_in_transaction_session_timeout": "0",
}

# Unlogged tables hold rows that a crash may lose anyway.
TABLES = f"""
SELECT c.relname AS name, greatest(
        (SELECT sum(p.reltuples) FROM pg_partition_tree(c.oid) t JOIN pg_class p ON p.oid = t.relid
            WHERE t.isleaf), c.reltuples, 0)::bigint AS rows_expected,
    (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    ) AS columns
FROM pg_class c
WHERE c.relnamespace = {HERE} AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relpersistence = 'p' AND {UNOWNED.format(catalog="'pg_class'", oid="c.oid")}
ORDER BY c.relname COLLATE "C"
"""

PARTITIONS = f"""
SELECT c.relname AS name, p.relname AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound
FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid JOIN pg_class p ON p.oid = i.inhparent
WHERE c.relnamespace = {HERE} AND c.relispartition AND c.relkind = 'r'
ORDER BY c.relname COLLATE "C"
"""

SEQUENCES = f"""
SELECT s.relname AS name FROM pg_class s
WHERE s.relnamespace = {HERE} AND s.relkind = 'S'
    AND {UNOWNED.format(catalog="'pg_class'", oid="s.oid")}
ORDER BY s.relname COLLATE "C"
"""


class TableRows(msgspec.Struct, frozen=True):
    """A table whose rows are written, and the columns of each row."""

    name: str
    columns: tuple[str, ...]


class PartitionOf(msgspec.Struct, frozen=True):
    """A part of a table, and which rows belong there."""

    name: str
    parent: str
    bound: str


class SequenceState(msgspec.Struct, frozen=True):
    """A sequence, and how far it has come."""

    name: str
    last_value: int
    is_called: bool


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a backup and the needs of its restore; the first record of an archive."""

    made_at: datetime
    made_by: str
    server: str
    migrations: tuple[Applied, ...]
    tables: tuple[TableRows, ...]
    partitions: tuple[PartitionOf, ...]
    sequences: tuple[SequenceState, ...]
    # None in a file that only its installation opens: it has the key already.
    master_key: str | None

    @property
    def schema(self) -> str:
        """The last migration, by number and name."""
        last = self.migrations[-1]
        return f"{last.number:04}_{last.name}"


class RowCount(msgspec.Struct, frozen=True):
    """How many rows of a table there are; the record behind its rows."""

    rows: int


class WrittenBackup(msgspec.Struct, frozen=True, kw_only=True):
    """A backup that is complete."""

    manifest: Manifest
    rows: int
    # The size of the rows as text, before they are compressed.
    text_bytes: int


class BackupProgress(msgspec.Struct):
    """How far it is: called upon at every piece of rows."""

    rows_expected: int
    report: Callable[["BackupProgress"], None] = lambda progress: None
    table: str = ""
    rows: int = 0
    text_bytes: int = 0

    def count(self, piece: bytes) -> None:
        """Note a piece of rows: in COPY's text each ends with the only line feed that it has."""
        self.rows += piece.count(b"\n")
        self.text_bytes += len(piece)
        self.report(self)


async def back_up(
    connection: asyncpg.Connection,
    archive: ArchiveWriter,
    master_key: str | None,
    report: Callable[[BackupProgress], None] = lambda progress: None,
) -> WrittenBackup:
    """Write all rows into the archive, as one moment saw them; writers go on meanwhile."""
    names = [quoted(table["name"]) for table in await connection.fetch(TABLES)]
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        # Before the moment that is seen: a table that is dropped later would be seen empty.
        await connection.execute(f"LOCK TABLE {', '.join(names)} IN ACCESS SHARE MODE")
        found = await connection.fetch(TABLES)
        manifest = await _manifest(connection, found, master_key)
        archive.add("manifest", msgspec.json.encode(manifest))
        progress = BackupProgress(sum(table["rows_expected"] for table in found), report)
        for table in manifest.tables:
            progress.table = table.name
            await _write_rows(connection, archive, table, progress)
    archive.add("end", b"")
    archive.complete()
    return WrittenBackup(manifest=manifest, rows=progress.rows, text_bytes=progress.text_bytes)


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


async def _manifest(
    connection: asyncpg.Connection, tables: Sequence[asyncpg.Record], master_key: str | None
) -> Manifest:
    return Manifest(
        made_at=datetime.now(UTC),
        made_by=__version__,
        server=connection.get_settings().server_version,
        migrations=await list_applied(connection),
        tables=tuple(TableRows(table["name"], tuple(table["columns"])) for table in tables),
        partitions=tuple(PartitionOf(**row) for row in await connection.fetch(PARTITIONS)),
        sequences=tuple(
            [await _counted(connection, row["name"]) for row in await connection.fetch(SEQUENCES)]
        ),
        master_key=master_key,
    )


async def _counted(connection: asyncpg.Connection, name: str) -> SequenceState:
    row = await connection.fetchrow(f"SELECT last_value, is_called FROM {quoted(name)}")
    return SequenceState(name, *row) if row else SequenceState(name, 1, is_called=False)


async def _write_rows(
    connection: asyncpg.Connection,
    archive: ArchiveWriter,
    table: TableRows,
    progress: BackupProgress,
) -> None:
    async def put(piece: bytes) -> None:
        archive.add("rows", piece)
        progress.count(piece)

    columns = ", ".join(map(quoted, table.columns))
    done = await connection.copy_from_query(
        f"SELECT {columns} FROM {quoted(table.name)}", output=put
    )
    archive.add("end of table", msgspec.json.encode(RowCount(int(done.removeprefix("COPY ")))))
