"""Requests and answers of the route of quotes."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.hotel.values import DayShown
from tillhouse.kit.page import Paged
from tillhouse.kit.values import Day


class QuoteQuery(Paged, rename={"since": "from", "until": "to"}):
    """Which days, which rooms, and which page of the quotes."""

    since: Day | None = None
    """The day of arrival; left out: today."""
    until: Day | None = None
    """The day of departure, at most 365 nights later; left out: one night later."""
    room_type_id: UUID | None = None
    """Only rooms of this type."""
    rate_plan_id: UUID | None = None
    """Only by this rate plan."""


class QuotedNight(msgspec.Struct, frozen=True, rename="camel"):
    """One night of a stay, at what it would cost."""

    date: DayShown
    """The day on which it begins."""
    price: Decimal
    """Its price, without the taxes that come on top."""
    total_amount: Decimal
    """The price with the taxes that come on top."""


class QuotedTax(msgspec.Struct, frozen=True, rename="camel"):
    """A tax on all nights together."""

    name: Annotated[str, Meta(examples=["VAT"])]
    rate: Decimal
    """The share of the base (`taxableAmount`), in per cent."""
    is_inclusive: bool
    """Whether the prices hold it already; else it comes on top."""
    amount: Decimal
    """The tax on all nights."""
    taxable_amount: Decimal
    """The base of the tax: the prices of all nights without the taxes that they hold already. Each
    night is rounded by itself."""


class Quote(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The cost of a stay in a room of a type, by one of its rate plans or by its rate."""

    room_type_id: UUID
    room_type_name: Annotated[str, Meta(examples=["Standard"])]
    capacity: int
    """How many guests such a room is for, children too."""
    rate_plan_id: UUID | None
    """The plan that says the prices; null: the rate of the room type, without taxes."""
    rate_plan_name: Annotated[str, Meta(examples=["Breakfast included"])] | None
    """The name of that plan."""
    currency: str
    nights: list[QuotedNight]
    """Each night, in order."""
    taxes: list[QuotedTax]
    """The taxes on all nights together."""
    total_amount: Decimal
    """The cost of all nights, with the taxes: `totalAmount` of a reservation made now."""
