"""The events of one book: the latest, or all that come, as they are committed."""

from collections.abc import AsyncGenerator
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.access.call import Call
from tillhouse.db.feeds import LOOK_MAX, NO_LOOK, POLL_S, Feed
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.secrets import Environment
from tillhouse.webhooks.events import TEST
from tillhouse.webhooks.new_events import (
    LATE_MS,
    Given,
    NewEvents,
    StreamedEvent,
    millisecond,
)
from tillhouse.webhooks.store import stream as store
from tillhouse.webhooks.types import EventName

LATEST_MAX = 100
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


async def show(call: Call, event_id: UUID) -> SentEvent:
    """One event, as long as it is kept."""
    return _decode(existing(await store.find_event(call.db, call.book.id, event_id)))


async def follow(call: Call, wanted: StreamFilter) -> AsyncGenerator[bytes]:
    """Every event that is committed from now on, or since a little before `since`, as a frame."""
    if wanted.since is not None:
        given = Given(millisecond(wanted.since) - LATE_MS, _types(wanted))
    else:
        given = await Given.of_all_before(call.db, call.book.id, _types(wanted))
    return _frames(call, given)


async def _frames(call: Call, given: Given) -> AsyncGenerator[bytes]:
    with call.services.feeds.following(NewEvents, call.book.id) as feed:
        reader = _Reader(call, feed, given)
        await feed.opened(POLL_S)
        while True:
            for event in await reader.more():
                yield event.frame
            if not reader.has_more:
                yield _NOTHING
                await feed.wait(reader.place, POLL_S)


class _Reader:
    """Reads a feed; for events that the feed no longer keeps it looks for itself."""

    def __init__(self, call: Call, feed: Feed[StreamedEvent], given: Given) -> None:
        self._call = call
        self._feed = feed
        self._given = given
        # None: it has yet to look for itself.
        self.place: int | None = None
        self.has_more = False

    async def more(self) -> list[StreamedEvent]:
        """Events that were not given yet; none while the database is away."""
        came = self._feed.after(self.place)
        # Events that are committed after the look come after this place.
        self.place, self.has_more = self._feed.end, False
        if came is not None:
            return self._given.take(came)
        pool = self._call.services.pool
        try:
            async with pool.notifier.look(), pool.reading() as db:
                found = await self._given.look(db, self._call.book.id, LOOK_MAX)
        except NO_LOOK:
            # The database comes back; meanwhile the caller hears that we are still here.
            self.place = None
            return []
        if len(found) == LOOK_MAX:
            self.place, self.has_more = None, True
        return self._given.take(found)


def _types(wanted: StreamFilter) -> list[str] | None:
    return None if wanted.events is None else [str(name) for name in wanted.events]
