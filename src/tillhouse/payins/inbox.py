"""Events of providers, stored before anything else is done with them."""

import hashlib
from datetime import datetime
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, new_id
from tillhouse.payins.store import events


async def store_event(db: Db, book_id: UUID, provider: str, body: bytes, at: datetime) -> bool:
    """Store an event with its job, in the transaction of `db`; False: it was told before."""
    return await events.insert_event(db, _key(book_id), _what(provider, body), at)


async def store_event_once(db: Db, book_id: UUID, provider: str, body: bytes, at: datetime) -> bool:
    """The same as all that is written."""
    return await events.record_event(db, _key(book_id), _what(provider, body), at)


def _key(book_id: UUID) -> BookKey:
    return BookKey(BookId(book_id), new_id())


def _what(provider: str, body: bytes) -> tuple[str, bytes, bytes]:
    return provider, hashlib.sha256(body).digest(), body
