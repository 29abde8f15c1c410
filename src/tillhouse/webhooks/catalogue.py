"""Every event that an endpoint can subscribe to: the one place with its name, words and shape."""

from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp

TEST = "webhook.test"
API_VERSION = "v1"

Phone = Annotated[str, Meta(examples=["+2348030000000"])]


class CallData(msgspec.Struct, rename="camel"):
    """A voice call."""

    call_id: UUID
    status: Annotated[str, Meta(examples=["completed"])]
    direction: Annotated[str, Meta(examples=["outbound"])]
    duration_seconds: int | None
    recording_url: str | None


class AgentData(msgspec.Struct, rename="camel"):
    """A voice agent."""

    id: UUID
    name: Annotated[str, Meta(examples=["Front desk"])]
    status: Annotated[str, Meta(examples=["active"])]
    store_id: UUID | None
    language: Annotated[str, Meta(examples=["en-NG"])]
    tone: Annotated[str, Meta(examples=["friendly"])]
    is_default: bool
    updated_at: Timestamp


class MessageReceived(msgspec.Struct, rename="camel"):
    """A message from a customer."""

    conversation_id: UUID
    message_id: UUID
    customer_phone: Phone
    message_type: Annotated[str, Meta(examples=["text"])]
    text: Annotated[str, Meta(examples=["Is my order ready?"])]
    received_at: Timestamp


class MessageSent(msgspec.Struct, rename="camel"):
    """A message to a customer."""

    conversation_id: UUID
    message_id: UUID
    customer_phone: Phone
    message_type: Annotated[str, Meta(examples=["text"])]
    text: Annotated[str, Meta(examples=["Your order is ready."])]
    sent_at: Timestamp


class MessageDelivery(msgspec.Struct, rename="camel"):
    """What became of a message to a customer."""

    message_id: UUID
    conversation_id: UUID
    delivery_status: Literal["sent", "delivered", "read", "failed"]
    meta_message_id: str | None


class Assigned(msgspec.Struct, rename="camel"):
    """A conversation and who answers it."""

    conversation_id: UUID
    assignee_id: UUID | None
    assignee_name: str | None
    assigned_at: Timestamp


class PaidLink(msgspec.Struct, rename="camel"):
    """The payment link that a payment came through."""

    id: UUID
    reference: str
    target_type: Literal["sale", "debt", "wallet"]
    target_id: UUID | None
    amount: Decimal
    currency: Annotated[str, Meta(examples=["NGN"])]


class Payer(msgspec.Struct, rename="camel"):
    """The customer who paid through a link."""

    id: UUID
    name: str | None
    email: str | None
    phone_number: Phone | None


class ChangeData(msgspec.Struct, rename="camel"):
    """A change of something that is fetched by its id."""

    business_id: UUID
    event_type: Annotated[str, Meta(examples=["ORDER_CREATED"])]
    entity_type: Annotated[str, Meta(examples=["sale"])]
    entity_id: UUID
    store_id: UUID | None
    metadata: dict[str, Any]
    occurred_at: Timestamp


class PaymentData(ChangeData, rename="camel"):
    """A payment; the last two only when it came through a payment link."""

    payment_link: PaidLink | UnsetType = UNSET
    customer: Payer | UnsetType = UNSET


class ProductData(msgspec.Struct, rename="camel"):
    """A product."""

    id: UUID
    name: Annotated[str, Meta(examples=["Jollof rice"])]
    type: Annotated[str, Meta(examples=["simple"])]
    base_price: Decimal
    category_id: UUID | None
    unit: str | None
    is_active: bool
    is_extra_only: bool
    updated_at: Timestamp


class ReservationData(msgspec.Struct, rename="camel"):
    """A hotel reservation."""

    id: UUID
    status: Literal["booked", "checked_in", "checked_out", "cancelled"]
    guest_id: UUID
    room_id: UUID | None
    check_in_date: Annotated[str, Meta(examples=["2026-02-01"])]
    check_out_date: Annotated[str, Meta(examples=["2026-02-03"])]


