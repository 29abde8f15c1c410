"""Messages of customers, wherever they come from."""

from datetime import datetime

import msgspec

from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_country
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check
from tillhouse.kit.ids import BookKey, ConversationId, MessageId, new_id
from tillhouse.kit.partial import faults
from tillhouse.messaging import rules
from tillhouse.messaging.actions.messages import show
from tillhouse.messaging.assigning import queue_assignment
from tillhouse.messaging.attachments.actions import ready_kind
from tillhouse.messaging.attachments.fetching import FETCH
from tillhouse.messaging.events import MESSAGE_RECEIVED, MessageReceived
from tillhouse.messaging.storage.limits import MESSAGES
from tillhouse.messaging.store import conversations, numbers
from tillhouse.messaging.store import messages as store
from tillhouse.messaging.types import Incoming, Message, SandboxInbound
from tillhouse.webhooks.emit import Source, emit_from, source


class InboundMessage(msgspec.Struct, frozen=True):
    """A customer's message that was kept."""

    message_id: MessageId
    # Whether its conversation has no assignee: `queue_assignment` is due once all is kept.
    is_waiting: bool


async def receive(
    db: Db, origin: Source, incoming: Incoming, now: datetime
) -> InboundMessage | None:
    """Keep a customer's message and tell of it; None when it came before."""
    message_id = MessageId(new_id())
    key = BookKey(origin.book.id, message_id)
    kept = await store.insert_inbound(db, key, ConversationId(new_id()), incoming, now)
    if kept is None:
        return None
    if not kept.is_new:
        await conversations.update_unread_twice(db, origin.book.id, kept.conversation_id)
        return None
    data = MessageReceived(
        conversation_id=kept.conversation_id,
        message_id=message_id,
        customer_phone=incoming.phone,
        message_type=incoming.type,
        text=incoming.text,
        received_at=iso(now),
    )
    await emit_from(db, origin, MESSAGE_RECEIVED, data, now)
    if incoming.media_id is not None and incoming.attachment_id is not None:
        fetch = NewJob(book_id=origin.book.id, kind=FETCH, subject_id=incoming.attachment_id)
        await queue_job(db, fetch, now, now)
    return InboundMessage(message_id, kept.is_waiting)


async def simulate(call: Call, new: SandboxInbound) -> Message:
    """A customer writes, in the sandbox."""
    if call.book.environment != "test":
        raise rules.SandboxOnly
    country = await find_country(call.db, call.business_id)
    check(_faults(new, country))
    call.services.storage.check(MESSAGES.name, call.book.id)
    number = await numbers.find_active(call.db, call.book.id)
    if number is None:
        raise rules.NoActiveNumber
    kind = "text"
    if new.attachment_id is not None:
        kind = await ready_kind(call, new.attachment_id)
    incoming = Incoming(
        phone=new.sender.e164(country),
        type=kind,
        text=str(new.text or ""),
        attachment_id=new.attachment_id,
        provider="sandbox",
        number_id=number["id"],
        provider_message_id=f"sandbox.{new_id().hex}",
        at=call.now,
    )
    received = await receive(call.db, source(call), incoming, call.now)
    assert received is not None, "its id is new"  # noqa: S101
    if received.is_waiting:
        await queue_assignment(call.db, call.book.id, call.now, call.now)
    return await show(call, received.message_id)


async def inbound_faults(call: Call, new: SandboxInbound) -> list[FieldError]:
    """The faults of the sender."""
    return _faults(new, await find_country(call.db, call.business_id))


def _faults(new: SandboxInbound, country: str) -> list[FieldError]:
    return faults(
        lambda: rules.phone_errors("from", new.sender, country),
        lambda: rules.inbound_errors(new),
    )
