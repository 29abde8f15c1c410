"""Requests and answers of the routes of promotions."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.money import AMOUNT_LIMIT, Bounded
from tillhouse.kit.page import Paged
from tillhouse.kit.values import DateOrTimestamp, Name
from tillhouse.promotions.facts import PromotionScope, PromotionType
from tillhouse.stores.types import OpeningTime

TARGETS_MAX = 500
LIMIT_MAX = 1_000_000_000


class Worth(
    Bounded, minimum=0, exclusiveMaximum=AMOUNT_LIMIT, wrong="must not be negative", example=10
):
    """Per cent or an amount: not negative."""

    __slots__ = ()


Targets = Annotated[list[UUID], Meta(max_length=TARGETS_MAX)]
Days = Annotated[
    list[Annotated[int, Meta(ge=1, le=7)]], Meta(min_length=1, max_length=7, examples=[[1, 2, 3]])
]
Limit = Annotated[int, Meta(ge=1, le=LIMIT_MAX)]


class NewPromotion(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A promotion to be made."""

    name: Name
    type: PromotionType
    scope: PromotionScope = "order"
    # Per cent, or an amount; a free item needs none.
    value: Worth = msgspec.field(default_factory=lambda: Worth(0))
    product_ids: Targets = []
    category_ids: Targets = []
    minimum_subtotal: Worth | None = None
    maximum_discount: Worth | None = None
    starts_at: DateOrTimestamp | None = None
    ends_at: DateOrTimestamp | None = None
    # 1 is Monday; null is every day.
    days: Days | None = None
    from_time: OpeningTime | None = None
    to_time: OpeningTime | None = None
    limit_total: Limit | None = None
    limit_per_customer: Limit | None = None
    is_active: bool = True


class PromotionPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a promotion; absent fields stay, null clears."""

    name: Name | UnsetType = UNSET
    type: PromotionType | UnsetType = UNSET
    scope: PromotionScope | UnsetType = UNSET
    value: Worth | UnsetType = UNSET
    product_ids: Targets | UnsetType = UNSET
    category_ids: Targets | UnsetType = UNSET
    minimum_subtotal: Worth | UnsetType | None = UNSET
    maximum_discount: Worth | UnsetType | None = UNSET
    starts_at: DateOrTimestamp | UnsetType | None = UNSET
    ends_at: DateOrTimestamp | UnsetType | None = UNSET
    days: Days | UnsetType | None = UNSET
    from_time: OpeningTime | UnsetType | None = UNSET
    to_time: OpeningTime | UnsetType | None = UNSET
    limit_total: Limit | UnsetType | None = UNSET
    limit_per_customer: Limit | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET


class Promotion(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A promotion."""

    id: UUID
    name: str
    type: PromotionType
    scope: PromotionScope
    value: Decimal
    product_ids: list[UUID]
    category_ids: list[UUID]
    minimum_subtotal: Decimal | None
    maximum_discount: Decimal | None
    starts_at: Timestamp | None
    ends_at: Timestamp | None
    days: list[int] | None
    from_time: str | None
    to_time: str | None
    limit_total: int | None
    limit_per_customer: int | None
    # How many orders have it now.
    used: int
    is_active: bool
    created_at: Timestamp
    updated_at: Timestamp


class PromotionFilter(Paged):
    """Which promotions, and which page of them."""

    is_active: bool | None = None
