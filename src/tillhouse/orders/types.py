"""Requests and answers of the routes of orders."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.customers.types import PersonName
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
from tillhouse.kit.money import Amount
from tillhouse.kit.page import PagedByChange
from tillhouse.kit.values import DateOrTimestamp, Moment, Search
from tillhouse.labels.types import TagName
from tillhouse.orders.money_types import (
    DisputeShown,
    GivenMethod,
    PaymentMethod,
    PaymentShown,
    Person,
    RefundShown,
)
from tillhouse.orders.values import LineQuantity, ShortText
from tillhouse.products.values import Price, Rate

Status = Literal["scheduled", "pending", "completed", "cancelled", "refunded"]
SettableStatus = Literal["scheduled", "pending", "completed", "cancelled"]
PaymentStatus = Literal["pending", "partial", "paid"]
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


Notes = Annotated[str, Meta(max_length=NOTES_MAX)]
Covers = Annotated[int, Meta(ge=1, le=1_000)]
Reason = Annotated[str, Meta(max_length=500, examples=["Customer changed their mind"])]


class NewModifier(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An option chosen with a line."""

    modifier_group_id: UUID
    modifier_option_id: UUID
    name: ShortText | None = None
    """Required for a line without a catalog product: else the catalog's name holds."""
    price_delta: Amount | None = None
    """Counts only for a line without a catalog product: else the catalog's price holds."""


