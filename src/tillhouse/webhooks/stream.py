"""The events of one book: the latest, or all that come, as they are committed."""

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import msgspec
from asyncpg import Record
from msgspec import Meta

from tillhouse.access.call import Call
from tillhouse.db.notifier import Follower
from tillhouse.db.pool import FAILURES, Pool
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.errors import Unavailable
from tillhouse.kit.ids import BookId, BusinessId
from tillhouse.kit.secrets import Environment
from tillhouse.webhooks.events import TEST
from tillhouse.webhooks.store import stream as store
from tillhouse.webhooks.types import EventName

LATEST_MAX = 100
# Each event is notified; one whose notification is lost is found by looking.
POLL_S = 0.5
# An event has its id before it is committed, at most so long: a later id may be seen first.
LATE_MS = 30_000
_BATCH = 200
_NOTHING = b""
_FIRST = UUID(int=0)


class StreamedName(EventName):
    """An event that can come: those of the catalogue, and the test."""

    MORE: ClassVar[tuple[str, ...]] = (TEST,)


StreamedNames = Annotated[
    list[StreamedName], Meta(description="Only events of these types", min_length=1)
]
_SINCE = "Only events after this one; a stream begins 30 seconds before it"
EventId = Annotated[UUID, Meta(description=_SINCE)]


class StreamFilter(msgspec.Struct):
    """Which events, from where on."""

    events: StreamedNames | None = None
    since: EventId | None = None


class SentEvent(msgspec.Struct, frozen=True, rename="camel"):
    """An event, as webhooks carry it."""

    id: UUID
    """The id of the event, the same at every attempt and endpoint."""
    type: Annotated[str, Meta(examples=["order.created"])]
    api_version: Literal["v1"]
    business_id: BusinessId
    """The business that the event happened in."""
    created: Timestamp
    environment: Environment
    """The book that the event happened in."""
    data: dict[str, Any]


_decode = msgspec.json.Decoder(SentEvent, float_hook=Decimal).decode


async def list_latest(call: Call, wanted: StreamFilter) -> list[SentEvent]:
    """The latest events."""
    after = wanted.since or _FIRST
    rows = await store.list_latest_events(call.db, call.book.id, after, _types(wanted), LATEST_MAX)
    return [_decode(row["payload"]) for row in rows]


async def follow(call: Call, wanted: StreamFilter) -> AsyncGenerator[bytes]:
    """Every event from now on, or from a little before `since`, as a server-sent event."""
    first = _millisecond(wanted.since) - LATE_MS if wanted.since else _milliseconds(call.now)
    tail = Tail(call.services.pool, call.book.id, first, _types(wanted))
    with call.services.pool.notifier.following() as follower:
        while True:
            rows = await _look(tail, follower)
            for row in rows:
                yield b"id: %s\nevent: %s\ndata: %s\n\n" % (
                    str(row["id"]).encode(),
                    row["type"].encode(),
                    row["payload"].encode(),
                )
            if len(rows) < _BATCH:
                yield _NOTHING
                await follower.wait(POLL_S)


class Tail:
    """Gives each event of a book once, those that were committed late as well."""

    def __init__(self, pool: Pool, book_id: BookId, first: int, types: list[str] | None) -> None:
        self._pool = pool
        self._book_id = book_id
        self._types = types
        self._from = first
        self._known: list[UUID] = []

    async def more(self) -> Sequence[Record]:
        """Events committed since the last look, the oldest first."""
        after = UUID(int=max(0, self._from) << 80)
        async with self._pool.reading() as db:
            rows = await store.list_events_after(
                db, self._book_id, after, self._types, self._known, _BATCH
            )
        if rows:
            newest = _millisecond(rows[-1]["id"])
            self._from = max(self._from, newest - LATE_MS)
            known = (*self._known, *(row["id"] for row in rows))
            self._known = [id_ for id_ in known if _millisecond(id_) >= self._from]
        return rows


async def _look(tail: Tail, follower: Follower) -> Sequence[Record]:
    """New events; none while the database is away or many others look."""
    try:
        async with follower.turn():
            return await tail.more()
    except (*FAILURES, Unavailable, TimeoutError):
        # It comes back; meanwhile the caller hears that we are still here.
        return []


def _types(wanted: StreamFilter) -> list[str] | None:
    return None if wanted.events is None else [str(name) for name in wanted.events]


def _millisecond(id_: UUID) -> int:
    """When an id was made; ids that carry no time are of some moment, too."""
    return id_.int >> 80


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
