"""The result of an import of rows, whatever they are."""

from typing import NamedTuple

import msgspec

from tillhouse.kit.errors import FieldError


class RowFault(NamedTuple):
    """A fault of a row, by its index among the rows."""

    row_no: int
    error: FieldError


class Imported(msgspec.Struct, kw_only=True):
    """How many there were of each, or the faults of the rows."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    faults: list[RowFault] = []
