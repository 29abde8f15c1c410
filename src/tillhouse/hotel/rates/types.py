"""Requests and answers of the routes of rate plans."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.hotel.values import HotelName, NightlyPrice, TaxName, TaxRate
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.page import Paged

TAXES_MAX = 5


class WeekdayPrices(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Prices of nights that begin on a day of the week; left out: the price of the plan."""

    monday: NightlyPrice | None = None
    tuesday: NightlyPrice | None = None
    wednesday: NightlyPrice | None = None
    thursday: NightlyPrice | None = None
    friday: NightlyPrice | None = None
    saturday: NightlyPrice | None = None
    sunday: NightlyPrice | None = None


class NewTax(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A tax on a night."""

    name: TaxName
    """Its name, as bills say it."""
    rate: TaxRate
    """The share of the price without the taxes that it holds, in per cent."""
    is_inclusive: bool = False
    """Whether the price holds it already; else it comes on top, also of a price that holds others:
    of 98 that hold 7%, 7.5% on top are 6.87, the share of 91.59."""


NewTaxes = Annotated[list[NewTax], Meta(max_length=TAXES_MAX)]


class Tax(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A tax on each night."""

    name: Annotated[str, Meta(examples=["VAT"])]
    rate: Decimal
    """The share of the price without the taxes that it holds, in per cent."""
    is_inclusive: bool
    """Whether the price holds it already; else it comes on top, also of a price that holds others:
    of 98 that hold 7%, 7.5% on top are 6.87, the share of 91.59."""


class WeekdayPricesShown(msgspec.Struct, frozen=True, kw_only=True):
    """Prices of nights that begin on a day of the week; null: the price of the plan."""

    monday: Decimal | None = None
    tuesday: Decimal | None = None
    wednesday: Decimal | None = None
    thursday: Decimal | None = None
    friday: Decimal | None = None
    saturday: Decimal | None = None
    sunday: Decimal | None = None


class NewRatePlan(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A way to sell the rooms of a type."""

    room_type_id: UUID
    """The kind of rooms that it is for."""
    name: HotelName
    """Its name, such as Breakfast included."""
    price: NightlyPrice
    """The price of a night."""
    weekday_prices: WeekdayPrices | None = None
    """Other prices for nights that begin on some days of the week."""
    taxes: NewTaxes = []
    """The taxes on each night; at most five."""


class RatePlanPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a rate plan; absent fields stay, null clears. Bookings keep their prices."""

    name: HotelName | UnsetType = UNSET
    """Its name, such as Breakfast included."""
    price: NightlyPrice | UnsetType = UNSET
    """The price of a night."""
    weekday_prices: WeekdayPrices | UnsetType | None = UNSET
    """Other prices for nights that begin on some days of the week: all of them anew."""
    taxes: NewTaxes | UnsetType = UNSET
    """The taxes on each night: all of them anew; at most five."""


class RatePlan(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A way to sell the rooms of a type."""

    id: UUID
    room_type_id: UUID
    """The kind of rooms that it is for."""
    name: Annotated[str, Meta(examples=["Breakfast included"])]
    price: Decimal
    """The price of a night."""
    weekday_prices: WeekdayPricesShown
    """Other prices for nights that begin on some days of the week."""
    taxes: list[Tax]
    """The taxes on each night."""
    created_at: Timestamp
    updated_at: Timestamp


class RatePlanFilter(Paged):
    """Which rate plans, and which page of them."""

    room_type_id: UUID | None = None
    """Only plans of this room type."""
