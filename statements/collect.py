"""Every SQL statement of the stores, with what is sent along, found by running each function once.

The functions get a notebook in place of the database: it writes down what they would have asked.
So a statement is seen exactly as PostgreSQL would see it, whichever way its text came together.
"""

import ast
import contextlib
import inspect
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec
from tests.tidy.tree import Function, Source, functions, python

from statements.samples import Given, hints_of, module_of, sample
from tillhouse.db.book_table import BookTable
from tillhouse.db.folding import Folding
from tillhouse.db.pool import Db
from tillhouse.db.storage_table import StorageLimits, StorageTable, StorageUse, StoredInBook
from tillhouse.db.sweep import Sweep
from tillhouse.db.word_search import WordSearch
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.page import Page

_ASKS = ("fetch", "fetchrow", "fetchval", "execute", "execute_one", "read_before", "write_once")


class Statement(msgspec.Struct, frozen=True):
    """A statement as sent: where it stands, its text, its arguments."""

    path: str
    function: str
    line: int
    sql: str
    args: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The name in lists of exceptions: `accounts.store.list_businesses`."""
        module = self.path.removeprefix("src/tillhouse/").removesuffix(".py").replace("/", ".")
        return f"{module}.{self.function}"

    @property
    def place(self) -> str:
        """Where it is, as editors open it."""
        return f"{self.path}:{self.line} {self.function}"


class Notebook:
    """Writes down what it is asked, and answers that there is nothing."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, str, tuple[Any, ...]]] = []

    async def fetch(self, sql: str, *args: Any) -> list[Any]:
        """No rows."""
        self._note(sql, args)
        return []

    async def fetchrow(self, sql: str, *args: Any) -> None:
        """No row."""
        self._note(sql, args)

    async def fetchval(self, sql: str, *args: Any) -> None:
        """No value."""
        self._note(sql, args)

    async def read_before(self, sql: str, *args: Any) -> None:
        """No row."""
        self._note(sql, args)

    async def write_once(self, sql: str, *args: Any) -> None:
        """No row."""
        self._note(sql, args)

    async def execute(self, sql: str, *args: Any) -> str:
        """Nothing done."""
        self._note(sql, args)
        return "SELECT 0"

    async def execute_one(self, sql: str, *args: Any) -> bool:
        """Nothing done."""
        self._note(sql, args)
        return False

    def _note(self, sql: str, args: tuple[Any, ...]) -> None:
        # Two frames up is the function that asks.
        frame = inspect.currentframe()
        for _ in range(2):
            frame = frame and frame.f_back
        assert frame is not None  # noqa: S101 - somebody asks
        self.asked.append((frame.f_lineno, sql, args))


def is_store(source: Source) -> bool:
    """Whether a file is a store: `store.py`, or one in a folder `store`."""
    return source.name == "store" or "/store/" in source.path


class Asking(msgspec.Struct, frozen=True):
    """A function of a store that asks the database."""

    source: Source
    function: Function
    # The calls, by the lines that they span.
    calls: tuple[tuple[int, int], ...]

    @property
    def place(self) -> str:
        """Where it is, as editors open it."""
        return f"{self.source.at(self.function)} {self.function.name}"


def asking() -> Iterator[Asking]:
    """Every function of a store that asks the database."""
    for source in python("src/tillhouse"):
        if is_store(source):
            for function in functions(source.tree):
                calls = tuple(_calls(function))
                if calls:
                    yield Asking(source, function, calls)


def _calls(function: Function) -> Iterator[tuple[int, int]]:
    first = function.args.args[0].arg if function.args.args else ""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)):
                if name == first and attr in _ASKS:
                    yield node.lineno, node.end_lineno or node.lineno
            case _:
                pass


class TableStatement(msgspec.Struct, frozen=True):
    """A statement of a declared table, and the type that its rows become."""

    statement: Statement
    row: Callable[..., Any] | None


def table_statements() -> Iterator[TableStatement]:
    """The statements of all tables and tallies that stores declare, named by what they do."""
    for source in python("src/tillhouse"):
        if is_store(source):
            for name, table in vars(module_of(source)).items():
                line = _declared_at(source, name)
                if isinstance(table, BookTable) and line is not None:
                    yield from _asked_of(source, line, table)
                elif isinstance(table, Folding) and line is not None:
                    folds = f"update_{table.changes}"
                    one = Statement(source.path, folds, line, table.statement, (1,))
                    yield TableStatement(one, None)
                elif isinstance(table, Sweep) and line is not None:
                    sent = (datetime(2026, 1, 31, tzinfo=UTC), 1)
                    one = Statement(source.path, name, line, table.statement, sent)
                    yield TableStatement(one, None)
                elif isinstance(table, WordSearch) and line is not None:
                    yield from _searched_by(source, line, name, table)
                elif isinstance(table, StorageTable) and line is not None:
                    yield from _counted_by(source, line, table)


