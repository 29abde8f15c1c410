"""Answers about lists: pages, with the request for one and the facts of the whole; deletions.

Last lists by change: from a moment on, the oldest change first, page by page by a cursor.
"""

from datetime import datetime
from typing import Annotated, Generic, TypeVar
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from tillhouse.kit.clock import Timestamp, iso, parse_timestamp
from tillhouse.kit.errors import Invalid
from tillhouse.kit.text import Coded
from tillhouse.kit.values import Moment

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


_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a list by change: after this row, as it was then."""

    at: datetime
    id: UUID
    # From when on the next look has to begin, and how many rows there were, both as the first page
    # found them.
    next_since: datetime
    total: int


class ChangeCursor(
    Coded,
    pattern=f"^{_TIME}_{_ID}_{_TIME}_[0-9]{{1,10}}$",
    wrong="is no cursor: use `nextCursor` of the page before",
    example="2026-01-31T12:00:00.000Z_0199a7c0-0000-7000-8000-000000000000"
    "_2026-01-31T11:58:00.000Z_3",
    longest=97,
):
    """The end of a page of a list by change."""

    @classmethod
    def check(cls, value: str) -> str:
        """Of the pattern, and both moments are some."""
        value = super().check(value)
        try:
            _position(value)
        except ValueError:
            raise ValueError(cls.wrong) from None
        return value

    @property
    def position(self) -> Position:
        """The place that it names."""
        return _position(self)


class PagedByChange(Paged):
    """The part of a query that asks for a page of a list, by change where it is asked for."""

    updated_since: Moment | None = None
    cursor: ChangeCursor | None = None
    """With `updated_since`: the `nextCursor` of the page before; left out: the oldest changes."""

    def pick(self) -> Page:
        """The page that is asked for; by change only the first has a number."""
        if self.cursor is not None and self.updated_since is None:
            raise Invalid.field("cursor", "comes with updated_since: send both")
        if self.updated_since is not None and self.page > 1:
            wrong = "must be 1 with updated_since: go on with cursor, the last `nextCursor`"
            raise Invalid.field("page", wrong)
        return super().pick()


class ChangesMeta(Meta, frozen=True, rename="camel"):
    """The description of a page, and how to go on with a list by change."""

    next_cursor: str | UnsetType | None = UNSET
    """The `cursor` of the next page; null on the last one, absent without `updated_since`."""
    next_updated_since: Timestamp | UnsetType = UNSET
    """The `updated_since` of the next look, once all pages are read: no change is lost by it, some
    come again. Absent without `updated_since`."""


def numbered_meta(page: Page, total: int) -> ChangesMeta:
    """Describe a page of such a list that isn't by change."""
    return ChangesMeta(**msgspec.structs.asdict(meta(page, total)))


def changes_meta(
    limit: int, total: int, next_since: datetime, last: tuple[str, UUID] | None
) -> ChangesMeta:
    """Describe a page by change; `last` is its last row, when there are more."""
    cursor = None
    if last is not None:
        cursor = f"{last[0]}_{last[1]}_{iso(next_since)}_{total}"
    return ChangesMeta(
        total=total,
        page=1,
        per_page=limit,
        total_pages=-(-total // limit),
        has_more=cursor is not None,
        next_cursor=cursor,
        next_updated_since=iso(next_since),
    )


def _position(cursor: str) -> Position:
    at, id_, next_since, total = cursor.split("_")
    return Position(
        at=parse_timestamp(at),
        id=UUID(id_),
        next_since=parse_timestamp(next_since),
        total=int(total),
    )
