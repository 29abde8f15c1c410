"""Keeping receipts: one that would say the same as the newest is that one."""

from datetime import datetime
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, new_id
from tillhouse.kit.json import encode
from tillhouse.orders.receipts import store
from tillhouse.orders.receipts.store import Subject


async def keep(
    db: Db, book_id: BookId, subject: Subject, content: msgspec.Struct, now: datetime
) -> UUID:
    """The receipt of something that is locked, with this content; a new one where that is news."""
    newest = await store.find_newest(db, book_id, subject)
    if newest is not None and _says(newest["content"], content):
        return newest["id"]
    key = BookKey(book_id, new_id())
    number = newest["number"] + 1 if newest else 1
    await store.insert_receipt(db, key, subject, number, encode(content).decode(), now)
    return key.id


def _says(kept: str, content: msgspec.Struct) -> bool:
    return msgspec.json.decode(kept, type=type(content)) == content
