"""Which orders are to be made, and when each happened: the same at every run.

A plan is written into the key of each of its orders, so that a run that was ended half-way is
taken up exactly where it ended, with the same moments as if nothing had happened.
"""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Self
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from asyncpg.pgproto import pgproto

from tillhouse.kit.ids import CODE_ALPHABET

PREFIX = "demo-"
YEARS_DAYS = 3 * 365
_HOUR = timedelta(hours=1)
# How busy each hour of the day is: lunch and dinner, nobody at night.
_HOURS = (0, 0, 0, 0, 0, 0, 0, 2, 5, 5, 5, 7, 12, 14, 11, 7, 6, 7, 11, 15, 14, 9, 4, 0)
# Monday to Sunday.
_WEEKDAYS = (0.85, 0.85, 0.9, 1.0, 1.3, 1.6, 1.25)
_DECEMBER = 12
_FESTIVE = 1.35
# How many times busier the last day is than the first.
_GROWTH = 3.0

_CODE_LENGTH = 8
_CODES = len(CODE_ALPHABET) ** _CODE_LENGTH
# Without a common divisor with the number of codes, so no two numbers share a code.
_CODE_STEP = 412_345_678_901
_SEED_BITS = 64
# Two letters at a time are found in half the time.
_PAIRS = [first + second for second in CODE_ALPHABET for first in CODE_ALPHABET]
_PAIR = len(_PAIRS)


class Plan(msgspec.Struct, frozen=True):
    """Orders by their numbers, the end not among them, and the moment that all is counted from."""

    first: int
    end: int
    at: datetime

    def key(self, number: int) -> str:
        """The idempotency key of an order: no order is ever made twice."""
        moment = int(self.at.timestamp())
        return f"{PREFIX}{number:09}-{self.first}-{self.end}-{moment}"

    def share(self, number: int) -> float:
        """How far along the plan an order is, from 0 to 1."""
        return (number - self.first + 0.5) / (self.end - self.first)

    @classmethod
    def of_key(cls, key: str) -> tuple[int, Self]:
        """The number of the order with this key, and the plan that made it."""
        number, first, end, moment = map(int, key.removeprefix(PREFIX).split("-"))
        return number, cls(first, end, datetime.fromtimestamp(moment, UTC))


def plans(last_key: str | None, wanted: int, now: datetime) -> list[Plan]:
    """The rest of the work: of the plan that ended half-way, and then up to the number wanted."""
    there, left = 0, []
    if last_key is not None:
        number, before = Plan.of_key(last_key)
        there = number + 1
        if there < before.end:
            left = [before]
            there = before.end
    if there < wanted:
        left.append(Plan(there, wanted, now.replace(microsecond=0)))
    return left


class Timetable:
    """Moments of the three years before one: open hours, growing, busier at weekends."""

    def __init__(self, at: datetime, zone: ZoneInfo) -> None:
        cells = list(_cells(at, zone))
        self._begins = [begin for begin, _ in cells]
        self._sums = list(accumulate(weight for _, weight in cells))

    def moment(self, share: float) -> datetime:
        """When so much of everything had happened; it rises with the share."""
        wanted = share * self._sums[-1]
        place = min(bisect_right(self._sums, wanted), len(self._sums) - 1)
        before = self._sums[place - 1] if place else 0.0
        part = (wanted - before) / (self._sums[place] - before)
        milliseconds = int(part * _HOUR.total_seconds() * 1000)
        return self._begins[place] + timedelta(milliseconds=milliseconds)


def _cells(at: datetime, zone: ZoneInfo) -> Iterator[tuple[datetime, float]]:
    """Whole hours that are over by then, and how busy each was."""
    today = at.astimezone(zone).date()
    for number in range(YEARS_DAYS + 1):
        day = today - timedelta(days=YEARS_DAYS - number)
        busy = 1 + (_GROWTH - 1) * number / YEARS_DAYS
        busy *= _WEEKDAYS[day.weekday()] * (_FESTIVE if day.month == _DECEMBER else 1)
        for hour, weight in enumerate(_HOURS):
            begin = datetime(day.year, day.month, day.day, hour, tzinfo=zone).astimezone(UTC)
            if weight and begin + _HOUR <= at:
                yield begin, busy * weight


def code(book_id: UUID, number: int) -> str:
    """The short code of an order: of all others' it differs, and no order can be seen in it."""
    return letters((number * _CODE_STEP + book_id.int) % _CODES, _CODE_LENGTH)


def letters(number: int, length: int) -> str:
    """A number as so many letters (an even number), the last digits first."""
    return "".join([_PAIRS[number // _PAIR**place % _PAIR] for place in range(length // 2)])


def seed(book_id: UUID, number: int) -> int:
    """The seed: the same order of the same book is always the same."""
    return (book_id.int % (1 << _SEED_BITS)) ^ (number * 0x9E37_79B9_7F4A_7C15)


def ordered_id(milliseconds: int, chance: int) -> UUID:
    """A UUIDv7 of this moment with 74 given bits."""
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80
    value |= 0x7 << 76
    value |= (chance & 0xFFF) << 64
    value |= 0b10 << 62
    value |= (chance >> 12) & 0x3FFF_FFFF_FFFF_FFFF
    # Made, and later sent, in half the time of the standard library's; it is one of its kind.
    return pgproto.UUID(value.to_bytes(16, "big"))
