"""Rules of rate plans: the prices of nights and the taxes on them. Pure decisions."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal

import msgspec
from msgspec import UNSET

from tillhouse.hotel.rates.types import (
    NewRatePlan,
    NewTax,
    RatePlanPatch,
    Tax,
    WeekdayPrices,
    WeekdayPricesShown,
)
from tillhouse.kit.errors import FieldError, LimitReached
from tillhouse.kit.json import encode
from tillhouse.kit.money import check_scale, round_money
from tillhouse.kit.partial import faults

RATE_PLANS_MAX = 500
WEEKDAYS = WeekdayPrices.__struct_fields__

_TAXES = msgspec.json.Decoder(list[Tax])
_WEEKDAY_PRICES = msgspec.json.Decoder(WeekdayPricesShown)


class TooManyPlans(
    LimitReached, message=f"A book has at most {RATE_PLANS_MAX} rate plans: delete one first."
):
    """No hotel sells its rooms in more ways."""


class RatePlanFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A rate plan as it is to be stored."""

    name: str
    price: Decimal
    weekday_prices: str
    taxes: str


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """The prices of nights, perhaps other ones on some days of the week, and the taxes."""

    price: Decimal
    weekday_prices: WeekdayPricesShown = WeekdayPricesShown()
    taxes: list[Tax] = []

    def of(self, night: date) -> Decimal:
        """The price of the night that begins on this day."""
        special = getattr(self.weekday_prices, WEEKDAYS[night.weekday()])
        return self.price if special is None else special


class TaxAmount(msgspec.Struct, frozen=True):
    """A tax on one night, in money."""

    name: str
    amount: Decimal
    is_inclusive: bool
    base: Decimal = Decimal(0)
    """The price without the taxes that it holds: the tax is a share of that."""


class NightCost(msgspec.Struct, frozen=True):
    """The cost of one night: its price, the taxes, and the amount to pay in all."""

    price: Decimal
    taxes: list[TaxAmount]
    total: Decimal


def stored_taxes(taxes: Sequence[NewTax | Tax]) -> str:
    """Taxes as they are stored."""
    kept = [Tax(name=one.name, rate=one.rate, is_inclusive=one.is_inclusive) for one in taxes]
    return encode(kept).decode()


def stored_weekday_prices(prices: WeekdayPrices | WeekdayPricesShown | None) -> str:
    """Prices of days of the week as they are stored."""
    return encode(prices or WeekdayPrices()).decode()


def read_taxes(text: str) -> list[Tax]:
    """Taxes from their stored form."""
    return _TAXES.decode(text)


def read_weekday_prices(text: str) -> WeekdayPricesShown:
    """Prices of days of the week from their stored form."""
    return _WEEKDAY_PRICES.decode(text)


def read_prices(price: Decimal, weekday_prices: str, taxes: str) -> Prices:
    """The prices of a plan from their stored form."""
    special = read_weekday_prices(weekday_prices)
    return Prices(price=price, weekday_prices=special, taxes=read_taxes(taxes))


def nights_between(check_in: date, check_out: date) -> list[date]:
    """The nights of a stay, each by the day on which it begins."""
    return [check_in + timedelta(days=index) for index in range((check_out - check_in).days)]


def night_cost(price: Decimal, taxes: Sequence[Tax], currency: str) -> NightCost:
    """The cost of one night; inclusive taxes are a part of its price, and taxed by none."""
    inside = sum((tax.rate for tax in taxes if tax.is_inclusive), Decimal(0))
    net = price * 100 / (100 + inside)
    base = round_money(net, currency)
    amounts = [
        TaxAmount(tax.name, round_money(net * tax.rate / 100, currency), tax.is_inclusive, base)
        for tax in taxes
    ]
    on_top = sum((one.amount for one in amounts if not one.is_inclusive), Decimal(0))
    return NightCost(price, amounts, price + on_top)


def plan_faults(
    asked: NewRatePlan | RatePlanPatch, currency: str, unknown: list[FieldError]
) -> list[FieldError]:
    """The faults of a rate plan, beside its form."""

    def price() -> Iterator[FieldError]:
        if asked.price is not UNSET and (wrong := check_scale(asked.price, currency)):
            yield FieldError("price", wrong)

    def weekdays() -> Iterator[FieldError]:
        prices = asked.weekday_prices
        for name in WEEKDAYS if prices else ():
            value = getattr(prices, name)
            if value is not None and (wrong := check_scale(value, currency)):
                yield FieldError(f"weekday_prices.{name}", wrong)

    def taxes() -> Iterator[FieldError]:
        if asked.taxes is not UNSET:
            names = [tax.name.casefold() for tax in asked.taxes]
            for index, name in enumerate(names):
                if name in names[:index]:
                    yield FieldError(f"taxes[{index}].name", "is another tax's name already")

    return [*unknown, *faults(price, weekdays, taxes)]
