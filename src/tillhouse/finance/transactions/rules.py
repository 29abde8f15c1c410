"""Which way a transaction went, and how its moment is written for people: pure."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Literal
from zoneinfo import ZoneInfo

from tillhouse.ledger.rules import TransactionMethod, TransactionType

_DAY = timedelta(days=1)

Direction = Literal["in", "out"]

# Kept as amounts that went out; one below zero came back. All others are kept as amounts that came
# in.
_GOES_OUT: tuple[TransactionType, ...] = ("expense", "fee", "wallet_withdrawal")


def direction(type_: TransactionType, amount: Decimal) -> Direction:
    """Which way a transaction's money went, by its type and the sign that it is kept with."""
    return "in" if (amount > 0) != (type_ in _GOES_OUT) else "out"


def methods_of(asked: Sequence[TransactionMethod]) -> list[str]:
    """The methods that a filter finds: a payment by card is kept as `pos`, an expense as `card`."""
    return [*asked, "pos"] if "card" in asked and "pos" not in asked else [*asked]


def local_day(moment: datetime, zone: str) -> date:
    """The calendar day on which it is this moment there."""
    return moment.astimezone(UTC).astimezone(ZoneInfo(zone)).date()


def date_label(day: date, today: date) -> str:
    """A day for people, near days by their names."""
    names = {today: "Today", today - _DAY: "Yesterday", today + _DAY: "Tomorrow"}
    # The day without a leading zero, which no format code gives on every system.
    return names.get(day, f"{day.day} {day:%b %Y}")
