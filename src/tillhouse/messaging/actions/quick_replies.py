"""Quick replies: texts that are sent often, by a short word."""

from uuid import UUID

from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.access.store.businesses import lock_book
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Missing, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.page import Deleted, Paged, PageOf
from tillhouse.messaging import rules
from tillhouse.messaging.store.quick_replies import QUICK_REPLIES
from tillhouse.messaging.types import NewQuickReply, QuickReply, QuickReplyPatch


async def list_page(call: Call, wanted: Paged) -> PageOf[QuickReply]:
    """One page of them, by shortcut."""
    return await QUICK_REPLIES.page(call.db, call.book.id, wanted.pick())


async def show(call: Call, quick_reply_id: UUID) -> QuickReply:
    """One of them."""
    return existing(await QUICK_REPLIES.show(call.db, call.book.id, quick_reply_id))


async def create(call: Call, new: NewQuickReply) -> QuickReply:
    """Keep a text."""
    key = BookKey(call.book.id, new_id())
    await lock_book(call.db, call.book.id)
    if await QUICK_REPLIES.count(call.db, call.book.id) >= rules.QUICK_REPLIES_MAX:
        raise rules.TooManyQuickReplies
    await QUICK_REPLIES.insert(call.db, key, (str(new.shortcut), str(new.text)), call.now)
    return await show(call, key.id)


async def change(call: Call, quick_reply_id: UUID, patch: QuickReplyPatch) -> QuickReply:
    """Change the shortcut or the text."""
    old = existing(await QUICK_REPLIES.lock(call.db, call.book.id, quick_reply_id))
    shortcut = old.shortcut if patch.shortcut is UNSET else str(patch.shortcut)
    text = old.text if patch.text is UNSET else str(patch.text)
    key = BookKey(call.book.id, quick_reply_id)
    await QUICK_REPLIES.update(call.db, key, (shortcut, text), call.now)
    return await show(call, quick_reply_id)


async def delete(call: Call, quick_reply_id: UUID) -> Deleted:
    """Forget one."""
    if not await QUICK_REPLIES.delete(call.db, BookKey(call.book.id, quick_reply_id), call.now):
        raise Missing
    return Deleted(quick_reply_id, iso(call.now))
