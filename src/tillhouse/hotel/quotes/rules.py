"""Rules of quotes: which days may be asked for, and the cost of a stay. Pure decisions."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from tillhouse.hotel.quotes.types import QuotedNight, QuotedTax
from tillhouse.hotel.rates.rules import Prices, night_cost, nights_between
from tillhouse.hotel.reservations.rules import stay_errors
from tillhouse.kit.errors import FieldError

NIGHTS_AT_ONCE = 20_000
_FIELDS = {"check_in_date": "from", "check_out_date": "to"}


def query_errors(since: date, until: date, today: date, limit: int) -> Iterator[FieldError]:
    """The faults of the days: those of a booking, and more nights than one answer has."""
    for fault in stay_errors(since, until, today):
        message = fault.message.replace("check_in_date", "from")
        yield FieldError(_FIELDS[fault.field], message)
    nights = (until - since).days
    if nights * limit > NIGHTS_AT_ONCE:
        yield FieldError(
            "limit",
            f"asks for more than {NIGHTS_AT_ONCE} nights: at most {NIGHTS_AT_ONCE // nights} "
            "quotes of so many nights at once",
        )


def cost(
    since: date, until: date, prices: Prices, currency: str
) -> tuple[list[QuotedNight], list[QuotedTax], Decimal]:
    """The nights of a stay, the taxes on them, and the sum; each different price is taxed once."""
    days = nights_between(since, until)
    costs = {price: night_cost(price, prices.taxes, currency) for price in map(prices.of, days)}
    by_night = [costs[prices.of(day)] for day in days]
    nights = [
        QuotedNight(day.isoformat(), one.price, one.total)
        for day, one in zip(days, by_night, strict=True)
    ]
    taxes = [
        QuotedTax(
            name=tax.name,
            rate=tax.rate,
            is_inclusive=tax.is_inclusive,
            amount=sum((one.taxes[index].amount for one in by_night), Decimal(0)),
            taxable_amount=sum((one.taxes[index].base for one in by_night), Decimal(0)),
        )
        for index, tax in enumerate(prices.taxes)
    ]
    return nights, taxes, sum((one.total for one in by_night), Decimal(0))
