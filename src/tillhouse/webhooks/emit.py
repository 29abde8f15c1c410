"""Emit: an event is written in the transaction that makes it true."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.access.callers import Book, KeyCaller
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import AppId, BookId, BusinessId, EventId, new_id
from tillhouse.kit.json import encode
from tillhouse.webhooks.events import API_VERSION
from tillhouse.webhooks.store.events import EventRows, insert_events

# A kind of event with data of the type that it carries.
Event = tuple[EventType, msgspec.Struct]

_APART = timedelta(milliseconds=1)


class Source(msgspec.Struct, frozen=True):
    """In which book an event happens, and through the key of which app, if any."""

    business_id: BusinessId
    book: Book
    app_id: AppId | None = None


def source(call: Call) -> Source:
    """The caller as a source of events."""
    app_id = call.caller.app_id if isinstance(call.caller, KeyCaller) else None
    return Source(call.business_id, call.book, app_id)


async def emit(call: Call, event_type: EventType, data: msgspec.Struct) -> UUID:
    """Announce the change of this call's transaction; the event's id."""
    return (await emit_all(call, [(event_type, data)]))[0]


async def emit_all(call: Call, events: Sequence[Event]) -> list[EventId]:
    """Announce all that this call's transaction does, in this order; the events' ids."""
    return await emit_all_from(call.db, source(call), events, call.now)


async def emit_from(
    db: Db, origin: Source, event_type: EventType, data: msgspec.Struct, now: datetime
) -> UUID:
    """Announce for somebody who has no call: a worker, a command, a provider's notice."""
    return (await emit_all_from(db, origin, [(event_type, data)], now))[0]


async def emit_all_from(
    db: Db, origin: Source, events: Sequence[Event], now: datetime
) -> list[EventId]:
    """Announce several events for somebody who has no call, in one statement."""
    told = prepare(origin, events, now)
    if told.ids:
        note_told(db, origin.book.id, await insert_events(db, origin.book.id, now, told))
    return told.ids


def prepare(
    origin: Source,
    events: Sequence[Event],
    now: datetime,
    *,
    followed_by: int = 0,
) -> EventRows:
    """Events as they are written, for a statement that writes the change as well.

    Their moments lie a millisecond apart, so that logs and queues keep the order, and end now, or
    early enough for so many that the same call tells afterwards.
    """
    ids: list[EventId] = []
    payloads: list[str] = []
    for event_type, data in events:
        if not isinstance(data, event_type.data):
            raise TypeError(f"{event_type.name} carries {event_type.data.__name__}")
        ids.append(EventId(new_id()))
        payloads.append(envelope(ids[-1], event_type.name, origin, data, now))
    last = len(ids) + followed_by
    return EventRows(
        ids=ids,
        types=[event_type.name for event_type, _ in events],
        payloads=payloads,
        entity_ids=[getattr(data, "entity_id", None) for _, data in events],
        moments=[now - index * _APART for index in range(last - 1, followed_by - 1, -1)],
        app_id=origin.app_id,
    )


def note_told(db: Db, book_id: BookId, queued: int) -> None:
    """Note whom the commit has to wake: the workers, when deliveries were queued, or followers."""
    if queued:
        db.queues_work = True
    db.note_events(book_id)


def envelope(
    event_id: EventId,
    event_type: str,
    origin: Source,
    data: msgspec.Struct | Mapping[str, Any],
    now: datetime,
) -> str:
    """The body that every subscribed endpoint gets, the same bytes at every attempt."""
    return encode(
        {
            "id": event_id,
            "type": event_type,
            "apiVersion": API_VERSION,
            "businessId": origin.business_id,
            "created": iso(now),
            "environment": origin.book.environment,
            "data": data,
        }
    ).decode()
