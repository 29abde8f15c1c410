"""The schema: tables in their rooms, migrations in order, names alike."""

import re
from collections.abc import Iterator

import asyncpg
import pytest

import tillhouse
from tests.tidy.tree import PACKAGE, Source, sources, tidy
from tillhouse.db.migrate import SCHEMAS, MigrationError, load

_MADE = re.compile(r"CREATE (?:\w+ )?(?:TABLE|INDEX|FUNCTION)\b|ALTER TABLE")
_SINCE = re.compile(r"-- Since (\d+\.\d+\.\d+): ")


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _of_rooms() -> Iterator[Source]:
    for source in sources():
        if source.path.startswith(f"{PACKAGE}/") and source.path.endswith(".sql"):
            yield source


def test_every_file_of_tables_is_joined() -> None:
    """A file that the list lacks would make no table."""
    kept = {source.path.removeprefix(f"{PACKAGE}/") for source in _of_rooms()}
    assert {path for path in kept if "/migrations/" not in path} == set(SCHEMAS)
    assert len(SCHEMAS) == len(set(SCHEMAS))


def test_migrations_are_numbered_without_a_gap() -> None:
    """0002, 0003, …: each has its place, and two branches can't take the same."""
    try:
        steps = load()
    except MigrationError as error:
        pytest.fail(str(error))
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))


def test_migrations_name_their_release() -> None:
    """An operator who updates sees which release brings which steps."""
    now = _release(tillhouse.__version__)
    found: list[str] = []
    for source in _of_rooms():
        if "/migrations/" not in source.path:
            continue
        match = _SINCE.match(source.text)
        if match is None or _release(match[1]) > now:
            found.append(source.path)
    tidy("A migration begins with `-- Since 1.2.3: what it is for.`, the release it is in.", found)


def test_every_part_of_the_schema_says_what_it_is_for() -> None:
    """A table, an index and a function stand below a sentence; a trigger follows its function."""
    tidy(
        "A comment stands above each table, index and function.",
        (
            f"{source.path}:{number + 1}: {line}"
            for source in _of_rooms()
            for lines in (source.text.splitlines(),)
            for number, line in enumerate(lines)
            if _MADE.match(line) and not (number and lines[number - 1].startswith("-- "))
        ),
    )


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