def _counted_by(source: Source, line: int, table: StorageTable) -> Iterator[TableStatement]:
    asks = (
        ("show", StorageUse, lambda db: table.measure(db, StorageLimits(1, 1))),
        ("list", StoredInBook, lambda db: table.list_books(db, [UUID(int=1)])),
    )
    for verb, row, ask in asks:
        notebook = Notebook()
        with contextlib.suppress(AssertionError):
            _finish(ask(notebook))
        for _, sql, sent in notebook.asked:
            one = Statement(source.path, f"{verb}_{table.name}", line, sql, sent)
            yield TableStatement(one, row)


def _searched_by(
    source: Source, line: int, name: str, search: WordSearch[Any]
) -> Iterator[TableStatement]:
    book = BookId(UUID(int=1))
    for everything in (True, False):
        query = sample(search.query, Given(everything))
        for way in (search.find_in_sample, search.find_among_newest, search.find_by_words):
            notebook: Any = Notebook()
            with contextlib.suppress(ValueError):
                # No row tells how many there are.
                _finish(way(notebook, book, query))
            for _, sql, sent in notebook.asked:
                one = Statement(source.path, f"{name}.{way.__name__}", line, sql, sent)
                yield TableStatement(one, None)


def _declared_at(source: Source, name: str) -> int | None:
    for node in source.tree.body:
        if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets):
            return node.lineno
    return None


def _asked_of(source: Source, line: int, table: BookTable[Any]) -> Iterator[TableStatement]:
    book, key = BookId(UUID(int=1)), BookKey(BookId(UUID(int=1)), UUID(int=1))
    made_with, values = ["a"] * len(table.made_with), ["a"] * len(table.fields)
    now = datetime(2026, 1, 31, tzinfo=UTC)
    asks: list[tuple[str, bool, Callable[[Any], Coroutine[Any, Any, Any]]]] = [
        ("list", True, lambda db: table.page(db, book, Page())),
        ("list", True, lambda db: table.page(db, book, Page(), **dict.fromkeys(table.filters, 1))),
        ("count", False, lambda db: table.count(db, book)),
        ("show", True, lambda db: table.show(db, *key)),
        ("lock", True, lambda db: table.lock(db, *key)),
        ("has", False, lambda db: table.has(db, *key)),
        ("insert", False, lambda db: table.insert(db, key, values, now, *made_with)),
        ("update", False, lambda db: table.update(db, key, values, now)),
        ("delete", False, lambda db: table.delete(db, key, now)),
    ]
    for verb, gives_rows, ask in asks:
        notebook = Notebook()
        with contextlib.suppress(TypeError):
            # A count that is missing can't be told of.
            _finish(ask(notebook))
        for _, sql, sent in notebook.asked:
            statement = Statement(source.path, f"{verb}_{table.name}", line, sql, sent)
            is_count = sql.startswith("SELECT count(*)")
            yield TableStatement(statement, table.row if gives_rows and not is_count else None)


@lru_cache(maxsize=1)
def statements() -> tuple[list[Statement], list[str]]:
    """Every statement, and what could not be run."""
    found: list[Statement] = [one.statement for one in table_statements()]
    problems: list[str] = []
    for place in asking():
        ran: list[Statement] = []
        for everything in (True, False):
            try:
                ran += run(place, Given(everything))
            except TypeError as error:
                problems.append(f"{place.place}: {error}")
        for first, last in place.calls:
            if not any(first <= statement.line <= last for statement in ran):
                problems.append(f"{place.source.path}:{first} {place.function.name}: never asked")
        found += [one for number, one in enumerate(ran) if one.sql not in _texts(ran[:number])]
    return found, problems


def _texts(ran: list[Statement]) -> set[str]:
    return {statement.sql for statement in ran}


def run(
    place: Asking, given: Given, change: Callable[[str, Any], Any] | None = None
) -> list[Statement]:
    """The statements of a function; `change` may replace the value of a parameter, by its name."""
    function = getattr(module_of(place.source), place.function.name)
    hints = hints_of(place.source, function)
    notebook = Notebook()
    args: list[Any] = []
    named: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        value = notebook if hints[name] is Db else sample(hints[name], given)
        value = change(name, value) if change else value
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            args.append(value)
    try:
        _finish(function(*args, **named))
    except Exception:
        # Its use of the missing answer doesn't matter here.
        if not notebook.asked:
            raise
    path, called = place.source.path, place.function.name
    return [Statement(path, called, line, sql, sent) for line, sql, sent in notebook.asked]


def _finish(answer: Coroutine[Any, Any, Any]) -> None:
    """Run it without a loop: the notebook answers at once, so there is nothing to wait for."""
    with contextlib.suppress(StopIteration):
        answer.send(None)
