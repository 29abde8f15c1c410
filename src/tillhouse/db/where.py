"""The one place that joins SQL text: optional conditions of a list, and a bound on its bytes."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import LiteralString, TypeVar, cast

from tillhouse.kit.errors import Invalid
from tillhouse.kit.page import PAGE_MAX, Page

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

    def and_after(self, columns: LiteralString, *key: object) -> "Where":
        """Only rows after this key, in the order of these columns."""
        slots = ", ".join(self.slot(value) for value in key)
        self._parts.append(f"({columns}) > ({slots})")
        return self

    def sql(self) -> LiteralString:
        """The conditions as ` AND …`, empty when there is none."""
        return cast(LiteralString, "".join(f" AND ({part})" for part in self._parts))

    def slot(self, value: object) -> LiteralString:
        """Add a bare value (a limit, an offset) and name its placeholder."""
        self.args.append(value)
        return cast(LiteralString, f"${len(self.args)}")

    def window(self, page: Page) -> LiteralString:
        """Add the limit and the offset of a page, and name their placeholders."""
        return self.slot(page.per_page) + " OFFSET " + self.slot(page.offset)


def weighed(page: LiteralString, *heavy: LiteralString) -> LiteralString:
    """A page's rows in its order, unless these texts of all its rows come to more than 8 MiB.

    The page ends with a LIMIT: each text is then made once, after its rows are sorted.
    """
    sizes = " + ".join(f"coalesce(pg_column_size(w.{name}), 0)" for name in heavy)
    return (
        f"SELECT * FROM (SELECT w.*, coalesce(sum({sizes}) OVER (), 0) AS {PAGE_BYTES} "  # noqa: S608
        f"FROM ({page}) w) w WHERE w.{PAGE_BYTES} <= 8388608"
    )


_NEAR_ROWS = 100
NEAR: LiteralString = cast(LiteralString, f" LIMIT {_NEAR_ROWS}")
"""The end of rows that are read in the order of an index, around the LIMIT of a near page.

PostgreSQL knows by it that few are read, whichever page is asked for, and keeps its plan. Where
parameters alone say how many, it plans a list anew each time, which takes longer than reading it.
"""


def is_near(page: Page) -> bool:
    """Whether a page lies within NEAR."""
    return page.offset + page.per_page <= _NEAR_ROWS


TOO_LARGE = "takes in rows of more than 8 MiB: ask for fewer at a time"

Rows = TypeVar("Rows", bound=Sequence[object])


async def rows_of(list_rows: Callable[[Page], Awaitable[Rows]], page: Page, total: int) -> Rows:
    """The rows of a page; a refusal where they are too many bytes for one answer."""
    rows = await list_rows(page)
    if not rows and page.offset < total and page.per_page > 1:
        # They were deleted since they were counted, or are too large.
        one = Page(min(page.offset + 1, PAGE_MAX), 1)
        if await list_rows(one):
            raise Invalid.field("limit", TOO_LARGE)
    return rows
