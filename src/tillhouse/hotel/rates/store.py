"""The table of rate plans."""

from typing import Any

from tillhouse.db.book_table import BookTable
from tillhouse.hotel.rates.rules import RatePlanFacts, read_taxes, read_weekday_prices
from tillhouse.hotel.rates.types import RatePlan


def _plan(weekday_prices: str, taxes: str, **row: Any) -> RatePlan:
    """A plan, of which some fields come as JSON."""
    return RatePlan(
        weekday_prices=read_weekday_prices(weekday_prices), taxes=read_taxes(taxes), **row
    )


# Reservations keep the prices of a plan that is deleted.
RATE_PLANS = BookTable(
    "hotel_rate_plans p",
    _plan,
    shown="p.room_type_id, p.name, p.price, p.weekday_prices::text AS weekday_prices, "
    "p.taxes::text AS taxes",
    order="lower(p.name), p.id",
    made_with=("room_type_id",),
    fields=RatePlanFacts,
    forms={"weekday_prices": "{0}::text::jsonb", "taxes": "{0}::text::jsonb"},
    filters={"room_type_id": "p.room_type_id = $"},
)
