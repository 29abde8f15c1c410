"""The schema: migrations in order, its readable form up to date."""

import asyncpg
import pytest

from tests.tidy.tree import PACKAGE, ROOT, tidy
from tillhouse.db.dump import dump
from tillhouse.db.migrate import MIGRATIONS, MigrationError, load


def test_migrations_are_numbered_without_a_gap() -> None:
    """0001, 0002, …: each has its place, and two branches can't take the same."""
    numbers = [path.name[:4] for path in sorted(MIGRATIONS.glob("*"))]
    assert numbers == [f"{place:04}" for place in range(1, len(numbers) + 1)]
    try:
        load()
    except MigrationError as error:
        pytest.fail(str(error))


async def test_the_readable_schema_is_current(database_url: str) -> None:
    """schema.sql is what the migrations make."""
    connection = await asyncpg.connect(database_url)
    made = await dump(connection)
    await connection.close()
    kept = ROOT / PACKAGE / "db/schema.sql"
    assert kept.exists(), "Run `make docs`: it writes src/tillhouse/db/schema.sql."
    assert kept.read_text("utf-8") == made, "Run `make docs`: schema.sql is out of date."


async def test_tables_and_columns_are_named_alike(database_url: str) -> None:
    """Instants end in _at, dates in _on or are called day, and text has no length in its type."""
    connection = await asyncpg.connect(database_url)
    rows = await connection.fetch(
        """
        SELECT c.table_name, c.column_name, c.data_type
        FROM information_schema.columns c JOIN information_schema.tables t
            ON t.table_name = c.table_name AND t.table_schema = c.table_schema
        WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
        """
    )
    await connection.close()
    found: list[str] = []
    for table, column, kind in rows:
        place = f"{table}.{column} {kind}"
        if kind == "timestamp without time zone" or kind in ("character varying", "character"):
            found.append(f"{place}: use timestamptz, or text")
        if kind == "timestamp with time zone" and not column.endswith(("_at", "_until")):
            found.append(f"{place}: an instant ends in _at")
        if kind == "date" and not (column.endswith("_on") or column in ("day", "date")):
            found.append(f"{place}: a date ends in _on")
        if kind in ("real", "double precision") and "amount" in column:
            found.append(f"{place}: money is numeric")
    tidy("Columns are named by what they hold, and hold it exactly.", found)
