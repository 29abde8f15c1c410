"""The events of orders and of their payments."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.events import EventType
from tillhouse.webhooks.events import ChangeData

Phone = Annotated[str, Meta(examples=["+2348030000000"])]


class PaidLink(msgspec.Struct, rename="camel"):
    """The payment link that a payment came through."""

    id: UUID
    reference: str
    target_type: Literal["sale", "debt", "wallet", "reservation"]
    target_id: UUID | None
    amount: Decimal
    currency: Annotated[str, Meta(examples=["NGN"])]


class Payer(msgspec.Struct, rename="camel"):
    """The customer who paid through a link."""

    id: UUID
    name: str | None
    email: str | None
    phone_number: Phone | None


class PaymentData(ChangeData, rename="camel"):
    """A payment; the last two only when it came through a payment link."""

    payment_link: PaidLink | UnsetType = UNSET
    customer: Payer | UnsetType = UNSET
    """The customer of the link."""


ORDER_CREATED = EventType("order.created", "An order was recorded", "Orders", ChangeData)
ORDER_UPDATED = EventType("order.updated", "An order changed", "Orders", ChangeData)
ORDER_CANCELLED = EventType(
    "order.cancelled", "An order was cancelled or deleted", "Orders", ChangeData
)
PAYMENT_RECEIVED = EventType("payment.received", "A payment was recorded", "Payments", PaymentData)

EVENTS = (
    ORDER_CREATED,
    ORDER_UPDATED,
    ORDER_CANCELLED,
    PAYMENT_RECEIVED,
)
