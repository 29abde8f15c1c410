"""Keeping receipts: one that would say the same as the newest is that one."""

from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, new_id
from tillhouse.kit.json import encode
from tillhouse.orders.receipts import store
from tillhouse.orders.receipts.store import Subject


class Kept(msgspec.Struct, frozen=True):
    """A receipt that is kept, and the how many-th of its subject it is."""

    id: UUID
    number: int


async def keep(
    db: Db, book_id: BookId, subject: Subject, content: msgspec.Struct, now: datetime
) -> Kept:
    """The receipt of something that is locked, with this content; a new one where that is news."""
    newest = await _newest(db, book_id, subject)
    if newest is not None and _says(newest["content"], content):
        return Kept(newest["id"], newest["number"])
    key = BookKey(book_id, new_id())
    number = newest["number"] + 1 if newest else 1
    await store.insert_receipt(db, key, subject, number, encode(content).decode(), now)
    return Kept(key.id, number)


async def _newest(db: Db, book_id: BookId, subject: Subject) -> Record | None:
    if subject.order_id is not None:
        return await store.find_newest_of_order(db, book_id, subject.order_id)
    if subject.transaction_id is not None:
        return await store.find_newest_of_transaction(db, book_id, subject.transaction_id)
    if subject.reservation_id is not None:
        return await store.find_newest_of_stay(db, book_id, subject.reservation_id)
    raise AssertionError("a receipt is of something")


def _says(kept: str, content: msgspec.Struct) -> bool:
    return msgspec.json.decode(kept, type=type(content)) == content
