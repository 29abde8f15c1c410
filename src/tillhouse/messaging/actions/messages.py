"""Messages: written in the transaction of the change that they tell of."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.access.callers import SystemCaller, UserCaller
from tillhouse.customers.rules import plain_words, word_query
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Invalid, check, existing
from tillhouse.kit.ids import ConversationId, MessageId, new_id
from tillhouse.kit.page import Paged, PageOf, meta
from tillhouse.kit.partial import faults
from tillhouse.messaging import rules
from tillhouse.messaging.attachments.actions import ready_kind
from tillhouse.messaging.attachments.rules import caption_errors
from tillhouse.messaging.delivery import status_events
from tillhouse.messaging.events import MESSAGE_SENT, MessageSent
from tillhouse.messaging.sending import GRACE, MESSAGE, REPORT, messenger_of
from tillhouse.messaging.storage.limits import MESSAGES
from tillhouse.messaging.store import conversations, message_search
from tillhouse.messaging.store import messages as store
from tillhouse.messaging.store.quick_replies import QUICK_REPLIES, find_by_shortcut
from tillhouse.messaging.types import (
    DeliveryStatus,
    Message,
    MessageDraft,
    MessageSearch,
    NewMessage,
    Number,
    QueuedMessage,
)
from tillhouse.providers.messaging.provider import OutgoingMessage, Settled, Template
from tillhouse.webhooks.emit import emit_all


class WrittenMessage(msgspec.Struct, frozen=True):
    """A message that was kept; `sending` when somebody has to send it after the commit."""

    message_id: MessageId
    conversation_id: ConversationId
    status: DeliveryStatus
    sending: QueuedMessage | None


async def write(call: Call, number: Number, draft: MessageDraft) -> WrittenMessage | None:
    """Keep a message, queued or settled at once; None when its purpose was served before."""
    message_id = MessageId(new_id())
    outgoing = OutgoingMessage(
        message_id=message_id, to=draft.phone, text=draft.text, template=draft.template
    )
    settled = messenger_of(call.services, number.provider).settle(outgoing)
    row = _row(call, number, draft, outgoing, settled)
    conversation_id = await store.insert_outbound(call.db, row)
    if conversation_id is None:
        return None
    data = MessageSent(
        conversation_id=conversation_id,
        message_id=message_id,
        customer_phone=draft.phone,
        message_type=row.type,
        text=draft.text,
        sent_at=iso(call.now),
    )
    status: DeliveryStatus = "queued"
    name = None
    if settled is not None:
        status = "sent" if settled.outcome.result == "sent" else "failed"
        name = settled.outcome.provider_message_id
    moved = status_events(message_id, conversation_id, status, name)
    await emit_all(call, [(MESSAGE_SENT, data), *moved])
    sending = QueuedMessage(call.book.id, message_id) if settled is None else None
    return WrittenMessage(message_id, conversation_id, status, sending)


def _row(
    call: Call,
    number: Number,
    draft: MessageDraft,
    outgoing: OutgoingMessage,
    settled: Settled | None,
) -> store.OutboundRow:
    outcome = settled.outcome if settled else None
    has_failed = outcome is not None and outcome.result == "failed"
    kind, payload, due_at = _job(call, settled)
    if due_at is not None and due_at <= call.now:
        call.db.queues_jobs = True
    template = draft.template
    return store.OutboundRow(
        book_id=call.book.id,
        id=outgoing.message_id,
        conversation_id=ConversationId(new_id()),
        customer_phone=draft.phone,
        customer_id=draft.customer_id,
        type=draft.kind if template is None else "template",
        text=draft.text,
        template=None if template is None else msgspec.json.encode(template).decode(),
        delivery_status=outcome.result if outcome else "queued",
        provider=number.provider,
        number_id=number.id,
        provider_message_id=outcome.provider_message_id if outcome else None,
        error=outcome.error if outcome else None,
        # A failed message wasn't delivered, so its purpose is free again.
        purpose=None if has_failed else draft.purpose,
        sent_by_id=draft.sent_by_id,
        job_kind=kind,
        job_payload=payload,
        job_due_at=due_at,
        created_at=call.now,
        attachment_id=draft.attachment_id,
    )


def _job(
    call: Call, settled: Settled | None
) -> tuple[str, bytes | None, datetime] | tuple[None, None, None]:
    """The next job of a message: to send it, to report on it, or none."""
    if settled is None:
        # A request sends it itself after its commit; a worker leaves it to the queue.
        is_request = not isinstance(call.caller, SystemCaller)
        return MESSAGE, None, call.now + GRACE if is_request else call.now
    if settled.report is None:
        return None, None, None
    return REPORT, msgspec.json.encode(settled.report), call.now + settled.report_after


async def write_in(
    call: Call, conversation_id: ConversationId, new: NewMessage
) -> tuple[Message, QueuedMessage | None]:
    """Write in a conversation that there is, for a person or a program."""
    check(await new_faults(call, new))
    call.services.storage.check(MESSAGES.name, call.book.id)
    facts = existing(await conversations.find_writing(call.db, call.book.id, conversation_id))
    if facts["number_id"] is None:
        raise rules.NoActiveNumber
    rules.check_window(facts["provider"], new, facts["last_received_at"], call.now)
    template = None
    if new.template is not None:
        filled = [str(text) for text in new.template.parameters]
        template = Template(new.template.name, new.template.language, filled)
    text = _told_by(template) if template is not None else await _text(call, new)
    kind = "text"
    if new.attachment_id is not None:
        attached = await ready_kind(call, new.attachment_id)
        check(faults(lambda: caption_errors(attached, text or None)))
        kind = attached
    draft = MessageDraft(
        phone=facts["customer_phone"],
        text=text,
        attachment_id=new.attachment_id,
        kind=kind,
        customer_id=facts["customer_id"],
        template=template,
        sent_by_id=call.caller.user_id if isinstance(call.caller, UserCaller) else None,
    )
    written = await write(call, Number(facts["number_id"], facts["provider"]), draft)
    assert written is not None, "a message without a purpose is always kept"  # noqa: S101
    return await show(call, written.message_id), written.sending


async def _text(call: Call, new: NewMessage) -> str:
    """The text to be sent: as given, or of a quick reply."""
    if new.quick_reply_id is not None:
        reply = await QUICK_REPLIES.show(call.db, call.book.id, new.quick_reply_id)
        if reply is None:
            raise Invalid(quick_reply_id="is no quick reply of this book")
        return reply.text
    text = str(new.text or "")
    shortcut = rules.shortcut_in(text)
    if shortcut is None:
        return text
    return await find_by_shortcut(call.db, call.book.id, shortcut) or text


async def new_faults(_call: Call, new: NewMessage) -> list[FieldError]:
    """The faults of the message as such."""
    return faults(lambda: rules.message_errors(new))


def _told_by(template: Template) -> str:
    """The placeholder for a template's text, which only WhatsApp knows."""
    return f"[{template.name}] {' · '.join(template.parameters)}".strip()


