"""The output of commands: results on standard output, all else on standard error."""

import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer
from rich.console import Console, RenderableType
from rich.table import Table

from tillhouse.kit.json import encode

if TYPE_CHECKING:
    from typing_extensions import Buffer

# A pipe has no width: its reader wants whole lines.
_PIPE_WIDTH = 4_000

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Data = Annotated[
    Path | None, typer.Option(help="Folder of the embedded database.", show_default=False)
]


class CommandError(Exception):
    """Why a command can't go on; the sentence names the remedy."""


class NoBusiness(CommandError):
    """No business has the id that was given."""

    def __init__(self, business_id: UUID) -> None:
        super().__init__(f"There is no business {business_id}: see `tillhouse business list`.")


def stderr_console() -> Console:
    """Where people are told how things go: standard error."""
    width = None if sys.stderr.isatty() else _PIPE_WIDTH
    return Console(stderr=True, highlight=False, width=width)


def tolerate_full_disks() -> None:
    """Let nothing fail that this process prints: where it goes may be full, or gone."""
    sys.stdout = io.TextIOWrapper(_Unfailing(1, "w", closefd=False), "utf-8", line_buffering=True)
    sys.stderr = io.TextIOWrapper(_Unfailing(2, "w", closefd=False), "utf-8", line_buffering=True)


class _Unfailing(io.FileIO):
    """A file that takes everything; unwritable text is lost."""

    def write(self, data: "Buffer") -> int:
        """Write the text, or lose it."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def print_result(result: object, *, as_json: bool, shown: RenderableType) -> None:
    """Print a command's result: one JSON object, or lines for people."""
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
