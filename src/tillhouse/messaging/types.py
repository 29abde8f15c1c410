"""The types that messaging takes, knows and answers."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import BookId, ConversationId, CustomerId, MessageId, NumberId, UserId
from tillhouse.kit.page import Paged
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.text import Coded, Paragraphs, Schema, Value
from tillhouse.kit.values import Moment, Search
from tillhouse.messaging.attachments.types import Attachment, Kind
from tillhouse.providers.messaging.provider import Template

Provider = Literal["sandbox", "whatsapp"]
Direction = Literal["inbound", "outbound"]
ConversationStatus = Literal["open", "snoozed", "closed"]
DeliveryStatus = Literal["queued", "sending", "unknown", "sent", "failed", "delivered", "read"]

TEXT_LENGTH_MAX = 4096
SECRET_LENGTH_MAX = 1000
PARAMETERS_MAX = 20
NOTE_LENGTH_MAX = 4096
ONLINE_SECONDS = 300

PhoneShown = Annotated[str, Meta(examples=["+2348030000000"])]


class MessageText(Paragraphs, shortest=1, longest=TEXT_LENGTH_MAX, example="Your order is ready."):
    """The text of a message: not blank, and no longer than WhatsApp takes."""


class NoteText(Paragraphs, shortest=1, longest=NOTE_LENGTH_MAX, example="Prefers to be called."):
    """The text of a note."""


class Shortcut(
    Coded,
    pattern="^[a-z0-9][a-z0-9_-]{0,31}$",
    wrong="must be 1 to 32 small letters, digits, - and _, and begin with a letter or digit",
    example="hours",
):
    """The short word of a quick reply."""


class Credential(Value):
    """A secret of the provider's: printable, without blanks."""

    SCHEMA: ClassVar[Schema] = {
        "minLength": 1,
        "maxLength": SECRET_LENGTH_MAX,
        "pattern": "^[!-~]+$",
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Something that fits into a header."""
        if not 1 <= len(value) <= SECRET_LENGTH_MAX:
            raise ValueError(f"must have 1 to {SECRET_LENGTH_MAX} characters")
        if not all("!" <= letter <= "~" for letter in value):
            raise ValueError("must be printable ASCII without blanks")
        return value


class Number(msgspec.Struct, frozen=True):
    """The number that a business writes from."""

    id: NumberId
    provider: Provider


class MessageDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is to be written to a customer."""

    phone: str
    text: str
    customer_id: CustomerId | None = None
    # Sent instead of the text, which says the same.
    template: Template | None = None
    # Its purpose: nothing is told twice for the same purpose.
    purpose: str | None = None
    sent_by_id: UserId | None = None
    attachment_id: UUID | None = None
    kind: str = "text"


class QueuedMessage(msgspec.Struct, frozen=True):
    """A message that was queued and is to be sent once that is committed."""

    book_id: BookId
    message_id: MessageId


class NewNumber(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A number to be connected: WhatsApp's in a live book, the sandbox's in a test book."""

    provider: Provider = "whatsapp"
    """`sandbox` in a test book, `whatsapp` in a live one."""
    phone_number: PhoneText | None = None
    provider_number_id: Annotated[str, Meta(pattern="^[0-9]{5,32}$")] | None = None
    access_token: Credential | None = None
    """The token that WhatsApp accepts; sealed, and shown by no answer."""
    app_secret: Credential | None = None
    verify_token: Credential | None = None


class NumberShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A number, without what it takes to write from it."""

    id: NumberId
    provider: Provider
    """The provider of the number."""
    phone_number: PhoneShown
    provider_number_id: str | None
    status: Literal["active", "disabled"]
    # The address that WhatsApp is told to call.
    hook_path: str | None
    created_at: Timestamp
    updated_at: Timestamp


class NewConversation(msgspec.Struct, forbid_unknown_fields=True):
    """Somebody who is to be written to."""

    phone_number: PhoneText


class ConversationPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a conversation; absent fields stay."""

    assignee_id: UserId | UnsetType | None = UNSET
    status: ConversationStatus | UnsetType = UNSET
    snoozed_until: Moment | UnsetType | None = UNSET
    """When a snoozed conversation opens again: with `status` snoozed, within a year."""


class ReadMark(msgspec.Struct, forbid_unknown_fields=True):
    """How far a conversation has been read."""

    message_id: MessageId | None = None
    """The last message that was read; without it all of them were."""


class Assignee(msgspec.Struct, frozen=True):
    """The member who answers a conversation."""

    id: UserId
    name: Annotated[str, Meta(examples=["Ada Okafor"])]


class Correspondent(msgspec.Struct, frozen=True):
    """The customer of a conversation."""

    id: CustomerId
    name: Annotated[str, Meta(examples=["Bola Ahmed"])]


class Conversation(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The messages between the business and one phone number."""

    id: ConversationId
    customer_phone: PhoneShown
    customer: Correspondent | None
    status: ConversationStatus
    snoozed_until: Timestamp | None
    unread_count: Annotated[int, Meta(ge=0, examples=[1])]
    assignee: Assignee | None
    assigned_at: Timestamp | None
    last_message: "Message | None"
    last_message_at: Timestamp
    last_received_at: Timestamp | None
    # Until when the customer may be written to freely; null: a template is needed.
    window_ends_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class ConversationState(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a conversation that members decide on."""

    assignee_id: UserId | None
    status: ConversationStatus
    snoozed_until: datetime | None
    # Since when the customer waits for somebody to be assigned.
    began_waiting_at: datetime | None


class ConversationFilter(Paged):
    """Which conversations, and which page of them."""

    status: ConversationStatus | None = None
    assignee_id: UserId | None = None
    assigned: bool | None = None
    unread: bool | None = None
    customer_id: CustomerId | None = None
    search: Search | None = None
    """Only conversations with a customer whose number or e-mail address this is, or of whose name a
    word begins so: the latest 1,000 of these are found."""


class MessageSearch(Paged):
    """Which messages of all conversations, and which page of them."""

    search: Search | None = None
    """Only messages of which words begin so."""
    conversation_id: ConversationId | None = None
    """Only messages of this conversation."""


class NewNote(msgspec.Struct, forbid_unknown_fields=True):
    """A note to be kept."""

    text: NoteText
    """The text of the note."""


class Note(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A note of a member about a conversation, which no customer sees."""

    id: UUID
    conversation_id: ConversationId
    text: Annotated[str, Meta(examples=["Prefers to be called."])]
    """The text of the note."""
    author: Assignee | None
    created_at: Timestamp


class NewQuickReply(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A text to be kept under a shortcut."""

    shortcut: Shortcut
    text: MessageText
    """The text that is sent."""


class QuickReplyPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a quick reply; absent fields stay."""

    shortcut: Shortcut | UnsetType = UNSET
    text: MessageText | UnsetType = UNSET
    """The text that is sent."""


class QuickReply(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A text that is sent often."""

    id: UUID
    shortcut: Annotated[str, Meta(examples=["hours"])]
    text: Annotated[str, Meta(examples=["We are open from 9 to 18 h."])]
    """The text that is sent."""
    created_at: Timestamp
    updated_at: Timestamp


class PresenceGiven(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Whether a member is online, and for how long unless that is renewed."""

    online: bool = True
    """False: the member goes offline at once."""
    seconds: Annotated[int, Meta(ge=60, le=43_200, examples=[300])] = ONLINE_SECONDS
    """How long the member stays online unless that is renewed."""


class Presence(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A member, and until when the member is online."""

    user_id: UserId
    """The member."""
    name: Annotated[str, Meta(examples=["Ada Okafor"])]
    """The name of the member."""
    online_until: Timestamp | None


class InboxPatch(msgspec.Struct, forbid_unknown_fields=True):
    """A change of the settings of the inbox."""

    assigns_automatically: bool | UnsetType = UNSET


class Inbox(msgspec.Struct, frozen=True, rename="camel"):
    """The settings of the inbox."""

    assigns_automatically: bool


class NewTemplate(msgspec.Struct, forbid_unknown_fields=True):
    """An approved template, and what it is filled with."""

    name: Annotated[str, Meta(pattern="^[a-z0-9_]{1,512}$", examples=["order_ready"])]
    language: Annotated[str, Meta(pattern="^[a-z]{2,3}(?:_[A-Z]{2})?$", examples=["en"])]
    parameters: Annotated[list[MessageText], Meta(max_length=PARAMETERS_MAX)] = []


class NewMessage(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A message to be sent: a text, a quick reply, or a template."""

    text: MessageText | None = None
    """The text of the message, or `/` and the shortcut of a quick reply."""
    quick_reply_id: UUID | None = None
    attachment_id: UUID | None = None
    """A file to be sent; the text, if any, stands below it."""
    template: NewTemplate | None = None
    """An approved template of WhatsApp, in the place of a text."""


class Message(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A message from or to a customer."""

    id: MessageId
    conversation_id: ConversationId
    direction: Direction
    type: Annotated[str, Meta(examples=["text"])]
    """The kind of message, such as `text` or `image`."""
    text: Annotated[str, Meta(examples=["Your order is ready."])]
    # Of an outbound message: how far it got.
    delivery_status: DeliveryStatus | None
    provider: Provider
    """The way that the message went."""
    attachment: Attachment | None
    """The file of the message; null: it has none."""
    provider_message_id: str | None
    error: str | None
    sent_by_id: UserId | None
    created_at: Timestamp
    updated_at: Timestamp


class SandboxInbound(msgspec.Struct, forbid_unknown_fields=True, rename={"sender": "from"}):
    """The message of a simulated customer."""

    sender: PhoneText
    text: MessageText | None = None
    """The text; required unless there is an attachment."""
    attachment_id: UUID | None = None
    """A file that was uploaded, which the customer is to send."""


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """A customer's message, as it is kept."""

    phone: str
    type: str
    text: str
    provider: Provider
    number_id: NumberId
    provider_message_id: str
    # When the customer wrote: the time in which a free answer is allowed begins then.
    at: datetime
    attachment_id: UUID | None = None
    # Of a file that lies at the provider, and is to be fetched as this attachment.
    media_kind: Kind | None = None
    media_filename: str | None = None
    media_id: str | None = None
    media_sha256: str | None = None
