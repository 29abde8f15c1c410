"""The one place that joins SQL text: optional conditions of a list."""

import re
from typing import LiteralString, cast

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
