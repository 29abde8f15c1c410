"""Money, days and times as a person reads them, in the currency and the zone of the business."""

from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from zoneinfo import ZoneInfo

from tillhouse.desk.frame.sentences import SENTENCES, sentence
from tillhouse.kit.money import EXPONENTS

# Numbers of answers are whole or exact.
Number = int | Decimal

MINUS = "\N{MINUS SIGN}"
_SIGNS = {
    "EUR": "€", "GBP": "£", "GHS": "₵", "INR": "₹", "JPY": "¥", "KES": "KSh ", "NGN": "₦",
    "USD": "$", "ZAR": "R ",
}  # fmt: skip


@lru_cache(maxsize=64)
def zone(name: str) -> ZoneInfo:
    """A time zone by its name."""
    return ZoneInfo(name)


def money(amount: Number, currency: str, *, decimals: int | None = None) -> str:
    """An amount with its sign and its groups; whole amounts without decimals unless asked for."""
    places = decimals if decimals is not None else _decimals(amount)
    minus = MINUS if amount < 0 else ""
    return f"{minus}{_SIGNS.get(currency, currency + ' ')}{abs(amount):,.{places}f}"


def exact(amount: Number, currency: str) -> str:
    """An amount with all decimals of its currency, as details tell it."""
    return money(amount, currency, decimals=EXPONENTS[currency])


def quantity(number: Number) -> str:
    """How many: without decimals that say nothing."""
    return f"{Decimal(number).normalize():f}"


def money_column(amounts: list[Number], currency: str) -> list[str]:
    """The amounts of a column: all with decimals where one of them needs some."""
    places = max(map(_decimals, amounts), default=0)
    return [money(amount, currency, decimals=places) for amount in amounts]


def _decimals(amount: Number) -> int:
    if amount == int(amount):
        return 0
    exponent = Decimal(amount).normalize().as_tuple().exponent
    return max(2, -exponent) if isinstance(exponent, int) else 0


def moment(text: str, zone_name: str) -> datetime:
    """A timestamp of the API in the zone of the business."""
    return datetime.fromisoformat(text).astimezone(zone(zone_name))


def when(text: str, zone_name: str, today: date) -> str:
    """A time of today, yesterday with its time, else the day."""
    local = moment(text, zone_name)
    if local.date() == today:
        return f"{local:%H:%M}"
    days = (today - local.date()).days
    if days == 1:
        return sentence("frame.yesterday", time=f"{local:%H:%M}")
    return f"{local.day} {local:%b}" if local.year == today.year else f"{local.day} {local:%b %Y}"


def when_exactly(text: str, zone_name: str, today: date) -> str:
    """The same, with the time of any day."""
    told = when(text, zone_name, today)
    hour = f"{moment(text, zone_name):%H:%M}"
    return told if hour in told else f"{told}, {hour}"


def day(given: date) -> str:
    """A day with its weekday, such as "Friday 20 November"."""
    return f"{given:%A} {given.day} {given:%B}"


def named(kind: str, word: str) -> str:
    """A word of the API in words for people; one that the catalogue lacks, as the API writes it."""
    name = f"{kind}.{word}"
    return sentence(name) if name in SENTENCES else word
