"""Bring an archive's rows into an empty database: all of them, or nothing at all.

One transaction makes the schema by the migrations that the backup had, copies the rows in and
proves the foreign keys; until its commit no other session sees any of it.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator

import asyncpg
import msgspec

from tillhouse.db.archive import ArchiveError, Record
from tillhouse.db.backup import HERE, UNOWNED, Manifest, RowCount, TableRows, quoted
from tillhouse.db.migrate import alone, has_earlier_steps, load, migrate

OCCUPIED = f"""
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = {HERE} AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
    AND {UNOWNED.format(catalog="'pg_class'", oid="c.oid")}
ORDER BY c.relname COLLATE "C" LIMIT 1
"""

MADE = f"SELECT relname FROM pg_class WHERE relnamespace = {HERE} AND relkind IN ('r', 'p')"

# Proved at once when all rows are there, which takes one join instead of a look-up for every row.
FOREIGN_KEYS = f"""
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drops,
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname,
        pg_get_constraintdef(oid)) AS adds
FROM pg_constraint
WHERE connamespace = {HERE} AND contype = 'f' AND conparentid = 0
ORDER BY conname COLLATE "C"
"""

# The figures that the product's own triggers keep are among the rows.
TRIGGERED = f"""
SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = {HERE} AND NOT t.tgisinternal AND t.tgparentid = 0
"""

ADVANCE = "SELECT setval(to_regclass($1), $2, $3)"


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a restore."""

    rows: int
    # Tables of others, which had their rows in the backup and which nothing here makes.
    left_out: tuple[str, ...]


def read_manifest(records: Iterator[Record]) -> Manifest:
    """The first record of an archive."""
    record = next(records, None)
    if record is None or record.kind != "manifest":
        raise ArchiveError("The backup doesn't tell what it holds: take another one.")
    return msgspec.json.decode(record.body, type=Manifest)


def require_migrations(manifest: Manifest) -> None:
    """Refuse a backup whose schema this release can't make."""
    if has_earlier_steps(manifest.migrations):
        return
    known = load()
    for applied in manifest.migrations:
        if applied.number > len(known):
            raise ArchiveError(
                f"The backup was made by Tillhouse {manifest.made_by} at migration "
                f"{manifest.schema}, and this release knows {known[-1].label}: install the newer."
            )
        if known[applied.number - 1].checksum != applied.checksum:
            raise ArchiveError(
                f"Migration {applied.number:04}_{applied.name} was another when the backup was "
                f"made: restore it with Tillhouse {manifest.made_by}."
            )


async def require_empty(connection: asyncpg.Connection) -> None:
    """Refuse a database that holds anything."""
    found = await connection.fetchval(OCCUPIED)
    if found is not None:
        raise ArchiveError(
            f"The database isn't empty (it has {found}), and a restore replaces nothing: give a "
            "new data folder with --data, or the address of an empty database. If an earlier "
            "restore filled it, all rows are there: `tillhouse migrate` ends what it began."
        )


async def restore(
    connection: asyncpg.Connection,
    manifest: Manifest,
    records: Iterator[Record],
    report: Callable[[], None] = lambda: None,
    before_commit: Callable[[], None] = lambda: None,
) -> Restored:
    """Bring the rows in, which have to be those behind the manifest."""
    # A server that starts meanwhile waits, and finds all rows; so does another restore, which may
    # come after one that was killed and whose statement goes on.
    async with alone(connection), connection.transaction():
        await require_empty(connection)
        earlier = has_earlier_steps(manifest.migrations)
        await migrate(connection, up_to=1 if earlier else manifest.migrations[-1].number)
        await connection.execute("SET LOCAL statement_timeout = 0")
        made = {row["relname"] for row in await connection.fetch(MADE)}
        await _make_partitions(connection, manifest, made)
        foreign_keys = await connection.fetch(FOREIGN_KEYS)
        triggered = await connection.fetch(TRIGGERED)
        await _run(connection, [row["drops"] for row in foreign_keys])
        await _run(connection, [f"ALTER TABLE {t['name']} DISABLE TRIGGER USER" for t in triggered])
        await connection.execute("DELETE FROM schema_migrations")
        rows = 0
        for table in manifest.tables:
            pieces = _Pieces(records, report)
            if table.name in made:
                rows += await _copy(connection, table, pieces)
            else:
                await pieces.pass_over()
        for each in manifest.sequences:
            sequence = quoted(each.name), each.last_value, each.is_called
            await connection.execute(ADVANCE, *sequence)
        await _run(connection, [f"ALTER TABLE {t['name']} ENABLE TRIGGER USER" for t in triggered])
        await _run(connection, [row["adds"] for row in foreign_keys])
        before_commit()
    left_out = tuple(table.name for table in manifest.tables if table.name not in made)
    return Restored(rows=rows, left_out=left_out)


async def look_over(connection: asyncpg.Connection) -> None:
    """Let the planner know the rows that came in."""
    await connection.execute("ANALYZE")


async def _make_partitions(
    connection: asyncpg.Connection, manifest: Manifest, made: set[str]
) -> None:
    await _run(
        connection,
        [
            f"CREATE TABLE {quoted(each.name)} PARTITION OF {quoted(each.parent)} {each.bound}"
            for each in manifest.partitions
            if each.parent in made and each.name not in made
        ],
    )


async def _run(connection: asyncpg.Connection, statements: Iterable[str]) -> None:
    for statement in statements:
        await connection.execute(statement)


class _Pieces:
    """The rows of one table, and behind them how many there have to be."""

    def __init__(self, records: Iterator[Record], report: Callable[[], None]) -> None:
        self._records = records
        self._report = report
        self.rows = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for record in self._records:
            if record.kind != "rows":
                self.rows = msgspec.json.decode(record.body, type=RowCount).rows
                return
            yield record.body
            self._report()

    async def pass_over(self) -> None:
        """Leave them out."""
        async for _ in self:
            pass


async def _copy(connection: asyncpg.Connection, table: TableRows, pieces: _Pieces) -> int:
    done = await connection.copy_to_table(table.name, columns=table.columns, source=pieces)
    count = int(done.removeprefix("COPY "))
    if count != pieces.rows:
        raise ArchiveError(
            f"Of {pieces.rows} rows of {table.name}, {count} came back: nothing was restored."
        )
    return count
