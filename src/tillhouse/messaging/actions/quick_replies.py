"""Quick replies: texts that are sent often, by a short word."""

from uuid import UUID

from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.access.store.books import lock_book
from tillhouse.kit.clock import iso
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import Missing, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.page import Paged, PageOf, meta
from tillhouse.messaging import rules
from tillhouse.messaging.store import quick_replies as store
from tillhouse.messaging.types import NewQuickReply, QuickReply, QuickReplyPatch


async def list_page(call: Call, wanted: Paged) -> PageOf[QuickReply]:
    """One page of them, by shortcut."""
    page = wanted.pick()
    total = await store.count_quick_replies(call.db, call.book.id)
    return PageOf(await store.list_quick_replies(call.db, call.book.id, page), meta(page, total))


async def show(call: Call, quick_reply_id: UUID) -> QuickReply:
    """One of them."""
    return existing(await store.show_quick_reply(call.db, call.book.id, quick_reply_id))


async def create(call: Call, new: NewQuickReply) -> QuickReply:
    """Keep a text."""
    key = BookKey(call.book.id, new_id())
    await lock_book(call.db, call.book.id)
    what, most = (str(new.shortcut), str(new.text)), rules.QUICK_REPLIES_MAX
    if not await store.insert_quick_reply(call.db, key, what, most, call.now):
        raise rules.TooManyQuickReplies
    return await show(call, key.id)


async def change(call: Call, quick_reply_id: UUID, patch: QuickReplyPatch) -> QuickReply:
    """Change the shortcut or the text."""
    what = (
        None if patch.shortcut is UNSET else str(patch.shortcut),
        None if patch.text is UNSET else str(patch.text),
    )
    key = BookKey(call.book.id, quick_reply_id)
    if not await store.update_quick_reply(call.db, key, what, call.now):
        raise Missing
    return await show(call, quick_reply_id)


async def delete(call: Call, quick_reply_id: UUID) -> Deleted:
    """Forget one."""
    if not await store.delete_quick_reply(call.db, call.book.id, quick_reply_id):
        raise Missing
    return Deleted(quick_reply_id, iso(call.now))