class ServiceRequestData(msgspec.Struct, rename="camel"):
    """What a guest asked for."""

    id: UUID
    category: Annotated[str, Meta(examples=["housekeeping"])]
    status: Literal["open", "in_progress", "done"]
    guest_id: UUID | None
    reservation_id: UUID | None
    room_id: UUID | None
    source: Annotated[str, Meta(examples=["front_desk"])]


class TestData(msgspec.Struct, rename="camel"):
    """A test of an endpoint."""

    endpoint_id: UUID
    message: str


class EventType(msgspec.Struct, frozen=True):
    """One kind of event."""

    name: str
    label: str
    group: str
    data: type[msgspec.Struct]


CATALOGUE: tuple[EventType, ...] = (
    EventType("voice.call.started", "A call was answered", "Voice", CallData),
    EventType("voice.call.completed", "A call ended well", "Voice", CallData),
    EventType("voice.call.failed", "A call failed or was missed", "Voice", CallData),
    EventType("voice.recording.ready", "A recording can be fetched", "Voice", CallData),
    EventType("voice.agent.created", "An agent was created or duplicated", "Voice", AgentData),
    EventType("voice.agent.updated", "An agent was changed", "Voice", AgentData),
    EventType("voice.agent.deleted", "An agent was deleted", "Voice", AgentData),
    EventType("messaging.message.received", "A customer wrote", "Messaging", MessageReceived),
    EventType(
        "messaging.message.sent", "A message to a customer was kept", "Messaging", MessageSent
    ),
    EventType(
        "messaging.message.delivery_updated",
        "A message was sent, delivered, read, or failed",
        "Messaging",
        MessageDelivery,
    ),
    EventType(
        "messaging.conversation.assigned", "A conversation was assigned", "Messaging", Assigned
    ),
    EventType("order.created", "An order was recorded", "Orders", ChangeData),
    EventType("order.updated", "An order changed", "Orders", ChangeData),
    EventType("order.cancelled", "An order was cancelled or deleted", "Orders", ChangeData),
    EventType("payment.received", "A payment was recorded", "Payments", PaymentData),
    EventType("contact.created", "A customer was created", "Customers", ChangeData),
    EventType("contact.updated", "A customer was changed", "Customers", ChangeData),
    EventType("inventory.low_stock", "Stock fell to its threshold", "Inventory", ChangeData),
    EventType("inventory.out_of_stock", "Stock reached zero", "Inventory", ChangeData),
    EventType("wallet.withdrawal.requested", "A withdrawal began", "Wallet", ChangeData),
    EventType("wallet.withdrawal.completed", "A withdrawal settled", "Wallet", ChangeData),
    EventType("wallet.withdrawal.failed", "A withdrawal failed", "Wallet", ChangeData),
    EventType("wallet.deposit", "Money came into the wallet", "Wallet", ChangeData),
    EventType("kitchen_ticket.created", "An order went to the kitchen", "Kitchen", ChangeData),
    EventType("kitchen_ticket.status_updated", "A ticket changed stage", "Kitchen", ChangeData),
    EventType("product.created", "A product was created", "Products", ProductData),
    EventType("product.updated", "A product was changed", "Products", ProductData),
    EventType("product.deleted", "A product was deleted", "Products", ProductData),
    EventType("hotel.reservation.created", "A stay was booked", "Hotel", ReservationData),
    EventType("hotel.reservation.checked_in", "A guest checked in", "Hotel", ReservationData),
    EventType("hotel.reservation.checked_out", "A guest checked out", "Hotel", ReservationData),
    EventType("hotel.reservation.cancelled", "A stay was cancelled", "Hotel", ReservationData),
    EventType(
        "hotel.service_request.created", "A guest asked for something", "Hotel", ServiceRequestData
    ),
)

BY_NAME: dict[str, EventType] = {event.name: event for event in CATALOGUE}

# Sent by the test operation alone; nobody subscribes to it.
TEST_EVENT = EventType(TEST, "A test of an endpoint", "Webhooks", TestData)
