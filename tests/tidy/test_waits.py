"""Waits: a limit that a test sets fails the test when it is over."""

import ast
from collections.abc import Iterator

from tests.tidy.tree import Source, python, tidy

_HOME = "tests/waiting.py"
_CANCELLING = {"wait_for", "timeout", "timeout_at"}


def test_no_wait_is_ended_by_cancelling_alone() -> None:
    """Work that takes its cancellation for a proper end would pass as if it had ended by itself."""
    tidy(
        "No asyncio.wait_for and no asyncio.timeout in tests: `ended` and `within` of "
        f"{_HOME} fail when the time is over, whatever the work makes of being cancelled.",
        (
            f"{source.at(node)} {ast.unparse(node)}"
            for source in python("tests")
            if source.path != _HOME
            for node in _cancelling(source)
        ),
    )


def _cancelling(source: Source) -> Iterator[ast.AST]:
    for node in ast.walk(source.tree):
        match node:
            case ast.Attribute(value=ast.Name(id="asyncio"), attr=name) if name in _CANCELLING:
                yield node
            case ast.ImportFrom(module="asyncio", names=names):
                if _CANCELLING & {alias.name for alias in names}:
                    yield node
            case _:
                pass
