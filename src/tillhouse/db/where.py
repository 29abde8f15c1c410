"""The one place that joins SQL text: optional conditions of a list."""

from typing import LiteralString, cast


class Where:
    """Conditions with their values; an absent value (None) leaves its condition out.

    Each condition is a literal with one `$` for its value: `Where(book).and_("status = $", s)`.
    """

    def __init__(self, *fixed: object) -> None:
        """`fixed` are the arguments that the statement itself names as $1, $2, …"""
        self.args: list[object] = list(fixed)
        self._parts: list[str] = []

    def and_(self, condition: LiteralString, value: object | None) -> "Where":
        """Add a condition unless its value is absent."""
        if value is not None:
            self.args.append(value)
            self._parts.append(condition.replace("$", f"${len(self.args)}"))
        return self

    def sql(self) -> LiteralString:
        """The conditions as ` AND …`, empty when there is none."""
        return cast(LiteralString, "".join(f" AND ({part})" for part in self._parts))

    def slot(self, value: object) -> LiteralString:
        """Add a bare value (a limit, an offset) and name its placeholder."""
        self.args.append(value)
        return cast(LiteralString, f"${len(self.args)}")
