"""Emit: an event is written in the transaction that makes it true."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.access.callers import Book, KeyCaller
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.kit.ids import new_id
from tillhouse.kit.json import encode
from tillhouse.webhooks.catalogue import API_VERSION, BY_NAME
from tillhouse.webhooks.store import events as store


class Source(msgspec.Struct, frozen=True):
    """In which book an event happens, and through the key of which app, if any."""

    business_id: UUID
    book: Book
    app_id: UUID | None = None


def source(call: Call) -> Source:
    """The caller as a source of events."""
    app_id = call.caller.app_id if isinstance(call.caller, KeyCaller) else None
    return Source(call.business_id, call.book, app_id)


async def emit(call: Call, event_type: str, data: msgspec.Struct) -> UUID:
    """Announce what this call's transaction does; the event's id."""
    return (await emit_all(call, [(event_type, data)]))[0]


async def emit_all(call: Call, events: Sequence[tuple[str, msgspec.Struct]]) -> list[UUID]:
    """Announce all that this call's transaction does, in this order; the events' ids."""
    return await emit_all_from(call.db, source(call), events, call.now)


async def emit_from(
    db: Db, origin: Source, event_type: str, data: msgspec.Struct, now: datetime
) -> UUID:
    """Announce for somebody who has no call: a worker, a command, a provider's notice."""
    return (await emit_all_from(db, origin, [(event_type, data)], now))[0]


async def emit_all_from(
    db: Db, origin: Source, events: Sequence[tuple[str, msgspec.Struct]], now: datetime
) -> list[UUID]:
    """Announce several events for somebody who has no call, in one statement."""
    rows: list[tuple[UUID, str, str]] = []
    for event_type, data in events:
        if not isinstance(data, BY_NAME[event_type].data):
            raise TypeError(f"{event_type} carries {BY_NAME[event_type].data.__name__}")
        event_id = new_id()
        rows.append((event_id, event_type, envelope(event_id, event_type, origin, data, now)))
    if rows and await store.insert_events(db, origin.book.id, rows, origin.app_id, now):
        db.rings = True
    return [event_id for event_id, _, _ in rows]


def envelope(
    event_id: UUID, event_type: str, origin: Source, data: msgspec.Struct, now: datetime
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
