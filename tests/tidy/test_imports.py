"""Imports and places: each thing is done in the one room that it belongs to."""

import ast
import re
import sys
from collections.abc import Iterator

from statements.collect import is_store

from tests.tidy.tree import imported, python, texts, tidy, walk

_SQL = re.compile(
    r"\bSELECT\b.+\bFROM\b|\bINSERT\s+INTO\b|\bUPDATE\s+\w+\s+SET\b|\bDELETE\s+FROM\b"
    r"|\b(?:CREATE|ALTER|DROP)\s+(?:TABLE|INDEX|DATABASE)\b",
    re.DOTALL,
)
_TRANSACTION = re.compile(r"\s*(?:BEGIN|COMMIT|START TRANSACTION)\b")


def test_no_module_imports_itself_in_a_circle() -> None:
    """Modules can be read one after another, each knowing only those before it."""
    modules = {source.module for source in python("src/tillhouse")}
    graph = {source.module: imported(source) & modules for source in python("src/tillhouse")}
    count = sum(map(len, graph.values()))
    sys.stdout.write(f"\n    {len(graph)} modules, {count} imports between them\n")
    tidy(
        "No import cycle: move what both need into a module of its own, further down.",
        (" → ".join(cycle) for cycle in _cycles(graph)),
    )


def _cycles(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    done: set[str] = set()

    def walk(name: str, trail: list[str]) -> Iterator[list[str]]:
        if name in trail:
            yield [*trail[trail.index(name) :], name]
        elif name not in done:
            for target in sorted(graph[name] - {name}):
                yield from walk(target, [*trail, name])
            done.add(name)

    for name in sorted(graph):
        yield from walk(name, [])


def test_sql_stands_in_stores_only() -> None:
    """A statement is written once, in a named function of a store."""
    tidy(
        "SQL stands in store.py, a folder store/ or db/: give the statement a function there.",
        (
            f"{source.at(text)} {' '.join(str(text.value).split())[:60]}"
            for source in python("src/tillhouse")
            if not is_store(source) and not source.path.startswith("src/tillhouse/db/")
            for text in texts(source.tree)
            if _SQL.search(str(text.value))
        ),
    )


def test_commits_happen_at_the_edge_only() -> None:
    """One request, one transaction: whoever could commit in the middle would break that."""
    allowed = ("src/tillhouse/db/", "src/tillhouse/http/endpoint.py")
    tidy(
        "Only db/ and http/endpoint.py commit: a worker or command uses `pool.transaction()`.",
        (
            f"{source.at(node)} {ast.unparse(node)[:60]}"
            for source in python("src/tillhouse")
            if not source.path.startswith(allowed)
            for node in walk(source.tree)
            if _commits(node)
        ),
    )


def _commits(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="commit")):
            return True
        case ast.Call(args=[ast.Constant(value=str(text)), *_]):
            return bool(_TRANSACTION.match(text))
        case _:
            return False