async def show(call: Call, message_id: MessageId) -> Message:
    """One message."""
    return existing(await store.show_message(call.db, call.book.id, message_id))


async def list_page(call: Call, conversation_id: ConversationId, wanted: Paged) -> PageOf[Message]:
    """One page of a conversation, the latest message first."""
    page = wanted.pick()
    total = existing(await store.count_messages(call.db, call.book.id, conversation_id))
    found = await store.list_messages(call.db, call.book.id, conversation_id, page)
    return PageOf(found, meta(page, total))


async def list_newest(call: Call, wanted: MessageSearch) -> PageOf[Message]:
    """One page of the newest messages of all conversations, or of those that a search finds."""
    page = wanted.pick()
    query = message_search.MessageQuery(
        words=word_query(wanted.search) if wanted.search else None,
        letters=plain_words(wanted.search) if wanted.search else (),
        conversation_id=wanted.conversation_id,
    )
    ids = await _find(call, query)
    shown = ids[page.offset : page.offset + page.per_page]
    found = await store.list_found(call.db, call.book.id, shown) if shown else []
    return PageOf(found, meta(page, len(ids)))


async def _find(call: Call, query: message_search.MessageQuery) -> Sequence[UUID]:
    asked = call.db, call.book.id, query
    if query.words is None:
        return await message_search.find_all(*asked)
    if not query.words:
        # A search of signs alone has no word to find.
        return []
    return await message_search.MESSAGE_SEARCH.find(*asked)
