"""The inbox as a whole: whether it assigns by itself, and which members are online."""

from datetime import timedelta

from msgspec import UNSET

from tillhouse.access import rules as access_rules
from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.messaging import rules
from tillhouse.messaging.assigning import queue_assignment
from tillhouse.messaging.store import assigning as store
from tillhouse.messaging.types import Inbox, InboxPatch, Presence, PresenceGiven


async def show(call: Call) -> Inbox:
    """The settings of the inbox."""
    return Inbox(await store.show_inbox(call.db, call.book.id))


async def change(call: Call, patch: InboxPatch) -> Inbox:
    """Assign automatically from now on, or no more."""
    before = await store.upsert_inbox(call.db, call.book.id, call.now)
    assigns = patch.assigns_automatically
    if assigns is not UNSET and assigns != before["assigns_automatically"]:
        await store.update_inbox(call.db, call.book.id, call.now, assigns=assigns)
        if assigns:
            await queue_assignment(call.db, call.book.id, call.now, call.now)
    return await show(call)


async def list_online(call: Call) -> list[Presence]:
    """The members who are online."""
    rows = await store.list_presence(call.db, call.business_id, call.now)
    return [Presence(**row) for row in rows]


async def set_presence(call: Call, given: PresenceGiven) -> Presence:
    """The caller is online for some time, or no longer; in both environments."""
    user = call.user
    if user.role not in rules.ANSWERING:
        access_rules.check_scope(user.scopes, "messaging:write")
    until = call.now + timedelta(seconds=given.seconds) if given.online else call.now
    await store.upsert_presence(call.db, call.business_id, user.user_id, until, call.now)
    if given.online:
        for book_id in user.books.all():
            await queue_assignment(call.db, book_id, call.now, call.now)
    return Presence(
        user_id=user.user_id, name=user.name, online_until=iso(until) if given.online else None
    )
