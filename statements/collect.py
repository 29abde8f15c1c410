"""Every SQL statement of the stores, with what is sent along, found by running each function once.

The functions get a notebook in place of the database: it writes down what they would have asked.
So a statement is seen exactly as PostgreSQL would see it, whichever way its text came together.
"""

import ast
import contextlib
import inspect
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

import msgspec
from tests.tidy.tree import Function, Source, functions, python

from statements.samples import Given, hints_of, module_of, sample
from tillhouse.db.book_table import BookTable
from tillhouse.db.folding import Folding
from tillhouse.db.pool import Db
from tillhouse.db.storage_table import StorageLimits, StorageTable, StorageUse, StoredInBook
from tillhouse.db.stored_ids import StoredIds
from tillhouse.db.sweep import Sweep
from tillhouse.db.word_search import WordSearch
from tillhouse.jobs.store import StuckRows
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.page import Page
from tillhouse.orders.returning.sent import SentRefund
from tillhouse.orders.returning.store import ProvidedRefunds
from tillhouse.payins.hooks import HeardReturn

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
                elif line is not None:
                    for called, row, ask in _asks_of(name, table):
                        for _, sql, sent in _asked(ask):
                            yield TableStatement(
                                Statement(source.path, called, line, sql, sent), row
                            )


Ask = Callable[[Any], Coroutine[Any, Any, Any]]


def _asks_of(name: str, table: object) -> Iterator[tuple[str, Callable[..., Any] | None, Ask]]:
    """The statements of a declaration, each with its name and the type that its rows become."""
    id_, at = UUID(int=1), datetime(2026, 1, 31, tzinfo=UTC)
    match table:
        case Folding():
            yield f"update_{table.changes}", None, lambda db: db.execute(table.statement, 1)
        case Sweep():
            yield name, None, lambda db: table(db, at, 1)
        case StorageTable():
            limits = StorageLimits(1, 1)
            yield f"show_{table.name}", StorageUse, lambda db: table.measure(db, limits)
            yield f"list_{table.name}", StoredInBook, lambda db: table.list_books(db, [id_])
        case StoredIds():
            yield name, None, lambda db: table(db, id_, [id_])
        case StuckRows():
            yield f"list_stuck_{table.table}", None, lambda db: table.list(db, id_, 1)
            yield f"count_stuck_{table.table}", None, table.count
        case ProvidedRefunds():
            sent, heard = (sample(one, Given(everything=True)) for one in (SentRefund, HeardReturn))
            yield f"list_known_{table.table}", None, lambda db: table.list_known(db, sent, "failed")
            yield (
                f"list_heard_{table.table}",
                None,
                lambda db: table.list_heard(db, BookId(id_), heard, id_),
            )
            yield (
                f"update_asked_{table.table}",
                None,
                lambda db: table.update_asked(db, sent, at, b""),
            )
            yield f"update_known_{table.table}", None, lambda db: table.update_known(db, sent, "a")
            yield f"list_transfers_{table.table}", None, lambda db: table.list_transfers(db, sent)
        case WordSearch():
            for everything in (True, False):
                query = sample(table.query, Given(everything))
                for way in (table.find_in_sample, table.find_among_newest, table.find_by_words):
                    asks = partial(way, book_id=BookId(id_), query=query)
                    yield f"{way.__name__}_of_{name.lower()}", None, asks
        case _:
            pass


def _asked(ask: Ask) -> list[tuple[int, str, tuple[Any, ...]]]:
    notebook = Notebook()
    with contextlib.suppress(AssertionError, TypeError, ValueError):
        # Its use of the missing answer doesn't matter here.
        _finish(ask(notebook))
    return notebook.asked


def _declared_at(source: Source, name: str) -> int | None:
    for node in source.tree.body:
        if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets):
            return node.lineno
    return None


def _asked_of(source: Source, line: int, table: BookTable[Any]) -> Iterator[TableStatement]:
    book, key = BookId(UUID(int=1)), BookKey(BookId(UUID(int=1)), UUID(int=1))
    made_with, values = ["a"] * len(table.made_with), ["a"] * len(table.fields)
    now = datetime(2026, 1, 31, tzinfo=UTC)
    asks: list[tuple[str, bool, Ask]] = [
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
        for _, sql, sent in _asked(ask):
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
