"""The routes of messaging: numbers, conversations, messages, and the sandbox's customers."""

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.ids import ConversationId
from tillhouse.messaging.actions import conversations, inbound, messages, numbers
from tillhouse.messaging.sending import send
from tillhouse.messaging.store.messages import show_message
from tillhouse.messaging.types import (
    Message,
    NewMessage,
    Sending,
)


async def send_message(
    call: Call, conversation_id: ConversationId, body: NewMessage
) -> Reply[Message]:
    """Send a text or a template to the customer of a conversation."""
    message, sending = await messages.write_in(call, conversation_id, body)
    reply = Reply(message)
    if sending is not None:
        reply.after = lambda: _sent(call, message, sending)
    return reply


async def _sent(call: Call, message: Message, sending: Sending) -> Reply[Message]:
    """The message as it stands once the provider was asked."""
    await send(call.services, sending)
    async with call.services.pool.reading() as db:
        after = await show_message(db, sending.book_id, sending.message_id)
    return Reply(after or message)


_READ = Scope("messaging:read")
_WRITE = Scope("messaging:write")
_NUMBERS = "/v1/messaging/numbers"
_TALKS = "/v1/conversations"
_TALK = _TALKS + "/{conversation_id}"

ROUTES: tuple[Route, ...] = (
    Route("GET", _NUMBERS, numbers.list_page, _READ,
          "List the numbers that the business writes from, the active one first",
          "Messaging numbers"),
    Route("POST", _NUMBERS, numbers.connect, _WRITE,
          "Connect a number to write from", "Messaging number connected",
          status=201, idempotent=True, faults=numbers.number_faults),
    Route("DELETE", _NUMBERS + "/{number_id}", numbers.disconnect, _WRITE,
          "Disconnect a number and forget its credentials", "Messaging number disconnected"),
    Route("POST", "/v1/messaging/sandbox/inbound", inbound.simulate, _WRITE,
          "Simulate a customer who writes, in the test environment", "Message received",
          status=201, idempotent=True, faults=inbound.inbound_faults),
    Route("GET", _TALKS, conversations.list_page, _READ,
          "List conversations, the latest message first", "Conversations"),
    Route("POST", _TALKS, conversations.begin, _WRITE,
          "Begin a conversation with a phone number, or find the one there is", "Conversation",
          status=201, idempotent=True,
          faults=conversations.new_faults),
    Route("GET", _TALK, conversations.show, _READ,
          "Read one conversation", "Conversation"),
    Route("PATCH", _TALK, conversations.change, _WRITE,
          "Assign a conversation to somebody, or to nobody", "Conversation"),
    Route("GET", _TALK + "/messages", messages.list_page, _READ,
          "List the messages of a conversation, the latest first", "Messages"),
    Route("POST", _TALK + "/messages", send_message, _WRITE,
          "Send a text or a template to the customer of a conversation", "Message kept",
          status=201, idempotent=True, faults=messages.new_faults),
)  # fmt: skip
