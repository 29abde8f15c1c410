"""Requests and answers of the routes of orders."""

from decimal import Decimal
from typing import Annotated, ClassVar, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.customers.types import PersonName
from tillhouse.kit import text
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import (
    CustomerId,
    ProductId,
    PromotionId,
    StoreId,
    TableSessionId,
    TermId,
    VariantId,
)
from tillhouse.kit.money import Amount, Bounded
from tillhouse.kit.page import Meta as PageMeta
from tillhouse.kit.page import Paged
from tillhouse.kit.values import DateOrTimestamp, Moment, Schema, Search, Value
from tillhouse.labels.types import TagName
from tillhouse.products.values import Price

Status = Literal["scheduled", "pending", "completed", "cancelled", "refunded"]
SettableStatus = Literal["scheduled", "pending", "completed", "cancelled"]
PaymentStatus = Literal["pending", "partial", "paid"]
PaymentMethod = Literal["cash", "transfer", "pos", "cloove_pay", "credit", "other"]
ServiceMode = Literal["dine_in", "takeaway", "room_service"]
Stage = Literal["queued", "preparing", "ready", "served"]
Channel = Literal[
    "in_person", "whatsapp", "instagram", "tiktok", "telegram", "twitter", "storefront",
    "dashboard", "checkout", "voice", "other",
]  # fmt: skip

LINES_MAX = 500
MODIFIERS_MAX = 50
TAGS_MAX = 50
NOTES_MAX = 2_000
LINE_NAME_MAX = 200
QUANTITY_LIMIT = 10**9
QUANTITY_DECIMALS = 3


class Quantity(
    Bounded,
    exclusiveMinimum=0,
    exclusiveMaximum=QUANTITY_LIMIT,
    decimals=QUANTITY_DECIMALS,
    wrong="must be more than 0 and less than 10^9",
    example=2,
):
    """How many: more than 0, with at most three decimals."""

    __slots__ = ()


