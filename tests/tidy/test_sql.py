"""Every SQL statement: it prepares, fits its struct, stays in its book, and finds by index."""

import ast
import inspect
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, get_type_hints

import asyncpg
import msgspec
import pytest
from asyncpg.prepared_stmt import PreparedStatement
from statements.collect import Statement, asking, statements, table_statements
from statements.samples import module_of

from tests.conftest import fresh_database
from tests.tidy.sql_exceptions import BOOKLESS, EVERY_BOOK, SCANS, SMALL
from tests.tidy.tree import Function, Source, functions, tidy

_INDEX_SCANS = ("Index Scan", "Index Only Scan", "Bitmap Index Scan")
_PARTITION = re.compile(r"_(?:\d{8}|rest)$")
_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:ONLY\s+|LATERAL\s+)?([a-z_]+)\b(?!\s*\()")


@pytest.fixture
async def database(server_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection to the migrated schema; nothing that is done on it stays.

    On tables without rows: plans depend on how many pages a table has.
    """
    async with fresh_database(server_url, "tillhouse_tidy") as url:
        connection = await asyncpg.connect(url)
        transaction = connection.transaction()
        await transaction.start()
        yield connection
        await transaction.rollback()
        await connection.close()


async def _prepared(
    database: asyncpg.Connection, statement: Statement
) -> PreparedStatement | asyncpg.PostgresError:
    try:
        async with database.transaction():
            return await database.prepare(statement.sql)
    except asyncpg.PostgresError as error:
        return error


def test_every_statement_of_a_store_is_seen() -> None:
    """The tests below look at all of them, so each must be reachable with any arguments."""
    tidy(
        "Each function of a store asks the database the same, whatever its arguments are worth: "
        "one statement per function, and nothing raised before it.",
        statements()[1],
    )


async def test_every_statement_prepares(database: asyncpg.Connection) -> None:
    """Names and types are right on the migrated schema, and every placeholder has its value."""
    found: list[str] = []
    for statement in statements()[0]:
        prepared = await _prepared(database, statement)
        if isinstance(prepared, asyncpg.PostgresError):
            found.append(f"{statement.place}: {prepared}")
        elif (wanted := len(prepared.get_parameters())) != len(statement.args):
            values = len(statement.args)
            found.append(f"{statement.place}: {wanted} placeholders, {values} values")
    tidy("A statement must prepare on the migrated schema, with a value per placeholder.", found)


async def test_no_statement_moves_a_row_in_a_column(database: asyncpg.Connection) -> None:
    """Numbers come as text (`db/connecting.py`), which the driver can't read within a row."""
    places: dict[int, list[str]] = {}
    for statement in statements()[0]:
        prepared = await _prepared(database, statement)
        if isinstance(prepared, PreparedStatement):
            columns = [column.type for column in prepared.get_attributes()]
            for type_ in (*columns, *prepared.get_parameters()):
                places.setdefault(type_.oid, []).append(f"{statement.place}: {type_.name}")
    assert places
    rows = await database.fetch(
        """
        SELECT t.oid FROM pg_type t LEFT JOIN pg_type e ON e.oid = t.typelem
        WHERE t.oid = ANY($1::oid[])
            AND ('c' IN (t.typtype, e.typtype) OR 'record'::regtype IN (t.oid, e.oid))
        """,
        list(places),
    )
    tidy(
        "A statement answers and takes columns, no rows within columns.",
        (place for row in rows for place in places[row["oid"]]),
    )


async def test_rows_fit_the_structs_that_are_made_of_them(database: asyncpg.Connection) -> None:
    """Where a row becomes a struct, its columns are the struct's fields."""
    found: list[str] = []
    compared = 0
    for place in asking():
        for struct, extra in _structs(place.source, place.function):
            for statement in _of(place.source, place.function):
                prepared = await _prepared(database, statement)
                if isinstance(prepared, PreparedStatement):
                    compared += 1
                    columns = {attribute.name for attribute in prepared.get_attributes()}
                    found += _unlike(statement, struct, columns | extra)
    for one in table_statements():
        prepared = await _prepared(database, one.statement)
        if one.row is not None and isinstance(prepared, PreparedStatement):
            compared += 1
            columns = {attribute.name for attribute in prepared.get_attributes()}
            struct, extra, taken = _made_by(one.row)
            found += _unlike(one.statement, struct, columns - taken | extra)
    assert compared
    tidy("The columns of a row are the fields of the struct that is made of it.", found)


def _made_by(row: Callable[..., Any]) -> tuple[Any, set[str], set[str]]:
    """The struct that a row becomes, the fields that are made of columns, and those columns."""
    if isinstance(row, type):
        return row, set(), set()
    names = inspect.signature(row).parameters
    taken = {name for name, one in names.items() if one.kind is not one.VAR_KEYWORD}
    return get_type_hints(row)["return"], taken, taken


def _unlike(statement: Statement, struct: Any, columns: set[str]) -> Iterator[str]:
    fields = msgspec.structs.fields(struct)
    if missing := {field.name for field in fields if field.required} - columns:
        yield f"{statement.place}: {struct.__name__} lacks {sorted(missing)}"
    if surplus := columns - {field.name for field in fields}:
        yield f"{statement.place}: {struct.__name__} has no {sorted(surplus)}"


def _of(source: Source, function: Function) -> list[Statement]:
    place = (source.path, function.name)
    return [one for one in statements()[0] if (one.path, one.function) == place]


def _structs(source: Source, function: Function) -> Iterator[tuple[Any, set[str]]]:
    """Structs made of a row here, or in a private function that is called here."""
    module = module_of(source)
    called = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    near = [one for one in functions(source.tree) if one.name in called and one.name[0] == "_"]
    for place in (function, *near):
        for node in ast.walk(place):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords):
                    extra = _made_of_row(keywords)
                    if extra is not None:
                        yield getattr(module, name), extra


def _made_of_row(keywords: list[ast.keyword]) -> set[str] | None:
    """The fields that are given beside a row's, or None when no row is unpacked."""
    extra = {keyword.arg for keyword in keywords if keyword.arg}
    for keyword in keywords:
        match keyword:
            case ast.keyword(arg=None, value=ast.Name(id="row")):
                return extra
            case ast.keyword(arg=None, value=ast.Dict(keys=[None, *keys])):
                return extra | {str(key.value) for key in keys if isinstance(key, ast.Constant)}
    return None


async def test_every_statement_stays_in_its_book(database: asyncpg.Connection) -> None:
    """A statement on a table that has books names the book that it means."""
    rows = await database.fetch(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'book_id'"
    )
    tables = {row["table_name"] for row in rows}
    used = {statement.name for statement in statements()[0]}
    assert BOOKLESS.keys() <= used, "BOOKLESS names a statement that is gone"
    tidy(
        "A statement on a table with book_id names book_id; one for all books is listed in "
        "BOOKLESS with the reason.",
        (
            f"{statement.place}: {', '.join(sorted(touched))}"
            for statement in statements()[0]
            if (touched := set(_TABLE.findall(statement.sql)) & tables)
            and "book_id" not in statement.sql
            and statement.name not in BOOKLESS
        ),
    )


async def test_every_statement_finds_its_rows_by_index(database: asyncpg.Connection) -> None:
    """No statement reads a whole table, or a whole index, however large it has become."""
    await _plan_with_indexes(database)
    found: list[str] = []
    used = {statement.name for statement in statements()[0]}
    assert SCANS.keys() <= used, "SCANS names a statement that is gone"
    for statement in statements()[0]:
        prepares = isinstance(await _prepared(database, statement), PreparedStatement)
        if prepares and statement.name not in SCANS:
            plan = await _plan(database, statement)
            found += [f"{statement.place}: {scan}" for scan in _scans(plan)]
    tidy(
        "A statement finds its rows by an index condition: add an index, or list it in SCANS with "
        "the reason.",
        found,
    )


async def test_every_part_of_a_statement_stays_in_its_book(database: asyncpg.Connection) -> None:
    """Each table of a statement, those of its subselects too, is read in one book alone."""
    await _plan_with_indexes(database)
    rows = await database.fetch(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'book_id'"
    )
    tables = {row["table_name"] for row in rows}
    found: list[str] = []
    used: set[tuple[str, str]] = set()
    for statement in statements()[0]:
        prepares = isinstance(await _prepared(database, statement), PreparedStatement)
        for table in _of_every_book(await _plan(database, statement) if prepares else {}, tables):
            used.add((statement.name, table))
            if (
                statement.name not in BOOKLESS
                and table not in EVERY_BOOK.get(statement.name, ("", ""))[0].split()
            ):
                found.append(f"{statement.place}: {table}")
    gone = [name for name in EVERY_BOOK if name not in {one for one, _ in used}]
    assert gone == [], "EVERY_BOOK names what reads one book alone"
    tidy(
        "Each table that has book_id is read by a condition on it, in every subselect; what is "
        "read of every book is listed in EVERY_BOOK with the reason.",
        found,
    )


def _of_every_book(node: dict[str, Any], tables: set[str], joined: str = "") -> Iterator[str]:
    """Tables of a plan that no condition holds to a book, neither their own nor their join's."""
    own = ("Index Cond", "Recheck Cond", "Filter", "Join Filter")
    conditions = joined + " ".join(str(node.get(name, "")) for name in own)
    table = _PARTITION.sub("", node.get("Relation Name", ""))
    if table in tables and "Scan" in node["Node Type"] and "book_id" not in conditions:
        yield table
    for child in node.get("Plans", ()):
        is_joined = child.get("Parent Relationship") in ("Outer", "Inner")
        yield from _of_every_book(child, tables, node.get("Join Filter", "") if is_joined else "")


async def _plan_with_indexes(database: asyncpg.Connection) -> None:
    """With nothing but nested loops there has to be an index; sizes then don't matter."""
    for way in ("seqscan", "hashjoin", "mergejoin"):
        await database.execute("SELECT set_config($1, 'off', true)", f"enable_{way}")
    await database.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    await _forget_statistics(database)


async def _forget_statistics(database: asyncpg.Connection) -> None:
    """A table that was never vacuumed counts as ten pages; one vacuumed while empty counts as none.

    Without this, the plans would depend on whether a vacuum came by before this test.
    """
    await database.execute("UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid >= 16384")
    await database.execute("DELETE FROM pg_statistic WHERE starelid >= 16384")


async def _plan(database: asyncpg.Connection, statement: Statement) -> dict[str, Any]:
    values = ", ".join("NULL" for _ in statement.args)
    execute = f"EXECUTE tidy ({values})" if values else "EXECUTE tidy"
    await database.execute(f"PREPARE tidy AS {statement.sql}")
    try:
        return json.loads(await database.fetchval(f"EXPLAIN (FORMAT JSON) {execute}"))[0]["Plan"]
    finally:
        await database.execute("DEALLOCATE tidy")


def _scans(node: dict[str, Any], parent: str = "") -> Iterator[str]:
    kind, table = node["Node Type"], node.get("Relation Name", "")
    if kind == "Seq Scan" and table not in SMALL:
        yield f"reads the whole table {table}"
    # The first entries of an index, in its order, are found without a condition.
    begins = parent == "Limit" and "Filter" not in node
    if kind in _INDEX_SCANS and "Index Cond" not in node and not begins:
        yield f"reads the whole index {node['Index Name']}"
    for child in node.get("Plans", ()):
        yield from _scans(child, kind)


async def test_a_rival_is_met_in_whichever_index_it_shows(database: asyncpg.Connection) -> None:
    """Of a table with a unique index within another, `ON CONFLICT` names neither.

    The rival's row could show up in the index that isn't named, which is an error. Indexes of an
    id don't count: it is drawn anew, and nobody else comes with it.
    """
    doubled = {row["name"] for row in await database.fetch(_DOUBLED)}
    assert doubled, "without such a table this test has nothing to say"
    found = [
        f"{statement.name}: {table}"
        for statement in statements()[0]
        for table in _NAMED_CONFLICT.findall(statement.sql)
        if table in doubled
    ]
    assert found == []


_NAMED_CONFLICT = re.compile(
    r"INSERT INTO ([a-z_]+)\b(?:(?!INSERT INTO).)*?ON CONFLICT \(", re.DOTALL
)
_DOUBLED = """
    SELECT DISTINCT part.indrelid::regclass::text AS name FROM pg_index part
    JOIN pg_index whole ON whole.indrelid = part.indrelid AND whole.indexrelid <> part.indexrelid
    WHERE part.indisunique AND whole.indisunique AND part.indpred IS NULL AND whole.indpred IS NULL
        AND part.indexprs IS NULL AND whole.indexprs IS NULL
        AND part.indkey::smallint[] <@ whole.indkey::smallint[]
        AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = part.indrelid
            AND a.attname = 'id' AND a.attnum = ANY (part.indkey::smallint[]))
"""


def test_no_statement_is_built_from_values() -> None:
    """Only `Where` joins SQL with what is not written beside it."""
    tidy(
        "SQL in a store is literal text: no f-string, no format, no % around it.",
        (
            f"{place.source.at(node)} {ast.unparse(part)[:60]}"
            for place in asking()
            for node in ast.walk(place.function)
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("db.")
            for part in ast.walk(node.args[0])
            if isinstance(part, ast.JoinedStr | ast.Mod)
            or (isinstance(part, ast.Attribute) and part.attr == "format")
        ),
    )
