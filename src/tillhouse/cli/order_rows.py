"""Files of orders, read one order at a time: CSV with a row per line, or JSON lines.

However large a file is, one order of it is held, and the keys of all.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

from tillhouse.cli.output import CommandError
from tillhouse.cli.rows import RowError, columns_of, delimiter_of, value_of
from tillhouse.http.fields import fields_of
from tillhouse.http.wire import decode
from tillhouse.kit.errors import FieldError, Problem
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.values import Moment
from tillhouse.orders.money_types import GivenMethod
from tillhouse.orders.types import (
    LINES_MAX,
    Channel,
    LineQuantity,
    Notes,
    Price,
    ShortText,
)

LINE_BYTES_MAX = 1 << 20
# A row of the file of wrong orders, so that it can be mended and imported as it is.
ERRORS = "errors"

_BOM = b"\xef\xbb\xbf"
_SUFFIXES = {".csv": False, ".tsv": False, ".jsonl": True, ".ndjson": True}
_NO_UTF8 = "is no UTF-8: save the file in UTF-8"
_PLACE = re.compile(r"items\[(?P<place>[0-9]+)\]\.(?P<column>\w+)")


class Cells(msgspec.Struct, kw_only=True):
    """A row of a table of orders: a line, and the fields of its order."""

    row_key: ShortText
    quantity: LineQuantity
    product_sku: ShortText | None = None
    product_name: ShortText | None = None
    custom_price: Price | None = None
    line_type: Literal["product", "fee"] | None = None
    occurred_at: Moment | None = None
    customer_name: ShortText | None = None
    customer_phone: PhoneText | None = None
    payment_method: GivenMethod | None = None
    amount_paid: Price | None = None
    discount_amount: Price | None = None
    service_charge_amount: Price | None = None
    channel: Channel | None = None
    store_name: ShortText | None = None
    tags: str | None = None
    notes: Notes | None = None


_OF_LINES = ("product_sku", "product_name", "custom_price", "quantity", "line_type")


class OrderDraft(msgspec.Struct, kw_only=True):
    """One order as the file has it."""

    line: int
    value: dict[str, Any] = {}
    # Where each line of the order stands; none for JSON, which is one line of the file.
    lines: list[int] = []
    errors: list[RowError] = []
    # Rows that can't be read as an order at all.
    text: str | None = None

    def errors_of(self, faults: Sequence[FieldError]) -> list[RowError]:
        """Everything that is wrong, by line and column; of each cell the first reason."""
        found = [*self.errors, *map(self._error, faults)]
        first = {(error.line, error.column): error for error in reversed(found)}
        return [error for error in found if first[error.line, error.column] is error]

    def _error(self, fault: FieldError) -> RowError:
        if not self.lines:
            return RowError(self.line, fault.field or None, fault.message)
        match = _PLACE.match(fault.field)
        if match is None or int(match["place"]) >= len(self.lines):
            column = fault.field.partition("[")[0]
            return RowError(self.line, column or None, fault.message)
        return RowError(self.lines[int(match["place"])], match["column"], fault.message)


class OrderFile:
    """A file of orders; `orders` may be asked for as often as wanted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Of a table, once its header was read.
        self.columns: list[str] = []
        # Why the file can't be read, or not to its end.
        self.broken: list[RowError] = []
        try:
            if not path.is_file():
                raise CommandError(f"{path} is no file; it is read twice, so it can't be a pipe.")
            self.size = path.stat().st_size
            self.is_json = self._is_json()
        except OSError as error:
            raise _unreadable(path, error) from None

    def orders(self, done: Callable[[int], None]) -> Iterator[OrderDraft]:
        """Read it from its beginning; `done` hears how many bytes more were read."""
        self.broken = []
        try:
            with self.path.open("rb") as file:
                yield from (self._objects if self.is_json else self._rows)(file, done)
        except OSError as error:
            raise _unreadable(self.path, error) from None

    def _is_json(self) -> bool:
        suffix = self.path.suffix.lower()
        if suffix in _SUFFIXES:
            return _SUFFIXES[suffix]
        with self.path.open("rb") as file:
            return file.read(4096).removeprefix(_BOM).lstrip().startswith(b"{")

    def _lines(self, file: IO[bytes], done: Callable[[int], None]) -> Iterator[bytes]:
        """The lines of the file; of one that is too long only so much that it is seen."""
        is_first = True
        while raw := file.readline(LINE_BYTES_MAX + 1):
            size = len(raw)
            rest = raw
            while size > LINE_BYTES_MAX and rest and not rest.endswith(b"\n"):
                rest = file.readline(LINE_BYTES_MAX)
                size += len(rest)
            done(size)
            yield raw.removeprefix(_BOM) if is_first else raw
            is_first = False

    def _objects(self, file: IO[bytes], done: Callable[[int], None]) -> Iterator[OrderDraft]:
        for number, raw in enumerate(self._lines(file, done), 1):
            if raw.strip():
                yield _object(number, raw)

    def _rows(self, file: IO[bytes], done: Callable[[int], None]) -> Iterator[OrderDraft]:
        lines = self._lines(file, done)
        try:
            first = _text(next(lines, b""))
            header = next(csv.reader([first], delimiter=delimiter_of(first), strict=True), [])
        except csv.Error as error:
            self.broken = [RowError(1, None, f"is no CSV: {error}")]
            return
        self.columns, self.broken = columns_of(header, Cells)
        if not self.broken:
            reader = csv.reader(map(_text, lines), delimiter=delimiter_of(first), strict=True)
            yield from self._grouped(reader)

    def _grouped(self, reader: Any) -> Iterator[OrderDraft]:
        """Orders of rows that follow one another and have one key."""
        draft: OrderDraft | None = None
        line = 2
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    row = _Row(line, self.columns, cells)
                    if draft is not None and not row.continues(draft):
                        yield draft
                        draft = None
                    draft = draft or OrderDraft(line=line)
                    row.add_to(draft)
                # The header was read apart.
                line = reader.line_num + 2
        except csv.Error as error:
            # The order that it broke off in may lack lines: better none of it.
            self.broken = [RowError(line, None, f"is no CSV: {error}")]
            return
        if draft is not None:
            yield draft


