"""The events of one book as they are committed: each is given once, late ones as well."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db, Pool
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId
from tillhouse.webhooks.store import stream as store

# An event has its id before it is committed, at most so long: a later id may be seen first.
LATE_MS = 30_000
# Ids that can't come any more are forgotten so often: each time all are gone through.
_FORGET_MS = 1_000


class StreamedEvent(msgspec.Struct, frozen=True):
    """An event as a stream sends it."""

    id: UUID
    type: str
    frame: bytes

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.frame)


class Given:
    """Which events a reader was given, so that it is given none twice."""

    def __init__(
        self, first_ms: int, types: list[str] | None = None, known: Iterable[UUID] = ()
    ) -> None:
        self._types = types
        self._from_ms = self._known_from_ms = first_ms
        self._known = set(known)

    @classmethod
    async def of_all_before(
        cls, db: Db, book_id: BookId, types: list[str] | None = None
    ) -> "Given":
        """Those that are committed by now count as given, and no others: ids tell nothing of it."""
        first_ms = _milliseconds(now()) - LATE_MS
        known = await store.list_event_ids_after(db, book_id, UUID(int=first_ms << 80))
        return cls(first_ms, types, known)

    async def look(self, db: Db, book_id: BookId, limit: int) -> list[StreamedEvent]:
        """Those that are committed and were not given yet, the oldest first; `take` gives them."""
        rows = await store.list_events_after(
            db, book_id, self._after(), self._types, list(self._known), limit
        )
        return [_streamed(row) for row in rows]

    def take(self, events: Iterable[StreamedEvent]) -> list[StreamedEvent]:
        """Those that were not given yet; from now on they were."""
        after = self._after()
        new = [
            one
            for one in events
            if one.id > after and one.id not in self._known and self._is_wanted(one)
        ]
        if new:
            self._known.update(one.id for one in new)
            self._from_ms = max(self._from_ms, millisecond(new[-1].id) - LATE_MS)
            self._forget()
        return new

    def _forget(self) -> None:
        if self._from_ms - self._known_from_ms >= _FORGET_MS:
            self._known = {id_ for id_ in self._known if millisecond(id_) >= self._from_ms}
            self._known_from_ms = self._from_ms

    def _after(self) -> UUID:
        return UUID(int=max(0, self._from_ms) << 80)

    def _is_wanted(self, event: StreamedEvent) -> bool:
        return self._types is None or event.type in self._types


class NewEvents:
    """The source of a book's feed: the events of all types."""

    def __init__(self, pool: Pool, book_id: UUID) -> None:
        self._pool = pool
        self._book_id = BookId(book_id)
        self._given: Given | None = None

    async def more(self, limit: int) -> Sequence[StreamedEvent]:
        """Events committed since the last look, the oldest first, and at most so many."""
        if self._given is None:
            # Followers find the events that are there already by themselves.
            async with self._pool.reading() as db:
                self._given = await Given.of_all_before(db, self._book_id)
            return []
        async with self._pool.reading() as db:
            found = await self._given.look(db, self._book_id, limit)
        return self._given.take(found)


def millisecond(id_: UUID) -> int:
    """When an id was made; ids that carry no time are of some moment, too."""
    return id_.int >> 80


def _milliseconds(moment: datetime) -> int:
    """A moment as ids carry it."""
    return round(moment.timestamp() * 1000)


def _streamed(row: Record) -> StreamedEvent:
    frame = b"id: %s\nevent: %s\ndata: %s\n\n" % (
        str(row["id"]).encode(),
        row["type"].encode(),
        row["payload"].encode(),
    )
    return StreamedEvent(row["id"], row["type"], frame)
