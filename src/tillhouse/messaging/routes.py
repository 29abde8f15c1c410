"""The routes of messaging: numbers, conversations, messages, and the sandbox's customers."""

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope, Session
from tillhouse.kit.ids import ConversationId
from tillhouse.messaging.actions import (
    conversations,
    inbound,
    inbox,
    messages,
    notes,
    numbers,
    quick_replies,
)
from tillhouse.messaging.attachments import actions as attachments
from tillhouse.messaging.rules import ANSWERING
from tillhouse.messaging.sending import send
from tillhouse.messaging.store.messages import show_message
from tillhouse.messaging.types import (
    Message,
    NewMessage,
    QueuedMessage,
)


async def send_message(
    call: Call, conversation_id: ConversationId, body: NewMessage
) -> Reply[Message]:
    """Send a text, a quick reply or a template to the customer of a conversation."""
    message, sending = await messages.write_in(call, conversation_id, body)
    reply = Reply(message)
    if sending is not None:
        reply.after = lambda: _sent(call, message, sending)
    return reply


async def _sent(call: Call, message: Message, sending: QueuedMessage) -> Reply[Message]:
    """The message as it stands once the provider was asked."""
    await send(call.services, sending)
    async with call.services.pool.reading() as db:
        after = await show_message(db, sending.book_id, sending.message_id)
    return Reply(after or message)


_READ = Scope("messaging:read")
_WRITE = Scope("messaging:write")
_ANSWER = Scope("messaging:write", roles=ANSWERING)
_NUMBERS = "/v1/messaging/numbers"
_REPLIES = "/v1/messaging/quick-replies"
_REPLY = _REPLIES + "/{quick_reply_id}"
_INBOX = "/v1/messaging/inbox"
_PRESENCE = "/v1/messaging/presence"
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
    Route("GET", _REPLIES, quick_replies.list_page, _READ,
          "List quick replies, by shortcut", "Quick replies"),
    Route("POST", _REPLIES, quick_replies.create, _WRITE,
          "Keep a text that is sent often, under a shortcut", "Quick reply created",
          status=201, idempotent=True),
    Route("GET", _REPLY, quick_replies.show, _READ, "Read one quick reply", "Quick reply"),
    Route("PATCH", _REPLY, quick_replies.change, _WRITE,
          "Change a quick reply", "Quick reply updated"),
    Route("DELETE", _REPLY, quick_replies.delete, _WRITE,
          "Delete a quick reply", "Quick reply deleted"),
    Route("POST", "/v1/messaging/attachments", attachments.create, _ANSWER,
          "Announce a file to be sent, and get the address to upload it to",
          "Attachment announced", status=201, idempotent=True),
    Route("GET", "/v1/messaging/attachments/{attachment_id}", attachments.show, _READ,
          "Read one attachment, with an address to fetch it from", "Attachment"),
    Route("GET", _INBOX, inbox.show, _READ, "Read the settings of the inbox", "Inbox"),
    Route("PATCH", _INBOX, inbox.change, _WRITE,
          "Switch the automatic assignment of conversations on or off", "Inbox updated"),
    Route("GET", _PRESENCE, inbox.list_online, _READ,
          "List the members who are online, by name", "Members online"),
    Route("PUT", _PRESENCE, inbox.set_presence, Session(),
          "Say that you are online, for some minutes, or no longer", "Presence"),
    Route("GET", _TALKS, conversations.list_page, _READ,
          "List conversations, the latest message first", "Conversations"),
    Route("POST", _TALKS, conversations.begin, _ANSWER,
          "Begin a conversation with a phone number, or find the one there is", "Conversation",
          status=201, idempotent=True,
          faults=conversations.new_faults),
    Route("GET", _TALK, conversations.show, _READ,
          "Read one conversation", "Conversation"),
    Route("PATCH", _TALK, conversations.change, _ANSWER,
          "Assign a conversation, or open, snooze or close it", "Conversation",
          faults=conversations.patch_faults),
    Route("POST", _TALK + "/read", conversations.mark_read, _ANSWER,
          "Mark the messages of a conversation as read, all or up to one", "Conversation",
          idempotent=True),
    Route("GET", _TALK + "/notes", notes.list_page, _READ,
          "List the notes about a conversation, the latest first", "Notes"),
    Route("POST", _TALK + "/notes", notes.create, _ANSWER,
          "Keep a note about a conversation, which no customer sees", "Note kept",
          status=201, idempotent=True),
    Route("GET", "/v1/messages", messages.list_newest, _READ,
          "List the newest messages of all conversations, or search them", "Messages"),
    Route("GET", _TALK + "/messages", messages.list_page, _READ,
          "List the messages of a conversation, the latest first", "Messages"),
    Route("POST", _TALK + "/messages", send_message, _ANSWER,
          "Send a text, a quick reply or a template to the customer of a conversation",
          "Message kept",
          status=201, idempotent=True, faults=messages.new_faults),
)  # fmt: skip
