"""The hot statements as files that anybody can paste into psql."""

import re
from collections.abc import Iterable
from itertools import zip_longest
from textwrap import dedent

import asyncpg

from statements.collect import Statement, asking, run
from statements.hot import HOT, Hot
from statements.samples import Given

FOLDER = "docs/sql"
_WIDTH = 100
# A word between spaces; a text in quotes is one with the characters it touches.
_WORD = re.compile(r"(?:'[^']*'|[^\s'])+")

# The column that a condition with this placeholder is about.
_CONDITION = r"([a-z_]+) (?:=|>=|<=|&&?|\^@) (?:[A-Za-z_]+\()?\${}\b"
_README = (
    "# The hot statements\n\n"
    "Written by `make docs`: each as PostgreSQL gets it, with all its parts put together. Paste a "
    "file into psql on a migrated database, and the statement is prepared under the file's name: "
    "`EXPLAIN (ANALYZE) EXECUTE key_check ('{{}}', '{{}}', 20, 40);` shows its plan.\n\n"
    "| File | Statement |\n|---|---|\n{rows}\n"
)


class NameParameters(Exception):
    """A statement takes other parameters than `statements/hot.py` says."""


async def pages(connection: asyncpg.Connection) -> dict[str, str]:
    """Every file of the folder, by its name; the types come from a migrated database."""
    made = {f"{hot.file}.sql": await _page(connection, hot) for hot in HOT}
    rows = "\n".join(f"| [{hot.file}]({hot.file}.sql) | {hot.about} |" for hot in HOT)
    return {**made, "README.md": _README.format(rows=rows)}


async def _page(connection: asyncpg.Connection, hot: Hot) -> str:
    statement = _statement(hot)
    prepared = await connection.prepare(statement.sql)
    types = [f"{kind.name.removesuffix('[]')}{'[]' if kind.kind == 'array' else ''}"
             for kind in prepared.get_parameters()]  # fmt: skip
    names = _names(hot, statement.sql, len(types))
    header = [hot.about, f"{statement.path}: {statement.function}"]
    header += [
        f"  ${number} {name} {kind}"
        for number, (name, kind) in enumerate(zip(names, types, strict=True), 1)
    ]
    comment = "\n".join(f"-- {line}" for line in header)
    prepare = _wrapped(f"PREPARE {hot.file} ({', '.join(types)}) AS")
    return f"{comment}\n{prepare}\n{_body(statement.sql)};\n"


def _statement(hot: Hot) -> Statement:
    module, _, name = hot.function.rpartition(".")
    path = f"src/tillhouse/{module.replace('.', '/')}.py"
    for place in asking():
        if (place.source.path, place.function.name) == (path, name):
            return run(place, Given(hot.is_full), hot.change)[0]
    raise NameParameters(f"{hot.function} is gone: say in statements/hot.py what it is called now.")


def _names(hot: Hot, sql: str, count: int) -> Iterable[str]:
    """The parameters that are always there, then those of the conditions."""
    names = hot.parameters.split()
    for number in range(len(names) + 1, count + 1):
        found = re.search(_CONDITION.format(number), sql)
        names.append(found[1] if found else "")
    if len(names) != count or "" in names:
        listed = zip_longest(range(1, count + 1), names, fillvalue="?")
        raise NameParameters(
            f"{hot.function} takes {count} parameters: name them in statements/hot.py "
            f"({', '.join(f'${number} {name}' for number, name in listed)})."
        )
    return names


def _body(sql: str) -> str:
    """The text without empty lines and without what all lines are indented by."""
    lines = [line.rstrip() for line in sql.strip("\n").splitlines() if line.strip()]
    rest = dedent("\n".join(lines[1:])).splitlines()
    return "\n".join(map(_wrapped, [lines[0].strip(), *rest]))


def _wrapped(line: str) -> str:
    """A line as one that is short enough, or as several."""
    if len(line) <= _WIDTH:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    made = [indent]
    for word in _WORD.findall(line):
        if len(made[-1]) + len(word) > _WIDTH:
            made.append(f"{indent}    ")
        made[-1] += f"{word} "
    return "\n".join(part.rstrip() for part in made)
