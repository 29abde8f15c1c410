"""Pages of lists that are weighed (`where.weighed`): what is answered when one is too large."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from tillhouse.kit.errors import Invalid
from tillhouse.kit.page import PAGE_MAX, Page

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
