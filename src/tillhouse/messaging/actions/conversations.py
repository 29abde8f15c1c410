"""Conversations: begun, listed, assigned."""

from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Invalid, Missing, check
from tillhouse.kit.ids import BookKey, ConversationId, UserId, new_id
from tillhouse.kit.page import PageOf, meta
from tillhouse.kit.partial import faults
from tillhouse.messaging import rules
from tillhouse.messaging.events import CONVERSATION_ASSIGNED, Assigned
from tillhouse.messaging.store import conversations as store
from tillhouse.messaging.store import numbers
from tillhouse.messaging.types import (
    Conversation,
    ConversationFilter,
    ConversationPatch,
    NewConversation,
)
from tillhouse.webhooks.emit import emit


async def begin(call: Call, new: NewConversation) -> Conversation:
    """The conversation with a number, begun when there is none."""
    country = await numbers.find_country(call.db, call.business_id)
    check(_faults(new, country))
    key = BookKey(call.book.id, new_id())
    phone = new.phone_number.e164(country)
    conversation_id = await store.upsert_conversation(call.db, key, phone, call.now)
    return await show(call, conversation_id)


async def new_faults(call: Call, new: NewConversation) -> list[FieldError]:
    """The faults of the number."""
    return _faults(new, await numbers.find_country(call.db, call.business_id))


def _faults(new: NewConversation, country: str) -> list[FieldError]:
    return faults(lambda: rules.phone_errors("phone_number", new.phone_number, country))


async def list_page(call: Call, wanted: ConversationFilter) -> PageOf[Conversation]:
    """One page, the latest message first."""
    page = wanted.pick()
    total = await store.count_conversations(call.db, call.book.id, wanted)
    found = await store.list_conversations(call.db, call.book.id, call.now, wanted, page)
    return PageOf(found, meta(page, total))


async def show(call: Call, conversation_id: ConversationId) -> Conversation:
    """One conversation."""
    found = await store.show_conversation(call.db, call.book.id, call.now, conversation_id)
    if found is None:
        raise Missing
    return found


async def change(
    call: Call, conversation_id: ConversationId, patch: ConversationPatch
) -> Conversation:
    """Assign a conversation, or take it from who had it."""
    row = await store.lock_conversation(call.db, call.book.id, conversation_id)
    if row is None:
        raise Missing
    assignee_id = patch.assignee_id
    if assignee_id is not UNSET and assignee_id != row["assignee_id"]:
        await _assign(call, conversation_id, assignee_id)
    return await show(call, conversation_id)


async def _assign(call: Call, conversation_id: ConversationId, assignee_id: UserId | None) -> None:
    name = None
    if assignee_id is not None:
        name = await store.find_member_name(call.db, call.business_id, assignee_id)
        if name is None:
            raise Invalid(assignee_id="is nobody of this business")
    await store.update_assignee(call.db, call.book.id, conversation_id, assignee_id, call.now)
    data = Assigned(
        conversation_id=conversation_id,
        assignee_id=assignee_id,
        assignee_name=name,
        assigned_at=iso(call.now),
    )
    await emit(call, CONVERSATION_ASSIGNED, data)
