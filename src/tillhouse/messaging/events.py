"""The events of messages and conversations."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import ConversationId, MessageId, UserId

Phone = Annotated[str, Meta(examples=["+2348030000000"])]


class MessageReceived(msgspec.Struct, rename="camel"):
    """A message from a customer."""

    conversation_id: ConversationId
    message_id: MessageId
    customer_phone: Phone
    message_type: Annotated[str, Meta(examples=["text"])]
    text: Annotated[str, Meta(examples=["Is my order ready?"])]
    received_at: Timestamp


class MessageSent(msgspec.Struct, rename="camel"):
    """A message to a customer."""

    conversation_id: ConversationId
    message_id: MessageId
    customer_phone: Phone
    message_type: Annotated[str, Meta(examples=["text"])]
    text: Annotated[str, Meta(examples=["Your order is ready."])]
    sent_at: Timestamp


class MessageDelivery(msgspec.Struct, rename="camel"):
    """The outcome of a message to a customer."""

    message_id: MessageId
    conversation_id: ConversationId
    delivery_status: Literal["sent", "delivered", "read", "failed"]
    """How far the message got."""
    meta_message_id: str | None


class Assigned(msgspec.Struct, rename="camel"):
    """A conversation and who answers it."""

    conversation_id: ConversationId
    assignee_id: UserId | None
    assignee_name: str | None
    assigned_at: Timestamp
    is_automatic: bool = False


MESSAGE_RECEIVED = EventType(
    "messaging.message.received", "A customer wrote", "Messaging", MessageReceived
)
MESSAGE_SENT = EventType(
    "messaging.message.sent", "A message to a customer was kept", "Messaging", MessageSent
)
MESSAGE_DELIVERY_UPDATED = EventType(
    "messaging.message.delivery_updated",
    "A message was sent, delivered, read, or failed",
    "Messaging",
    MessageDelivery,
)
CONVERSATION_ASSIGNED = EventType(
    "messaging.conversation.assigned", "A conversation was assigned", "Messaging", Assigned
)

EVENTS = (
    MESSAGE_RECEIVED,
    MESSAGE_SENT,
    MESSAGE_DELIVERY_UPDATED,
    CONVERSATION_ASSIGNED,
)
