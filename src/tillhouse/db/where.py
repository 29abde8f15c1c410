"""The one place that joins SQL text: optional conditions of a list, and a bound on its bytes."""

import re
from typing import LiteralString, cast

# The column that `weighed` adds.
PAGE_BYTES: LiteralString = "page_bytes"
_VALUE = re.compile(r"\$(?![0-9])")


class Where:
    """Conditions with their values; an absent value (None) leaves its condition out.

    In each condition `$` is its value: `Where(book).and_("status = $", s)`. A numbered
    parameter ($1) is one of the fixed arguments.
    """

    def __init__(self, *fixed: object) -> None:
        """`fixed` are the arguments that the statement itself names as $1, $2, …"""
        self.args: list[object] = list(fixed)
        self._parts: list[str] = []

    def and_(self, condition: LiteralString, value: object | None) -> "Where":
        """Add a condition unless its value is absent."""
        if value is not None:
            self.args.append(value)
            self._parts.append(_VALUE.sub(f"${len(self.args)}", condition))
        return self

    def sql(self) -> LiteralString:
        """The conditions as ` AND …`, empty when there is none."""
        return cast(LiteralString, "".join(f" AND ({part})" for part in self._parts))

    def slot(self, value: object) -> LiteralString:
        """Add a bare value (a limit, an offset) and name its placeholder."""
        self.args.append(value)
        return cast(LiteralString, f"${len(self.args)}")


def weighed(page: LiteralString, *heavy: LiteralString) -> LiteralString:
    """A page's rows in its order, unless these texts of all its rows come to more than 8 MiB.

    The page ends with a LIMIT: each text is then made once, after its rows are sorted.
    """
    sizes = " + ".join(f"coalesce(pg_column_size(w.{name}), 0)" for name in heavy)
    return (
        f"SELECT * FROM (SELECT w.*, coalesce(sum({sizes}) OVER (), 0) AS {PAGE_BYTES} "  # noqa: S608
        f"FROM ({page}) w) w WHERE w.{PAGE_BYTES} <= 8388608"
    )
