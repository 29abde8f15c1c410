"""Amounts that the wallet owes and didn't have: taken as money comes in, one row at a time."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

import msgspec

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId

Row = TypeVar("Row")

# A withdrawal lets so many be taken at most before it is judged; the chore does the rest.
_AT_ONCE = 20


class Collecting(msgspec.Struct, Generic[Row], frozen=True, kw_only=True):
    """The rows of one room that the wallet owes a part of, and how that is taken."""

    # The name of the chore.
    name: str
    # Lock one of any book, or of a book, of which the wallet has something now.
    lock: Callable[[Db], Awaitable[Row | None]]
    lock_of_book: Callable[[Db, BookId], Awaitable[Row | None]]
    # Take it; whether anything was taken.
    take: Callable[[Db, Row, datetime], Awaitable[bool]]

    async def of_book(self, db: Db, book_id: BookId, at: datetime) -> None:
        """Take the amounts of a book, before more is withdrawn from its wallet."""
        for _ in range(_AT_ONCE):
            found = await self.lock_of_book(db, book_id)
            if found is None or not await self.take(db, found, at):
                return

    def chore(self) -> LocalKind:
        """The chore that takes them, one at a time: none waits for another book's wallet."""
        return LocalKind(name=self.name, run=self._run, every=timedelta(minutes=5))

    async def _run(self, db: Db, _job: Job) -> bool:
        found = await self.lock(db)
        return found is not None and await self.take(db, found, now())
