"""Reading of changes, for each list that is ordered by the moment of the last change."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import LiteralString, Protocol, TypeVar
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.db.where import TOO_LARGE, Where
from tillhouse.kit.errors import Invalid
from tillhouse.kit.page import ChangesMeta, PagedByChange, PageOf, Position, changes_meta


class Changed(Protocol):
    """A row as an answer shows it."""

    @property
    def id(self) -> UUID:
        """Its id."""
        ...

    @property
    def updated_at(self) -> str:
        """The moment of its last change."""
        ...


T = TypeVar("T", bound=Changed)


class Beginning(msgspec.Struct, frozen=True):
    """Where a page by change begins; no position: with the oldest change."""

    position: Position | None
    next_since: datetime


async def begin(db: Db, wanted: PagedByChange) -> Beginning:
    """The beginning of a page; ask before anything else of it is read."""
    if wanted.cursor is not None:
        position = wanted.cursor.position
        return Beginning(position, position.next_since)
    return Beginning(None, await find_settled(db))


async def find_settled(db: Db) -> datetime:
    """A moment before every change that isn't committed yet.

    A change bears the moment of its statement, which is not before its transaction began. A new
    row bears that of its request, which began up to two minutes before its transaction: no request
    waits that long. A transaction of another role, whose beginning isn't to be seen, may be of an
    hour ago.
    """
    return await db.fetchval(
        """
        SELECT least(clock_timestamp(),
            min(coalesce(a.xact_start, clock_timestamp() - interval '1 hour')))
            - interval '2 minutes'
        FROM pg_stat_activity a
        WHERE a.datname = current_database() AND a.backend_xid IS NOT NULL
        """
    )


def and_after(where: Where, columns: LiteralString, position: Position | None) -> Where:
    """Only rows after a place, by these columns: the moment of the change, then the id."""
    return where if position is None else where.and_after(columns, position.at, position.id)


async def page_of(
    beginning: Beginning,
    limit: int,
    total: int,
    list_rows: Callable[[Position | None, int], Awaitable[Sequence[T]]],
) -> tuple[list[T], ChangesMeta]:
    """The rows of a page, and how to go on; a refusal where they are too many bytes."""
    position = beginning.position
    rows = list(await list_rows(position, limit + 1))
    has_more = len(rows) > limit
    if not rows:
        # None is left, or these are too large together.
        rows = list(await list_rows(position, 1))
        has_more = bool(rows)
        if has_more and limit > 1:
            raise Invalid.field("limit", TOO_LARGE)
    rows = rows[:limit]
    last = (rows[-1].updated_at, rows[-1].id) if has_more else None
    return rows, changes_meta(limit, total, beginning.next_since, last)


async def list_page(
    db: Db,
    wanted: PagedByChange,
    count: Callable[[], Awaitable[int]],
    list_rows: Callable[[Position | None, int], Awaitable[Sequence[T]]],
) -> PageOf[T]:
    """One page of a list by change; its rows are counted with the first."""
    beginning = await begin(db, wanted)
    total = beginning.position.total if beginning.position else await count()
    return PageOf(*await page_of(beginning, wanted.limit, total, list_rows))
