"""The quota of prompts: a book has so many sounds, of so many bytes."""

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.voice.prompts import rules, store


async def keep_quota(db: Db, book_id: BookId) -> None:
    """Refuse the sounds that this transaction has added where they are too much.

    Transactions that add at once are counted one after the other.
    """
    await store.lock_quota(db, book_id)
    rules.check_quota(*await store.find_stored(db, book_id))
