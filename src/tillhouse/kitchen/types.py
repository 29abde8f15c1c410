"""Requests, facts and answers of the kitchen."""

from decimal import Decimal
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import CustomerId, MessageId, OrderId, StoreId, TicketId
from tillhouse.kit.page import Paged
from tillhouse.kit.text import Paragraphs
from tillhouse.messaging import types as messaging

Stage = Literal["queued", "preparing", "ready", "served"]
STAGES: tuple[Stage, ...] = get_args(Stage)

STATION = "kitchen"
TEXT_LENGTH_MAX = 1000
STATION_LENGTH_MAX = 60

Reason = Literal[
    "status_unchanged",
    "auto_send_disabled",
    "already_sent",
    "missing_sale",
    "sale_not_found",
    "missing_customer_phone",
    "whatsapp_not_connected",
    "empty_message",
    "notification_error",
    "whatsapp_send_failed",
]


class SaleFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about an order that the kitchen needs; the caller gives them."""

    order_id: OrderId
    short_code: str
    store_id: StoreId | None = None
    customer_id: CustomerId | None = None
    customer_name: str | None = None
    # In E.164: the customer's WhatsApp number, else the phone.
    customer_phone: str | None = None
    table_label: str | None = None


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """A kitchen ticket as the rooms above need it."""

    id: TicketId
    order_id: OrderId
    station: str
    status: Stage
    is_closed: bool = False


class MovedTicket(msgspec.Struct, frozen=True):
    """The result of moving a ticket; one that stood there already is not changed."""

    ticket: Ticket
    previous: Stage
    is_changed: bool


class Notification(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether the customer was told of a stage, and if not, why."""

    status: Literal["sent", "skipped", "failed"]
    """Whether the customer was told."""
    reason: Reason | UnsetType = UNSET
    """Why the customer was not told; absent when the message was sent."""
    message_id: MessageId | UnsetType = UNSET
    """The message to the customer; absent when there is none."""
    customer_name: str | UnsetType | None = UNSET
    """The name of the customer; absent when no customer was told."""
    customer_phone: str | UnsetType = UNSET
    """The number that was written to; absent when no customer was told."""


class NotificationMeta(msgspec.Struct):
    """The facts beside an order that moved in the kitchen."""

    notification: Notification
    """Whether the customer was told of the stage, and if not, why."""


class Notified(msgspec.Struct):
    """The members of an answer that tells of a notification."""

    meta: NotificationMeta


class NotificationSending(msgspec.Struct, frozen=True):
    """A message that waits for the commit, and the answer once it went."""

    message: messaging.QueuedMessage
    notification: Notification


class CustomerNotice(msgspec.Struct, frozen=True):
    """The notification as it stands in the transaction; `sending` when a provider is to be asked.

    Without a `sending` it is final. With one it says what holds if the provider is never asked: the
    message is kept, and a worker sends it.
    """

    notification: Notification
    sending: NotificationSending | None = None


class TicketShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A ticket on the board, with what the cook needs of its order."""

    id: TicketId
    order_id: OrderId
    """The order that is prepared."""
    short_code: Annotated[str, Meta(examples=["7KQ4M2XB"])]
    station: Annotated[str, Meta(examples=["kitchen"])]
    status: Stage
    summary: Annotated[str, Meta(examples=["2 × Jollof rice, 1 × Chicken"])]
    notes: str | None
    store_id: StoreId | None
    table_label: str | None
    service_mode: Literal["dine_in", "takeaway", "room_service"] | None
    customer_name: str | None
    """The name of the customer; null: not known."""
    items: list["TicketItem"]
    """The dish or thing to prepare."""
    # How long it has stood at its stage; once served or closed, until then.
    seconds_in_stage: int
    queued_at: Timestamp
    preparing_at: Timestamp | None
    ready_at: Timestamp | None
    served_at: Timestamp | None
    closed_at: Timestamp | None
    updated_at: Timestamp


class TicketItem(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One line of what is to be prepared."""

    product_name: Annotated[str, Meta(examples=["Jollof rice"])]
    variant_name: str | None
    quantity: Decimal
    modifiers: list[str]
    """The names of the options chosen with it."""


class TicketFilter(Paged):
    """Which tickets, and which page of them."""

    status: Annotated[list[Stage], Meta(min_length=1)] | None = None
    """Only tickets at one of these stages, split by commas."""
    station: Annotated[str, Meta(min_length=1, max_length=STATION_LENGTH_MAX)] | None = None
    store_id: StoreId | None = None
    """Only tickets of this store's orders."""
    all: bool = False


class StageText(
    Paragraphs,
    longest=TEXT_LENGTH_MAX,
    description="Placeholders: {customer}, {code}, {table}",
    example="Hi {customer}, your order {code} is ready.",
):
    """The message at a stage; a blank one is allowed and sends nothing."""


class StageTemplate(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An approved template of WhatsApp, for customers who may not be written to freely.

    Its parameters {{1}}, {{2}}, … are the placeholders of the text, in their order.
    """

    name: Annotated[str, Meta(pattern="^[a-z0-9_]{1,512}$", examples=["order_ready"])]
    language: Annotated[str, Meta(pattern="^[a-z]{2,3}(?:_[A-Z]{2})?$", examples=["en"])]


class NewStageMessage(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The message to be sent at one stage."""

    stage: Stage
    is_sent: bool
    text: StageText
    """The text that customers get; `{customer}`, `{code}` and `{table}` are filled in."""
    template: StageTemplate | None = None


class StageMessages(msgspec.Struct, forbid_unknown_fields=True):
    """Messages to be set; a stage that isn't named stays as it is."""

    messages: Annotated[list[NewStageMessage], Meta(min_length=1, max_length=len(STAGES))]


class StageMessage(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The message of a stage, if there is one."""

    stage: Stage
    is_sent: bool
    text: Annotated[str, Meta(examples=["Hi {customer}, your order {code} is ready."])]
    """The text that customers get; `{customer}`, `{code}` and `{table}` are filled in."""
    template: StageTemplate | None
    updated_at: Timestamp | None
    """When the text was set; null: it is a suggestion."""
