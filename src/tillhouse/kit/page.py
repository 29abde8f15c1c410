"""Answers about lists: pages, with the request for one and the facts of the whole; deletions."""

from typing import Annotated, Generic, TypeVar
from uuid import UUID

import msgspec

from tillhouse.kit.clock import Timestamp

T = TypeVar("T")

PER_PAGE_MAX = 100
PAGE_MAX = 1_000_000


class Page(msgspec.Struct, frozen=True):
    """One page of a list, counted from 1."""

    page: int = 1
    per_page: int = 50

    def __post_init__(self) -> None:
        """Refuse numbers that no query may reach; the edge names the field before that."""
        if not 1 <= self.page <= PAGE_MAX:
            raise ValueError(f"page must be from 1 to {PAGE_MAX}")
        if not 1 <= self.per_page <= PER_PAGE_MAX:
            raise ValueError(f"per_page must be from 1 to {PER_PAGE_MAX}")

    @property
    def offset(self) -> int:
        """Count the rows before this page."""
        return (self.page - 1) * self.per_page


class Walk(msgspec.Struct, frozen=True):
    """The way to the rows of a page: past some, to some, from whichever end is nearer."""

    is_from_last: bool
    skipped: int
    count: int


def walk(page: Page, total: int) -> Walk:
    """The way to a page that isn't beyond the last of a list of so many rows."""
    if 2 * page.offset <= total:
        return Walk(is_from_last=False, skipped=page.offset, count=page.per_page)
    after = max(0, total - page.offset - page.per_page)
    return Walk(is_from_last=True, skipped=after, count=total - page.offset - after)


class Paged(msgspec.Struct):
    """The part of a query that asks for a page of a list."""

    page: Annotated[int, msgspec.Meta(ge=1, le=PAGE_MAX)] = 1
    limit: Annotated[int, msgspec.Meta(ge=1, le=PER_PAGE_MAX)] = 50

    def pick(self) -> Page:
        """The page that is asked for."""
        return Page(self.page, self.limit)


class Meta(msgspec.Struct, frozen=True, rename="camel"):
    """The description of a page beside its rows."""

    total: int
    page: int
    per_page: int
    total_pages: int
    has_more: bool


class PageOf(msgspec.Struct, Generic[T], frozen=True):
    """The rows of one page, and the facts of the list beside them."""

    rows: list[T]
    meta: Meta


def meta(page: Page, total: int) -> Meta:
    """Describe a page of a list that has this many rows in all."""
    total_pages = -(-total // page.per_page)
    return Meta(total, page.page, page.per_page, total_pages, page.page < total_pages)


class Deleted(msgspec.Struct, frozen=True, rename="camel"):
    """A record that is gone, and since when."""

    id: UUID
    """The id of what was deleted."""
    deleted_at: Timestamp
