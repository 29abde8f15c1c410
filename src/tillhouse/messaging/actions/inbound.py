"""Messages of customers, wherever they come from."""

from datetime import datetime

from tillhouse.access.call import Call
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check
from tillhouse.kit.ids import BookKey, ConversationId, MessageId, new_id
from tillhouse.kit.partial import faults
from tillhouse.messaging import rules
from tillhouse.messaging.actions.messages import show
from tillhouse.messaging.events import MESSAGE_RECEIVED, MessageReceived
from tillhouse.messaging.store import messages as store
from tillhouse.messaging.store import numbers
from tillhouse.messaging.types import Incoming, Message, SandboxInbound
from tillhouse.webhooks.emit import Source, emit_from, source


async def receive(db: Db, origin: Source, incoming: Incoming, now: datetime) -> MessageId | None:
    """Keep a customer's message and tell of it; its id, None when it came before."""
    message_id = MessageId(new_id())
    key = BookKey(origin.book.id, message_id)
    conversation_id = await store.insert_inbound(db, key, ConversationId(new_id()), incoming, now)
    if conversation_id is None:
        return None
    data = MessageReceived(
        conversation_id=conversation_id,
        message_id=message_id,
        customer_phone=incoming.phone,
        message_type=incoming.type,
        text=incoming.text,
        received_at=iso(now),
    )
    await emit_from(db, origin, MESSAGE_RECEIVED, data, now)
    return message_id


async def simulate(call: Call, new: SandboxInbound) -> Message:
    """A customer writes, in the sandbox."""
    if call.book.environment != "test":
        raise rules.SandboxOnly
    country = await numbers.find_country(call.db, call.business_id)
    check(_faults(new, country))
    number = await numbers.find_active(call.db, call.book.id)
    if number is None:
        raise rules.NotConnected
    incoming = Incoming(
        phone=new.sender.e164(country),
        type="text",
        text=str(new.text),
        provider="sandbox",
        number_id=number["id"],
        provider_message_id=f"sandbox.{new_id().hex}",
        at=call.now,
    )
    message_id = await receive(call.db, source(call), incoming, call.now)
    assert message_id is not None, "its id is new"  # noqa: S101
    return await show(call, message_id)


async def inbound_faults(call: Call, new: SandboxInbound) -> list[FieldError]:
    """The faults of the sender."""
    return _faults(new, await numbers.find_country(call.db, call.business_id))


def _faults(new: SandboxInbound, country: str) -> list[FieldError]:
    return faults(lambda: rules.phone_errors("from", new.sender, country))
