"""The routes of messaging: numbers, conversations, messages, and the sandbox's customers."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.errors import FieldError
from tillhouse.kit.page import Paged
from tillhouse.messaging.actions import conversations, inbound, messages, numbers
from tillhouse.messaging.sending import send
from tillhouse.messaging.store.messages import show_message
from tillhouse.messaging.types import (
    Conversation,
    ConversationFilter,
    ConversationPatch,
    Message,
    NewConversation,
    NewMessage,
    NewNumber,
    NumberShown,
    SandboxInbound,
    Sending,
)


async def list_numbers(call: Call, query: Paged) -> Reply[list[NumberShown]]:
    """List the numbers that the business writes from, the active one first."""
    found, page = await numbers.list_page(call, query)
    return Reply("Messaging numbers", found, meta=page)


async def connect_number(call: Call, body: NewNumber) -> Reply[NumberShown]:
    """Connect a number to write from."""
    return Reply("Messaging number connected", await numbers.connect(call, body))


async def number_faults(call: Call, body: NewNumber) -> list[FieldError]:
    """The faults of the number."""
    return await numbers.number_faults(call, body)


async def disconnect_number(call: Call, number_id: UUID) -> Reply[NumberShown]:
    """Disconnect a number and forget its credentials."""
    return Reply("Messaging number disconnected", await numbers.disconnect(call, number_id))


async def list_conversations(call: Call, query: ConversationFilter) -> Reply[list[Conversation]]:
    """List conversations, the latest message first."""
    found, page = await conversations.list_page(call, query)
    return Reply("Conversations", found, meta=page)


async def begin_conversation(call: Call, body: NewConversation) -> Reply[Conversation]:
    """Begin a conversation with a phone number, or find the one there is."""
    return Reply("Conversation", await conversations.begin(call, body))


async def conversation_faults(call: Call, body: NewConversation) -> list[FieldError]:
    """The faults of the phone number."""
    return await conversations.new_faults(call, body)


async def show_conversation(call: Call, conversation_id: UUID) -> Reply[Conversation]:
    """Read one conversation."""
    return Reply("Conversation", await conversations.show(call, conversation_id))


async def change_conversation(
    call: Call, conversation_id: UUID, body: ConversationPatch
) -> Reply[Conversation]:
    """Assign a conversation to somebody, or to nobody."""
    return Reply("Conversation", await conversations.change(call, conversation_id, body))


async def list_messages(call: Call, conversation_id: UUID, query: Paged) -> Reply[list[Message]]:
    """List the messages of a conversation, the latest first."""
    found, page = await messages.list_page(call, conversation_id, query)
    return Reply("Messages", found, meta=page)


async def send_message(call: Call, conversation_id: UUID, body: NewMessage) -> Reply[Message]:
    """Send a text or a template to the customer of a conversation."""
    message, sending = await messages.write_in(call, conversation_id, body)
    reply = Reply("Message kept", message)
    if sending is not None:
        reply.after = lambda: _sent(call, message, sending)
    return reply


async def _sent(call: Call, message: Message, sending: Sending) -> Reply[Message]:
    """The message as it stands once the provider was asked."""
    await send(call.services, sending)
    async with call.services.pool.reading() as db:
        after = await show_message(db, sending.book_id, sending.message_id)
    return Reply("Message kept", after or message)


async def message_faults(call: Call, conversation_id: UUID, body: NewMessage) -> list[FieldError]:
    """The faults of the message."""
    _ = call, conversation_id
    return messages.new_faults(body)


async def receive_in_sandbox(call: Call, body: SandboxInbound) -> Reply[Message]:
    """Simulate a customer who writes, in the test environment."""
    return Reply("Message received", await inbound.simulate(call, body))


async def inbound_faults(call: Call, body: SandboxInbound) -> list[FieldError]:
    """The faults of the sender."""
    return await inbound.inbound_faults(call, body)


_READ = Scope("messaging:read")
_WRITE = Scope("messaging:write")
_NUMBERS = "/v1/messaging/numbers"
_TALKS = "/v1/conversations"
_TALK = _TALKS + "/{conversation_id}"

ROUTES: tuple[Route, ...] = (
    Route("GET", _NUMBERS, list_numbers, _READ),
    Route(
        "POST", _NUMBERS, connect_number, _WRITE, status=201, idempotent=True, faults=number_faults
    ),
    Route("DELETE", _NUMBERS + "/{number_id}", disconnect_number, _WRITE),
    Route(
        "POST",
        "/v1/messaging/sandbox/inbound",
        receive_in_sandbox,
        _WRITE,
        status=201,
        idempotent=True,
        faults=inbound_faults,
    ),
    Route("GET", _TALKS, list_conversations, _READ),
    Route(
        "POST",
        _TALKS,
        begin_conversation,
        _WRITE,
        status=201,
        idempotent=True,
        faults=conversation_faults,
    ),
    Route("GET", _TALK, show_conversation, _READ),
    Route("PATCH", _TALK, change_conversation, _WRITE),
    Route("GET", _TALK + "/messages", list_messages, _READ),
    Route(
        "POST",
        _TALK + "/messages",
        send_message,
        _WRITE,
        status=201,
        idempotent=True,
        faults=message_faults,
    ),
)