class Label(Value):
    """A short text on one line."""

    SCHEMA: ClassVar[Schema] = {
        "minLength": 1,
        "maxLength": LINE_NAME_MAX,
        "pattern": r"^\s*\S[^\t\n\r]*$",
        "examples": ["Jollof rice"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Trim, and count what is left."""
        cleaned = text.clean(value)
        if not 1 <= len(cleaned) <= LINE_NAME_MAX:
            raise ValueError(f"must have 1 to {LINE_NAME_MAX} characters")
        if any(character in cleaned for character in "\n\r\t"):
            raise ValueError("must be on one line")
        return cleaned


Notes = Annotated[str, Meta(max_length=NOTES_MAX)]
Covers = Annotated[int, Meta(ge=1, le=1_000)]
Reason = Annotated[str, Meta(max_length=500, examples=["Customer changed their mind"])]


class NewModifier(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An option chosen with a line."""

    modifier_group_id: UUID
    modifier_option_id: UUID
    name: Label
    # Counts for a line without a catalog product only: else the catalog's price holds.
    price_delta: Amount | None = None


class NewItem(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A line to be sold; null says no more than leaving a field out."""

    product_name: Label
    quantity: Quantity
    product_id: ProductId | None = None
    variant_id: VariantId | None = None
    custom_price: Price | None = None
    line_type: Literal["product", "fee"] | None = "product"
    modifiers: Annotated[list[NewModifier], Meta(max_length=MODIFIERS_MAX)] | None = []


class NewOrder(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An order to be recorded; null says no more than leaving a field out."""

    items: Annotated[list[NewItem], Meta(min_length=1, max_length=LINES_MAX)]
    payment_method: PaymentMethod | None = "cash"
    amount_paid: Price | None = None
    discount_amount: Price | None = None
    promotion_id: PromotionId | None = None
    customer_id: CustomerId | None = None
    customer_name: PersonName | None = None
    store_id: StoreId | None = None
    store_name: Label | None = None
    channel: Channel | None = None
    tags: Annotated[list[TagName], Meta(max_length=TAGS_MAX)] | None = []
    notes: Notes | None = None
    scheduled_for: Moment | None = None
    occurred_at: Moment | None = None
    service_mode: ServiceMode | None = None
    service_charge_amount: Price | None = None
    table_session_id: TableSessionId | None = None
    table_label: Label | None = None
    covers: Covers | None = None
    send_to_kitchen: bool | None = None
    served_by_user_id: UUID | None = None
    hotel_reservation_id: UUID | None = None
    hotel_room_id: UUID | None = None
    academic_term_id: TermId | None = None


class OrderPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of an order; absent fields stay."""

    status: SettableStatus | UnsetType = UNSET
    customer_id: CustomerId | UnsetType = UNSET
    customer_name: PersonName | UnsetType = UNSET
    payment_method: PaymentMethod | UnsetType = UNSET
    # The whole amount collected so far, not what came in just now.
    amount_paid: Price | UnsetType = UNSET
    total_amount: Price | UnsetType = UNSET
    academic_term_id: TermId | UnsetType | None = UNSET
    scheduled_for: Moment | UnsetType | None = UNSET
    cancellation_reason: Reason | UnsetType = UNSET
    channel_fulfilled: bool | UnsetType = UNSET


class Confirmation(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How a scheduled order is paid as it is confirmed; left out: in full."""

    payment_method: PaymentMethod | None = None
    amount_paid: Price | None = None


class StageChange(msgspec.Struct, forbid_unknown_fields=True):
    """The stage that the kitchen ticket is to have."""

    status: Stage


class OrderFilter(Paged):
    """Which orders, and which page of them."""

    status: Annotated[list[Status], Meta(min_length=1)] | None = None
    payment_status: Annotated[list[PaymentStatus], Meta(min_length=1)] | None = None
    channel: Annotated[list[Channel], Meta(min_length=1)] | None = None
    service_mode: Annotated[list[ServiceMode], Meta(min_length=1)] | None = None
    payment_method: PaymentMethod | None = None
    customer_id: CustomerId | None = None
    store_id: StoreId | None = None
    store_ids: Annotated[list[UUID], Meta(min_length=1, max_length=100)] | None = None
    recorded_by_id: UUID | None = None
    staff_id: UUID | None = None
    served_by_user_id: UUID | None = None
    table_session_id: TableSessionId | None = None
    academic_term_id: TermId | None = None
    tag_ids: Annotated[list[UUID], Meta(min_length=1, max_length=100)] | None = None
    start_date: DateOrTimestamp | None = None
    end_date: DateOrTimestamp | None = None
    search: Search | None = None
    is_automated: bool | None = None
    channel_fulfilled: bool | None = None
    scheduled_only: bool | None = None


class Person(msgspec.Struct, frozen=True, rename="camel"):
    """Somebody, or a program, by name."""

    id: UUID
    name: Annotated[str, Meta(examples=["Ada Okafor"])]


class CustomerShown(msgspec.Struct, frozen=True, rename="camel"):
    """The customer of an order."""

    id: UUID
    name: Annotated[str, Meta(examples=["Chidi Eze"])]
    phone_number: str | None
    whatsapp_number: str | None


class StoreShown(msgspec.Struct, frozen=True, rename="camel"):
    """Where it was sold."""

    id: UUID
    name: str


class TagShown(msgspec.Struct, frozen=True, rename="camel"):
    """A mark on an order."""

    id: UUID
    name: Annotated[str, Meta(examples=["VIP"])]
    slug: Annotated[str, Meta(examples=["vip"])]


class TermShown(msgspec.Struct, frozen=True, rename="camel"):
    """The academic term that an order is for."""

    id: UUID
    name: Annotated[str, Meta(examples=["First term"])]


class ModifierShown(msgspec.Struct, frozen=True, rename="camel"):
    """An option chosen with a line, at its price then."""

    modifier_group_id: UUID
    modifier_option_id: UUID
    name: Annotated[str, Meta(examples=["Extra plantain"])]
    price_delta: Decimal


class ComponentShown(msgspec.Struct, frozen=True, rename="camel"):
    """A component of a bundle that was sold."""

    product_id: ProductId
    variant_id: VariantId
    name: Annotated[str, Meta(examples=["Soft drink"])]
    quantity: Decimal


class ItemShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A line of an order."""

    id: UUID
    line_type: Literal["product", "fee"]
    product_id: ProductId | None
    variant_id: VariantId | None
    product_name: Annotated[str, Meta(examples=["Jollof rice"])]
    variant_name: str | None
    quantity: Decimal
    unit_price: Decimal
    original_unit_price: Decimal
    discount_amount: Decimal
    subtotal_amount: Decimal
    tax_amount: Decimal
    total_price: Decimal
    image_url: str | None
    modifiers: list[ModifierShown]
    components: list[ComponentShown]


class Cancellation(msgspec.Struct, frozen=True, rename="camel"):
    """Why, when and by whom an order was cancelled."""

    reason: str | None
    cancelled_at: Timestamp
    cancelled_by: Person
    previous_status: Status
    restocked: bool


class Deposit(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The virtual account that an order is paid into, and what has come in there."""

    id: UUID
    provider: Annotated[str, Meta(examples=["paystack"])]
    status: Literal["pending", "active", "paid", "expired", "reversed"]
    account_number: Annotated[str, Meta(examples=["9930012345"])]
    bank_name: Annotated[str, Meta(examples=["Wema Bank"])]
    account_name: Annotated[str, Meta(examples=["Ada's Kitchen"])]
    amount: Decimal
    amount_received: Decimal
    currency: str
    expires_at: Timestamp | None
    created_at: Timestamp


class Order(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An order."""

    id: UUID
    short_code: Annotated[str, Meta(examples=["7KQ4M2XB"])]
    status: Status
    payment_status: PaymentStatus
    summary: Annotated[str, Meta(examples=["2 × Jollof rice, 1 × Chicken"])]
    items: list[ItemShown]
    total_amount: Decimal
    subtotal_amount: Decimal
    discount_amount: Decimal
    service_charge_amount: Decimal
    tax_amount: Decimal
    adjustment_amount: Decimal
    amount_paid: Decimal
    remaining_amount: Decimal
    currency: str
    payment_method: PaymentMethod
    customer: CustomerShown | None
    store: StoreShown | None
    channel: Channel
    channel_fulfilled_at: Timestamp | None
    is_automated: bool
    deposit: Deposit | None
    scheduled_for: Timestamp | None
    scheduled_confirmed_at: Timestamp | None
    service_mode: ServiceMode | None
    table_session_id: TableSessionId | None
    table_label: str | None
    covers: int | None
    kitchen_ticket_id: UUID | None
    kitchen_ticket_status: Stage | None
    recorded_by: Person
    served_by: Person | None
    tags: list[TagShown]
    notes: str | None
    receipt_url: str | None
    cancellation: Cancellation | None
    promotion_id: PromotionId | None
    hotel_reservation_id: UUID | None
    hotel_room_id: UUID | None
    occurred_at: Timestamp
    date: Timestamp
    created_at: Timestamp
    updated_at: Timestamp
    entry_source: Annotated[str, Meta(examples=["api"])]
    recovery_session_id: str | None
    academic_term: TermShown | None


class Summary(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Figures of the orders that fit, and of the whole book."""

    today_orders: int
    today_revenue: Decimal
    total_orders: int
    filtered_orders: int
    total_revenue: Decimal
    average_order_value: Decimal
    pending_orders_count: int
    pending_outstanding_amount: Decimal
    completed_orders_count: int
    completed_revenue: Decimal
    cancelled_orders_count: int
    cancelled_revenue: Decimal


class OrderPage(msgspec.Struct, frozen=True):
    """One page of orders with what is told about the whole."""

    orders: list[Order]
    meta: PageMeta
    summary: Summary


class ReceiptLink(msgspec.Struct, frozen=True):
    """Where the receipt is, for seven days."""

    url: Annotated[
        str, Meta(examples=["https://till.example.com/receipts/0198c2f0?until=1&mark=x"])
    ]
