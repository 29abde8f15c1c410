"""Facts about a promotion, and about the lines that it applies to."""

from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.kit.ids import CategoryId, ProductId

PromotionType = Literal["percent", "fixed", "free_item"]
PromotionScope = Literal["order", "products", "categories"]


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """All of a promotion that can be set."""

    name: str
    type: PromotionType
    scope: PromotionScope
    # Per cent, or an amount. Of a free item: up to how much of it, 0 for all.
    value: Decimal
    product_ids: list[UUID]
    category_ids: list[UUID]
    minimum_subtotal: Decimal | None
    maximum_discount: Decimal | None
    starts_at: datetime | None
    ends_at: datetime | None
    # 1 is Monday.
    days: list[int] | None
    # Minutes after midnight; a window that ends before it begins ends on the next day.
    from_minute: int | None
    to_minute: int | None
    limit_total: int | None
    limit_per_customer: int | None
    is_active: bool


class Offer(Terms, frozen=True, kw_only=True):
    """A promotion as it stands for one customer at one moment."""

    used: int
    used_by_customer: int
    currency: str
    time_zone: str


class PromotedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that something may be taken off."""

    product_id: ProductId | None
    category_id: CategoryId | None
    # The price of the line now, in whole units of the currency.
    net: Decimal
    quantity: Decimal
    unit_price: Decimal


class Discounts(msgspec.Struct, frozen=True):
    """The discount: in all, and of each line, in their order."""

    total: Decimal
    shares: list[Decimal]


class PromotionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about the business and its book that a promotion names."""

    currency: str
    time_zone: str
    product_ids: set[UUID]
    category_ids: set[UUID]