class _Row:
    """One row of a table, cell by cell."""

    def __init__(self, line: int, columns: Sequence[str], cells: Sequence[str]) -> None:
        self._line = line
        self._values: dict[str, Any] = {}
        self._errors: list[RowError] = []
        if len(cells) > len(columns):
            reason = f"has {len(cells)} cells, and the header {len(columns)}"
            self._errors.append(RowError(line, None, reason))
        for column, cell in zip(columns, cells, strict=False):
            if text := cell.strip():
                self._values[column] = self._value(column, text)
        if not self._values.get("row_key"):
            self._errors.append(RowError(line, "row_key", "is required"))

    def _value(self, column: str, text: str) -> Any:
        try:
            text.encode()
        except UnicodeEncodeError:
            self._errors.append(RowError(self._line, column, _NO_UTF8))
            return text.encode(errors="surrogateescape").decode(errors="replace")
        try:
            return value_of(text, fields_of(Cells)[column].type)
        except ValueError as error:
            self._errors.append(RowError(self._line, column, str(error)))
            # Kept as it is, so that the operator sees the original value.
            return text

    def continues(self, draft: OrderDraft) -> bool:
        """Whether the row belongs to the order before it."""
        key = self._values.get("row_key")
        return key is not None and key == draft.value.get("row_key")

    def add_to(self, draft: OrderDraft) -> None:
        """Add the line to its order, with the row's fields of the order."""
        draft.errors += self._errors
        items: list[Any] = draft.value.setdefault("items", [])
        if len(items) > LINES_MAX:
            # One more than there may be is enough to be refused.
            return
        item = {name: self._values.pop(name) for name in _OF_LINES if name in self._values}
        items.append(item)
        draft.lines.append(self._line)
        if "tags" in self._values:
            tags = str(self._values["tags"]).split("|")
            self._values["tags"] = [tag.strip() for tag in tags if tag.strip()]
        for name, value in self._values.items():
            if draft.value.setdefault(name, value) != value:
                reason = f"differs from what the rows from line {draft.line} on say of the order"
                draft.errors.append(RowError(self._line, name, reason))


def _text(raw: bytes) -> str:
    if len(raw) > LINE_BYTES_MAX:
        raise csv.Error("a line is longer than 1 MiB")
    return raw.decode("utf-8", "surrogateescape")


def _object(number: int, raw: bytes) -> OrderDraft:
    """A line of JSON as an order."""
    if len(raw) > LINE_BYTES_MAX:
        return OrderDraft(
            line=number, errors=[RowError(number, None, "is longer than 1 MiB")], text=""
        )
    try:
        value = decode(raw)
    except Problem as problem:
        errors = [RowError(number, None, problem.message.replace("The body", "The line"))]
        if problem.details:
            errors = [RowError(number, one.field, one.message) for one in problem.details]
        return OrderDraft(line=number, errors=errors, text=raw.decode("utf-8", "replace").strip())
    if not isinstance(value, dict):
        wrong = RowError(number, None, "must be a JSON object: one order per line")
        return OrderDraft(line=number, errors=[wrong], text=raw.decode("utf-8", "replace").strip())
    # A file of wrong orders that were mended may still have the column of faults.
    value.pop(ERRORS, None)
    return OrderDraft(line=number, value=value)


def _unreadable(path: Path, error: OSError) -> CommandError:
    return CommandError(f"{path} can't be read ({error.strerror}).")