class NewItem(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A line to be sold; null says no more than leaving a field out."""

    product_name: ShortText | None = None
    """The name of what is sold. Required without `product_id`: a catalog product shows its own."""
    quantity: LineQuantity
    product_id: ProductId | None = None
    """The product of the catalog; without one the line needs a `custom_price`."""
    variant_id: VariantId | None = None
    """The variant; required where the product has several."""
    custom_price: Price | None = None
    line_type: Literal["product", "fee"] | None = "product"
    tax_rate: Rate | None = None
    """The tax of a line without `product_id`, in per cent; a product of the catalog brings its
    own, also at a `custom_price`. Left out or null: none."""
    modifiers: Annotated[list[NewModifier], Meta(max_length=MODIFIERS_MAX)] | None = []
    """The options chosen with the line, at the catalog's prices."""


class NewOrder(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An order to be recorded; null says no more than leaving a field out."""

    items: Annotated[list[NewItem], Meta(min_length=1, max_length=LINES_MAX)]
    """The lines to be sold."""
    payment_method: GivenMethod | None = "cash"
    amount_paid: Price | None = None
    """The amount paid already. Left out or null: nothing."""
    discount_amount: Price | None = None
    """An amount to take off after the promotion; it is spread over the lines."""
    promotion_id: PromotionId | None = None
    """The promotion to apply; the order is refused when it doesn't apply."""
    customer_id: CustomerId | None = None
    customer_name: PersonName | None = None
    """A customer by name, in the place of `customer_id`: found, or made."""
    store_id: StoreId | None = None
    store_name: ShortText | None = None
    channel: Channel | None = None
    tags: Annotated[list[TagName], Meta(max_length=TAGS_MAX)] | None = []
    """Tags by id, slug or name; unknown names become tags."""
    notes: Notes | None = None
    scheduled_for: Moment | None = None
    occurred_at: Moment | None = None
    """When a sale of the past happened: its stock passes, and the kitchen isn't asked. Up to five
    minutes ahead it counts as now."""
    service_mode: ServiceMode | None = None
    service_charge_amount: Price | None = None
    """Left out or null: by the setting of the business, 0 where it has none for the
    `service_mode`, and for sales of the past."""
    table_session_id: TableSessionId | None = None
    """The open table session that the order belongs to."""
    table_label: ShortText | None = None
    covers: Covers | None = None
    send_to_kitchen: bool | None = None
    served_by_user_id: UUID | None = None
    hotel_reservation_id: UUID | None = None
    """The stay that the order is charged to; its guest is the customer, unless another is named."""
    hotel_room_id: UUID | None = None
    """The room whose stay the order is charged to, as long as somebody is checked in there."""
    academic_term_id: TermId | None = None
    """The academic term that the order is for."""


class OrderPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of an order; absent fields stay."""

    status: SettableStatus | UnsetType = UNSET
    """The status to set; which one may follow which is told by the guide."""
    customer_id: CustomerId | UnsetType = UNSET
    customer_name: PersonName | UnsetType = UNSET
    payment_method: GivenMethod | UnsetType = UNSET
    amount_paid: Price | UnsetType = UNSET
    """The whole amount collected so far, not what came in just now."""
    total_amount: Price | UnsetType = UNSET
    """A new total: the difference becomes `adjustmentAmount`, the lines stay as they are."""
    academic_term_id: TermId | UnsetType | None = UNSET
    scheduled_for: Moment | UnsetType | None = UNSET
    """When the order is wanted; null takes the time off."""
    cancellation_reason: Reason | UnsetType = UNSET
    channel_fulfilled: bool | UnsetType = UNSET
    if_amount_paid: Price | UnsetType = UNSET
    """The `amountPaid` that the caller saw: where it is another by now, nothing is done, and the
    answer is 409."""


class Confirmation(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How a scheduled order is paid as it is confirmed; left out: in full."""

    payment_method: GivenMethod | None = None
    """How it is paid. Left out or null: as the order says."""
    amount_paid: Price | None = None
    """The amount paid so far in all. Left out or null: the full total."""


class StageChange(msgspec.Struct, forbid_unknown_fields=True):
    """The stage that the kitchen ticket is to have."""

    status: Stage
    """The stage to set, in any direction."""


class OrderFilter(PagedByChange):
    """Which orders, and which page of them."""

    status: Annotated[list[Status], Meta(min_length=1)] | None = None
    """Only orders with one of these statuses, split by commas."""
    payment_status: Annotated[list[PaymentStatus], Meta(min_length=1)] | None = None
    channel: Annotated[list[Channel], Meta(min_length=1)] | None = None
    service_mode: Annotated[list[ServiceMode], Meta(min_length=1)] | None = None
    payment_method: GivenMethod | None = None
    customer_id: CustomerId | None = None
    store_id: StoreId | None = None
    """Only orders of this store, and those without a store."""
    store_ids: Annotated[list[UUID], Meta(min_length=1, max_length=100)] | None = None
    """Only orders of these stores, split by commas."""
    recorded_by_id: UUID | None = None
    staff_id: UUID | None = None
    served_by_user_id: UUID | None = None
    table_session_id: TableSessionId | None = None
    academic_term_id: TermId | None = None
    tag_ids: Annotated[list[UUID], Meta(min_length=1, max_length=100)] | None = None
    start_date: DateOrTimestamp | None = None
    """From this day or moment on; a day is the business's, or the store's with `store_id`."""
    end_date: DateOrTimestamp | None = None
    """Up to this day, all of it, or up to this moment; days as in `start_date`."""
    search: Search | None = None
    """Only orders whose short code, or a word of the customer's name, begins so."""
    is_automated: bool | None = None
    channel_fulfilled: bool | None = None
    scheduled_only: bool | None = None


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
    """How much of it each bundle took."""


class ItemShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A line of an order."""

    id: UUID
    line_type: Literal["product", "fee"]
    product_id: ProductId | None
    """The product of the catalog; null for a line without one."""
    variant_id: VariantId | None
    """The variant of the product; null for a line without a catalog product."""
    product_name: Annotated[str, Meta(examples=["Jollof rice"])]
    variant_name: str | None
    quantity: Decimal
    unit_price: Decimal
    original_unit_price: Decimal
    discount_amount: Decimal
    """The line's share of promotion and discount."""
    subtotal_amount: Decimal
    tax_amount: Decimal
    """The tax of the line, by its product's rate on what is left after discounts."""
    total_price: Decimal
    image_url: str | None
    modifiers: list[ModifierShown]
    components: list[ComponentShown]


class Cancellation(msgspec.Struct, frozen=True, rename="camel"):
    """Why, when and by whom an order was cancelled."""

    reason: str | None
    """Why the order was cancelled; null: not said."""
    cancelled_at: Timestamp
    cancelled_by: Person
    previous_status: Status
    restocked: bool


class Deposit(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The virtual account that an order is paid into, and what has come in there."""

    id: UUID
    provider: Annotated[str, Meta(examples=["paystack"])]
    """The payment provider that holds the account."""
    status: Literal["pending", "active", "paid", "expired", "reversed"]
    account_number: Annotated[str, Meta(examples=["9930012345"])] | None
    """The number to transfer to; null until the provider has opened the account."""
    bank_name: Annotated[str, Meta(examples=["Wema Bank"])] | None
    """The bank that it is at."""
    account_name: Annotated[str, Meta(examples=["Ada's Kitchen"])] | None
    """The name that it is held in."""
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
    """The lines of the order."""
    total_amount: Decimal
    subtotal_amount: Decimal
    """The cost of all lines before discounts and tax."""
    discount_amount: Decimal
    """The amount that promotion and discount take off in all."""
    service_charge_amount: Decimal
    """The service charge, added after discounts and not taxed."""
    tax_amount: Decimal
    """The tax of all lines."""
    adjustment_amount: Decimal
    amount_paid: Decimal
    remaining_amount: Decimal
    change_amount: Decimal
    """The part of the amount paid that was handed out again in cash."""
    refunded_amount: Decimal
    """The part of the sale that was given back: what is due is the total less that."""
    tip_amount: Decimal
    """The tips of all payments; they are no part of the amount paid."""
    currency: str
    payment_method: PaymentMethod
    payments: list[PaymentShown]
    """The payments of the order and their corrections, the oldest first."""
    refunds: list[RefundShown]
    """The refunds of the order, the oldest first."""
    disputes: list[DisputeShown]
    """The disputes of its payments, the oldest first; more by `GET /v1/disputes/{dispute_id}`."""
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
    """When the sale happened."""
    date: Timestamp
    """The same as `occurredAt`."""
    created_at: Timestamp
    updated_at: Timestamp
    entry_source: Annotated[str, Meta(examples=["api"])]
    recovery_session_id: str | None
    academic_term: TermShown | None


class ReceiptLink(msgspec.Struct, frozen=True):
    """Where the receipt is, for seven days."""

    url: Annotated[
        str, Meta(examples=["https://till.example.com/receipts/0198c2f0?until=1&mark=x"])
    ]
