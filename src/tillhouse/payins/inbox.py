"""Events of providers, stored before anything else is done with them."""

import hashlib
from datetime import datetime
from uuid import UUID

from tillhouse.access.usage import MIB
from tillhouse.db.pool import Db
from tillhouse.kit.errors import Limited
from tillhouse.kit.ids import BookId, BookKey, new_id
from tillhouse.payins.store import events

# So many events of one book, and so many bytes of theirs, may wait to be looked up.
WAITING_MAX = 5_000, 64 * MIB
_AGAIN_S = 30


async def store_event(db: Db, book_id: UUID, provider: str, body: bytes, at: datetime) -> bool:
    """Store an event with its job, in the transaction of `db`; False: it was told before."""
    new = _new_event(provider, body)
    return _is_new(await events.insert_event(db, _key(book_id), new, WAITING_MAX, at))


async def store_event_once(db: Db, book_id: UUID, provider: str, body: bytes, at: datetime) -> bool:
    """The same by a statement that is committed by itself."""
    new = _new_event(provider, body)
    return _is_new(await events.record_event(db, _key(book_id), new, WAITING_MAX, at))


def _is_new(stored: events.StoredEvent) -> bool:
    if stored.is_full:
        raise Limited(_AGAIN_S, "Too much waits to be looked up: send it again later.")
    return stored.is_new


def _key(book_id: UUID) -> BookKey:
    return BookKey(BookId(book_id), new_id())


def _new_event(provider: str, body: bytes) -> events.NewEvent:
    fingerprint = hashlib.sha256(body).digest()
    return events.NewEvent(provider=provider, fingerprint=fingerprint, body=body)
