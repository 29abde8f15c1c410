"""Conversations: begun, listed, assigned, snoozed, closed, read."""

from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_country
from tillhouse.customers.rules import CustomerSearch, asked, plain_words, word_query
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Invalid, Missing, check, existing
from tillhouse.kit.ids import BookKey, ConversationId, new_id
from tillhouse.kit.page import Page, PageOf, meta, walk
from tillhouse.kit.partial import faults
from tillhouse.messaging import rules
from tillhouse.messaging.assigning import queue_assignment, queue_end_of_snooze
from tillhouse.messaging.events import CONVERSATION_ASSIGNED, Assigned
from tillhouse.messaging.storage.limits import MESSAGES
from tillhouse.messaging.store import conversations as store
from tillhouse.messaging.store import messages, searching
from tillhouse.messaging.types import (
    Conversation,
    ConversationFilter,
    ConversationPatch,
    ConversationState,
    NewConversation,
    ReadMark,
)
from tillhouse.stores.store import show_staff
from tillhouse.webhooks.emit import emit


async def begin(call: Call, new: NewConversation) -> Conversation:
    """The conversation with a number, begun when there is none."""
    country = await find_country(call.db, call.business_id)
    check(_faults(new, country))
    key = BookKey(call.book.id, new_id())
    phone = new.phone_number.e164(country)
    conversation_id = await store.upsert_conversation(call.db, key, phone, call.now)
    if conversation_id == key.id:
        call.services.storage.check(MESSAGES.name, call.book.id)
    return await show(call, conversation_id)


async def new_faults(call: Call, new: NewConversation) -> list[FieldError]:
    """The faults of the number."""
    return _faults(new, await find_country(call.db, call.business_id))


def _faults(new: NewConversation, country: str) -> list[FieldError]:
    return faults(lambda: rules.phone_errors("phone_number", new.phone_number, country))


async def list_page(call: Call, wanted: ConversationFilter) -> PageOf[Conversation]:
    """One page, the latest message first."""
    page, query = wanted.pick(), await _query(call, wanted)
    if query.words is not None:
        return await _search(call, query, page)
    count = store.count_tallied if query.is_tallied else store.count_found
    total = await count(call.db, call.book.id, query)
    if page.offset >= total:
        return PageOf([], meta(page, total))
    way = walk(page, total)
    found = await store.list_conversations(call.db, call.book.id, call.now, query, way)
    return PageOf(found, meta(page, total))


async def _search(call: Call, query: store.ConversationQuery, page: Page) -> PageOf[Conversation]:
    book = (call.db, call.book.id)
    ids = await searching.CONVERSATION_SEARCH.find(*book, query)
    ids_shown = ids[page.offset : page.offset + page.per_page]
    found = await searching.list_found(*book, call.now, ids_shown) if ids_shown else []
    return PageOf(found, meta(page, len(ids)))


async def _query(call: Call, wanted: ConversationFilter) -> store.ConversationQuery:
    searched = CustomerSearch()
    if wanted.search:
        country = await find_country(call.db, call.business_id)
        searched = asked(wanted.search, country)
    return store.ConversationQuery(
        status=wanted.status,
        assignee_id=wanted.assignee_id,
        is_assigned=wanted.assigned,
        is_unread=wanted.unread,
        customer_id=wanted.customer_id,
        words=word_query(searched.words) if searched.words is not None else None,
        letters=plain_words(searched.words) if searched.words is not None else (),
        email=searched.email,
        phone=searched.phone_number,
    )


async def show(call: Call, conversation_id: ConversationId) -> Conversation:
    """One conversation."""
    return existing(await store.show_conversation(call.db, call.book.id, call.now, conversation_id))


async def change(
    call: Call, conversation_id: ConversationId, patch: ConversationPatch
) -> Conversation:
    """Assign a conversation or take it from who had it; open, snooze or close it."""
    check(await patch_faults(call, patch))
    old = existing(await store.lock_conversation(call.db, call.book.id, conversation_id))
    new = rules.changed(old, patch, call.now)
    if new != old:
        await _set(call, conversation_id, old, new)
    return await show(call, conversation_id)


async def patch_faults(call: Call, patch: ConversationPatch) -> list[FieldError]:
    """The faults of a change."""
    return faults(lambda: rules.snooze_errors(patch, call.now))


async def _set(
    call: Call, conversation_id: ConversationId, old: ConversationState, new: ConversationState
) -> None:
    name = None
    if new.assignee_id is not None and new.assignee_id != old.assignee_id:
        assignee = await show_staff(call.db, call.business_id, new.assignee_id)
        if assignee is None:
            raise Invalid(assignee_id="is no member of this business: see GET /v1/staff")
        name = assignee.name
    key = BookKey(call.book.id, conversation_id)
    await store.update_conversation(call.db, key, new, call.now)
    if new.snoozed_until is not None and new.snoozed_until != old.snoozed_until:
        until = new.snoozed_until
        await queue_end_of_snooze(call.db, call.book.id, conversation_id, until, call.now)
    if new.assignee_id != old.assignee_id:
        data = Assigned(
            conversation_id=conversation_id,
            assignee_id=new.assignee_id,
            assignee_name=name,
            assigned_at=iso(call.now),
        )
        await emit(call, CONVERSATION_ASSIGNED, data)
    if new.began_waiting_at is not None:
        await queue_assignment(call.db, call.book.id, call.now, call.now)


async def mark_read(call: Call, conversation_id: ConversationId, mark: ReadMark) -> Conversation:
    """Count the messages after one as unread, or none."""
    book_id, message_id = call.book.id, mark.message_id
    if message_id is not None and not await messages.has_message(
        call.db, book_id, conversation_id, message_id
    ):
        await show(call, conversation_id)
        raise Invalid(message_id="is no message of this conversation")
    if not await store.update_unread(call.db, book_id, conversation_id, message_id):
        raise Missing
    return await show(call, conversation_id)
