"""Emit: an event is written in the transaction that makes it true."""

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
    return await emit_from(call.db, source(call), event_type, data, call.now)


async def emit_from(
    db: Db, origin: Source, event_type: str, data: msgspec.Struct, now: datetime
) -> UUID:
    """Announce for somebody who has no call: a worker, a command, a provider's notice."""
    if not isinstance(data, BY_NAME[event_type].data):
        raise TypeError(f"{event_type} carries {BY_NAME[event_type].data.__name__}")
    event_id = new_id()
    payload = envelope(event_id, event_type, origin, data, now)
    place = (origin.book.id, event_id)
    if await store.insert_event(db, place, event_type, origin.app_id, payload, now):
        db.rings = True
    return event_id


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
