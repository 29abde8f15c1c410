"""Notes about conversations: kept and listed."""

from typing import Any

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.access.callers import UserCaller
from tillhouse.kit.errors import Missing, existing
from tillhouse.kit.ids import BookKey, ConversationId, new_id
from tillhouse.kit.page import Paged, PageOf, meta
from tillhouse.messaging.storage.limits import MESSAGES
from tillhouse.messaging.store import notes as store
from tillhouse.messaging.types import Assignee, NewNote, Note


async def list_page(call: Call, conversation_id: ConversationId, wanted: Paged) -> PageOf[Note]:
    """One page of the notes, the latest first."""
    page = wanted.pick()
    total = existing(await store.count_notes(call.db, call.book.id, conversation_id))
    rows = await store.list_notes(call.db, call.book.id, conversation_id, page)
    return PageOf([_shown(row) for row in rows], meta(page, total))


async def create(call: Call, conversation_id: ConversationId, new: NewNote) -> Note:
    """Keep a note."""
    call.services.storage.check(MESSAGES.name, call.book.id)
    author_id = call.caller.user_id if isinstance(call.caller, UserCaller) else None
    key = BookKey(call.book.id, new_id())
    text = str(new.text)
    if not await store.insert_note(call.db, key, conversation_id, text, author_id, call.now):
        raise Missing
    return _shown(existing(await store.show_note(call.db, call.book.id, key.id)))


def _shown(row: Record) -> Note:
    fields: dict[str, Any] = dict(row)
    author_id, author_name = fields.pop("author_id"), fields.pop("author_name")
    return Note(author=Assignee(author_id, author_name) if author_id else None, **fields)
