"""The output of commands: results on standard output, all else on standard error."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, RenderableType
from rich.table import Table

from tillhouse.kit.json import encode

# A pipe has no width: what reads it wants whole lines.
_PIPE_WIDTH = 400

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Data = Annotated[
    Path | None, typer.Option(help="Folder of the embedded database.", show_default=False)
]


class CommandError(Exception):
    """Why a command can't do what it was asked; the sentence says what to do about it."""


def stderr_console() -> Console:
    """Where people are told how things go: standard error."""
    return Console(stderr=True, highlight=False)


def print_result(result: object, *, as_json: bool, shown: RenderableType) -> None:
    """Print a command's result: one JSON object, or what reads well."""
    if as_json:
        sys.stdout.write(encode(result).decode() + "\n")
    else:
        width = None if sys.stdout.isatty() else _PIPE_WIDTH
        Console(highlight=False, width=width).print(
            shown, markup=False, soft_wrap=isinstance(shown, str)
        )
    sys.stdout.flush()


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table without lines around its cells."""
    made = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        made.add_row(*("" if cell is None else str(cell) for cell in row))
    return made
