"""A CSV file as rows of one type: every wrong cell is named, by its line and its column."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn

from tillhouse.cli.output import CommandError, print_result, table
from tillhouse.http.fields import choices, fields_of, inner_type, sentence, unknown
from tillhouse.http.wire import convert
from tillhouse.kit.text import unfit

T = TypeVar("T")

# Fewer rows are over before anybody has read the bar.
STEPS_MIN = 500

_NUMBER = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_BOOLEANS = {
    **dict.fromkeys(("yes", "y", "true", "1"), True),
    **dict.fromkeys(("no", "n", "false", "0"), False),
}

Steps = Callable[[int], None]


class RowError(msgspec.Struct, frozen=True):
    """The faults of one cell; without a column, with the line."""

    line: int
    column: str | None
    reason: str


class FileRows(msgspec.Struct, Generic[T]):
    """The content of a file: rows with the lines that they begin on, and the faults."""

    rows: list[T] = []
    lines: list[int] = []
    errors: list[RowError] = []
    # Columns that the file has, of those that it may have.
    columns: list[str] = []


def read_rows(path: Path, type_: type[T]) -> FileRows[T]:
    """Read a file whose header names fields of the struct; an empty cell is an absent one."""
    sheet: FileRows[T] = FileRows()
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path} can't be read ({error.strerror}).") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        reason = "is no UTF-8: save the file as CSV in UTF-8"
        sheet.errors.append(RowError(line, None, reason))
        return sheet
    delimiter = delimiter_of(text.partition("\n")[0])
    _read(sheet, csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True), type_)
    return sheet


def refuse(
    path: Path,
    columns: Sequence[str],
    errors: Sequence[RowError],
    *,
    as_json: bool,
    counts: Mapping[str, object] | None = None,
    outcome: str = "nothing was imported. Mend the file, try again.",
) -> CommandError:
    """List the faults, in the order of lines and columns; the refusal to end with."""
    indices = {name: index for index, name in enumerate(columns)}
    ordered = sorted(errors, key=lambda e: (e.line, indices.get(e.column or "", len(indices))))
    if as_json:
        print_result({**(counts or {}), "errors": ordered}, as_json=True, shown="")
    else:
        rows = [(error.line, error.column, error.reason) for error in ordered]
        width = None if Console(stderr=True).is_terminal else 200
        Console(stderr=True, highlight=False, width=width).print(
            table(("Line", "Column", "What is wrong"), rows), markup=False
        )
    count = f"{len(ordered)} cells are" if len(ordered) > 1 else "One cell is"
    return CommandError(f"{count} wrong in {path}: {outcome}")


class Bar:
    """A bar on standard error while things are done; none where no terminal is.

    One that isn't kept is for many things alone, and is taken away at the end.
    """

    def __init__(
        self,
        what: str,
        total: int,
        columns: Sequence[ProgressColumn] = (MofNCompleteColumn(),),
        *,
        is_kept: bool = False,
    ) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            *columns,
            console=console,
            transient=not is_kept,
            disable=not console.is_terminal or (total < STEPS_MIN and not is_kept),
        )
        self._task = self._bar.add_task(what, total=total)

    def __enter__(self) -> Steps:
        """Show it."""
        self._bar.start()
        return lambda count: self._bar.advance(self._task, count)

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._bar.stop()


def delimiter_of(header: str) -> str:
    """The delimiter of a file that begins with this line."""
    # Spreadsheets write the semicolon where numbers have a comma.
    return ";" if header.count(";") > header.count(",") else ","


def _read(sheet: FileRows[Any], reader: Any, type_: Any) -> None:
    """Every line of the file; an unreadable one ends the reading."""
    line = 1
    try:
        header = next(reader, [])
        sheet.columns, sheet.errors = columns_of(header, type_)
        if sheet.errors:
            return
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                _take(sheet, line, cells, type_)
            line = reader.line_num + 1
    except csv.Error as error:
        sheet.errors.append(RowError(line, None, f"is no CSV: {error}"))


def columns_of(header: Sequence[str], type_: Any) -> tuple[list[str], list[RowError]]:
    """The names of the columns, and their faults."""
    fields = fields_of(type_)
    names = ["_".join(cell.strip().lower().split()) for cell in header]
    errors: list[RowError] = []
    for index, name in enumerate(names):
        if name not in fields:
            reason = unknown(name, list(fields), "column").replace("this request", "this table")
            errors.append(RowError(1, name[:100] or f"column {index + 1}", reason))
        elif name in names[:index]:
            errors.append(RowError(1, name, "is there twice"))
    errors += [
        RowError(1, name, "is missing: the first line names the columns")
        for name, field in fields.items()
        if field.required and name not in names
    ]
    return names, errors


def _take(sheet: FileRows[Any], line: int, cells: Sequence[str], type_: Any) -> None:
    if len(cells) > len(sheet.columns):
        reason = f"has {len(cells)} cells, and the header {len(sheet.columns)}"
        sheet.errors.append(RowError(line, None, reason))
        return
    fields = fields_of(type_)
    values: dict[str, Any] = {}
    errors: list[RowError] = []
    for name, cell in zip(sheet.columns, cells, strict=False):
        text = cell.strip()
        if text:
            try:
                values[fields[name].name] = value_of(text, fields[name].type)
            except ValueError as error:
                errors.append(RowError(line, name, str(error)))
    named = {error.column for error in errors}
    errors += [
        RowError(line, name, "is required")
        for name, field in fields.items()
        if field.required and field.name not in values and name not in named
    ]
    sheet.errors += errors
    if not errors:
        sheet.rows.append(type_(**values))
        sheet.lines.append(line)


def value_of(text: str, type_: Any) -> Any:
    """The text of a cell as a value of the type, or ValueError with the reason."""
    if reason := unfit(text):
        raise ValueError(reason)
    try:
        return convert(_plain(text, inner_type(type_)), type_)
    except msgspec.ValidationError as error:
        raise ValueError(choices(type_) or sentence(error)) from None


def _plain(text: str, type_: Any) -> object:
    if type_ is bool:
        if text.lower() not in _BOOLEANS:
            raise ValueError("must be yes or no")
        return _BOOLEANS[text.lower()]
    if type_ is int:
        if not _WHOLE.fullmatch(text):
            raise ValueError("must be a whole number")
        return int(text)
    if isinstance(type_, type) and issubclass(type_, Decimal):
        if not _NUMBER.fullmatch(text):
            raise ValueError("must be a number such as 1500.50")
        return Decimal(text)
    return text


def errors_at(lines: Sequence[int], faults: Iterator[tuple[int, str, str]]) -> list[RowError]:
    """The faults that rules found, (index, column, reason), by the lines of the file."""
    return [RowError(lines[index], column, reason) for index, column, reason in faults]
