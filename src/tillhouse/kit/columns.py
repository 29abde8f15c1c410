"""Columns of a table as a value, and the lists of them that statements are composed of."""

from collections.abc import Iterable, Sequence
from typing import Any, LiteralString, NamedTuple, TypeVar

import msgspec

Row = TypeVar("Row", bound=msgspec.Struct)


class Column(NamedTuple):
    """A column, and when rows of its table are written with it."""

    name: LiteralString
    type: LiteralString
    is_recorded: bool = True
    """Written as the row is made."""
    changes: bool = False
    """Written again as the row changes."""


def each(form: LiteralString, names: Iterable[LiteralString]) -> LiteralString:
    """The form for each name in the place of `{0}`, split by commas."""
    return ", ".join(form.format(name) for name in names)


def of_struct(columns: Iterable[Column], struct: type[msgspec.Struct]) -> tuple[Column, ...]:
    """The columns that are fields of a struct, in its order."""
    by_name: dict[str, Column] = {column.name: column for column in columns}
    return tuple(by_name[name] for name in struct.__struct_fields__ if name in by_name)


def names(columns: Iterable[Column], form: LiteralString = "{0}") -> LiteralString:
    """The names of columns, each in this form."""
    return each(form, (column.name for column in columns))


def record(columns: Iterable[Column]) -> LiteralString:
    """The columns with their types, for rows that come as JSON."""
    return ", ".join(column.name + " " + column.type for column in columns)


def shown(columns: Iterable[Column], of: LiteralString) -> LiteralString:
    """The columns of rows `of` as answers show them: moments as text."""
    moment: LiteralString = "iso(" + of + ".{0}) AS {0}"
    plain: LiteralString = of + ".{0}"
    return ", ".join(
        (moment if column.type == "timestamptz" else plain).format(column.name)
        for column in columns
    )


def camel(columns: Iterable[Column], of: LiteralString) -> LiteralString:
    """The columns of rows `of` under the names that answers give them."""
    return ", ".join(
        of + "." + column.name + ' AS "' + _camel(column.name) + '"' for column in columns
    )


def _camel(name: LiteralString) -> LiteralString:
    first, *rest = name.split("_")
    return "".join((first, *(word.title() for word in rest)))


def by_field(rows: Sequence[Row], struct: type[Row]) -> list[list[Any]]:
    """The values of each field of the rows, for a statement that unnests them."""
    return [[getattr(row, name) for row in rows] for name in struct.__struct_fields__]
