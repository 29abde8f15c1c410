"""Facts about the book that the rules need before an order is recorded."""

from decimal import Decimal
from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.kit.ids import CategoryId, ProductId, StoreId, VariantId
from tillhouse.orders.types import CustomerShown, TagShown, TermShown

Policy = Literal["deny", "allow"]


class Trade(msgspec.Struct, frozen=True, kw_only=True):
    """How the business trades."""

    type: str
    currency: str
    time_zone: str
    tax_inclusive: bool
    stock_policy: Policy
    restocks_cancelled: bool
    # In per cent; None where orders that name no charge have none.
    service_charge_percent: Decimal | None
    service_charge_modes: list[str]


class StoreFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The store of the order."""

    id: StoreId
    name: str
    is_active: bool
    time_zone: str | None
    preparation_minutes: int


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The table session that is charged."""

    status: str
    label: str
    store_id: StoreId | None


class StayFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The stay in a hotel that is charged, and the customer that its guest is."""

    id: UUID
    status: str
    short_code: str
    room_id: UUID
    room_number: str
    customer: CustomerShown


class RoomFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The hotel room that is charged, and the stay that is checked in there."""

    id: UUID
    number: str
    stay: StayFacts | None


class GroupFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A modifier group of a product."""

    id: UUID
    name: str
    min_choices: int
    max_choices: int | None


class OptionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A modifier option that a line asks for."""

    id: UUID
    modifier_group_id: UUID
    name: str
    price_delta: Decimal
    is_active: bool


class VariantFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A variant with what there is of it where the order is."""

    id: VariantId
    product_id: ProductId
    product_name: str
    name: str
    is_implicit: bool
    is_active: bool
    price: Decimal | None
    store_price: Decimal | None
    image_url: str | None
    tracks_stock: bool
    stock_policy: Policy | None
    low_stock_threshold: Decimal | None
    # Whether there is a row for it, and of which store: null is the whole business's.
    has_level: bool
    level_store_id: StoreId | None


class ComponentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a bundle."""

    quantity: Decimal
    variant: VariantFacts


class ProductFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A product that a line names."""

    id: ProductId
    name: str
    type: str
    category_id: CategoryId | None
    base_price: Decimal
    tax_rate: Decimal
    image_url: str | None
    is_active: bool
    is_extra_only: bool
    groups: list[GroupFacts]
    variants: list[VariantFacts]
    components: list[ComponentFacts]


class Earlier(msgspec.Struct, frozen=True, kw_only=True):
    """An order that the idempotency key of this request made, and what that request was."""

    id: UUID
    fingerprint: str


class Common(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of orders that were looked up together: more than each of them names."""

    trade: Trade
    store: StoreFacts | None
    products: dict[UUID, ProductFacts]
    options: dict[UUID, OptionFacts]
    # Of the tags that are given by id, those that there are.
    tags: dict[UUID, TagShown]
    # Whether customers hear that their order is in the kitchen.
    tells_queued: bool


class RecordingFacts(Common, frozen=True, kw_only=True):
    """Everything that one order rests on."""

    customer: CustomerShown | None
    session: SessionFacts | None
    server_name: str | None
    term: TermShown | None
    # The stay that is named, or the one in the room that is named.
    stay: StayFacts | None
    room: RoomFacts | None
    # An order that this idempotency key made long ago.
    earlier: Earlier | None
