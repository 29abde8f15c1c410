"""Sizes: what fits on a screen is understood at once."""

import re
from collections.abc import Iterator

from tests.tidy.tree import Source, functions, python, sources, tidy

FUNCTION_LINES_MAX = 50
FILE_LINES_MAX = 400
LINE_LENGTH_MAX = 100

# A pragma at the end of a line doesn't count, as for ruff.
_PRAGMA = re.compile(r"\s+# (?:noqa|fmt|pyright|type):.*$")
_CODE = (".py", ".sql", ".js", ".css", ".html", ".sh", ".toml", "Makefile")


def _code() -> Iterator[Source]:
    for source in sources():
        if source.path.endswith(_CODE):
            yield source


def test_functions_are_short() -> None:
    """A function fits on a screen."""
    tidy(
        f"A function has at most {FUNCTION_LINES_MAX} lines: give one of its steps a name.",
        (
            f"{source.at(function)} {function.name}: {lines} lines"
            for source in python("src/tillhouse", "tests", "bench", "story", "statements", "judges")
            for function in functions(source.tree)
            if (lines := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES_MAX
        ),
    )


def test_files_are_short() -> None:
    """A file is read in one go; migrations are history and stay as they are."""
    tidy(
        f"A file has at most {FILE_LINES_MAX} lines: split it by subject, under names that say so.",
        (
            f"{source.path}: {lines} lines"
            for source in _code()
            if "/migrations/" not in source.path
            and (lines := source.text.count("\n")) > FILE_LINES_MAX
        ),
    )


def test_lines_are_short() -> None:
    """Two files fit side by side."""
    tidy(
        f"A line has at most {LINE_LENGTH_MAX} characters: break it where the thought does.",
        (
            f"{source.path}:{number}: {len(line)} characters"
            for source in _code()
            for number, line in enumerate(source.text.splitlines(), 1)
            if len(_PRAGMA.sub("", line)) > LINE_LENGTH_MAX
        ),
    )
