"""Requests and answers of the routes of stock."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import OrderId, ProductId, StoreId, VariantId
from tillhouse.kit.page import Paged
from tillhouse.stock.values import Change, Count, Portion

ITEMS_MAX = 500
REASON_LENGTH_MAX = 500

AdjustmentKind = Literal["adjustment", "purchase", "waste", "opening"]
MoveKind = Literal[
    "opening", "adjustment", "count", "purchase", "waste", "transfer", "sale", "reservation",
    "release", "restore", "return",
]  # fmt: skip
Reason = Annotated[str, Meta(max_length=REASON_LENGTH_MAX, examples=["Delivery of Monday"])]


class NewAdjustment(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """By how much the stock of a variant is to change, and why."""

    variant_id: VariantId
    store_id: StoreId | None = None
    """The store; null: what belongs to the business as a whole."""
    # A purchase and an opening add, waste takes away; only an adjustment may have either sign.
    kind: AdjustmentKind
    """Why stock changes: a purchase and an opening add, waste takes away."""
    quantity: Change
    """By how much stock changes; only an `adjustment` may be negative."""
    reason: Reason | None = None
    allow_negative: bool = False


class NewCountItem(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How much of a variant somebody counted."""

    variant_id: VariantId
    counted: Count


class NewCount(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A count of one variant in one store."""

    store_id: StoreId | None = None
    items: Annotated[list[NewCountItem], Meta(min_length=1, max_length=ITEMS_MAX)]
    """The counted levels, each variant by itself."""
    reason: Reason | None = None


class NewTransferItem(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How much of a variant goes."""

    variant_id: VariantId
    quantity: Portion
    """How much is taken over."""


class NewTransfer(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A transfer between stores; no store means the business as a whole."""

    from_store_id: StoreId | None = None
    to_store_id: StoreId | None = None
    items: Annotated[list[NewTransferItem], Meta(min_length=1, max_length=ITEMS_MAX)]
    """The counts to take over: all of them or none."""
    reason: Reason | None = None


class StockLevel(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How much there is of a variant in one place."""

    id: UUID
    variant_id: VariantId
    product_id: ProductId
    product_name: str
    # Null: the product has no variants of its own.
    variant_name: str | None
    sku: str | None
    store_id: StoreId | None
    """The store; null: the business as a whole."""
    on_hand: Decimal
    # Promised to scheduled orders.
    reserved: Decimal
    available: Decimal
    low_stock_threshold: Decimal | None
    is_low: bool
    updated_at: Timestamp


class StockLevels(msgspec.Struct, frozen=True, rename="camel"):
    """The places that an operation changed."""

    levels: list[StockLevel]


class MoveActor(msgspec.Struct, frozen=True, rename="camel"):
    """The actor of a move."""

    type: Literal["key", "user", "system"]
    """Whether a key, a person or Tillhouse itself moved the stock."""
    id: UUID | None
    """The id of the key or person; null: Tillhouse itself."""
    name: str
    """The name of the key or person, as it was then."""


class StockMove(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One move of stock, as it was noted."""

    id: UUID
    variant_id: VariantId
    product_id: ProductId
    product_name: str
    variant_name: str | None
    store_id: StoreId | None
    """The store; null: the business as a whole."""
    kind: MoveKind
    """Why the stock changed."""
    on_hand_change: Decimal
    reserved_change: Decimal
    order_id: OrderId | None
    """The order that moved the stock; null: it was moved by hand."""
    reason: str | None
    actor: MoveActor | None
    created_at: Timestamp


class LevelFilter(Paged):
    """Which levels, and which page of them."""

    store_id: StoreId | None = None
    variant_id: VariantId | None = None
    product_id: ProductId | None = None
    low: bool | None = None


class MoveFilter(Paged):
    """Which moves, and which page of them."""

    store_id: StoreId | None = None
    variant_id: VariantId | None = None
    order_id: OrderId | None = None
    """Only moves that this order made."""
    kind: MoveKind | None = None
