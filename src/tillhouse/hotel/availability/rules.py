"""Rules of availability: which nights may be asked for, and how many rooms each has."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import accumulate

from tillhouse.hotel.availability.types import FreeNight
from tillhouse.hotel.values import SHOWN_NIGHTS_MAX
from tillhouse.kit.errors import FieldError


def day_errors(since: date, until: date, today: date) -> Iterator[FieldError]:
    """The faults of the days that are asked for."""
    if since < today:
        yield FieldError("from", f"is in the past: the first day is {today}, today")
    if until <= since:
        yield FieldError("to", "must be after from")
    elif (until - since).days > SHOWN_NIGHTS_MAX:
        yield FieldError("to", f"asks for more than {SHOWN_NIGHTS_MAX} nights: ask twice")


def free_nights(
    nights: Sequence[str], rooms: int, changes: Iterable[tuple[int, int]]
) -> list[FreeNight]:
    """How many rooms are free each night, by a running sum of arrivals and departures.

    Of each change: its day, counted from the first of the nights, and how many rooms more are taken
    from it on. A change before the first night counts from that on, one after the last not at all.
    """
    last = len(nights)
    by_day = [0] * last
    for day, change in changes:
        if day < last:
            by_day[day if day > 0 else 0] += change
    taken = [*accumulate(by_day)]
    free = [rooms - count if count < rooms else 0 for count in taken]
    return [*map(FreeNight, nights, taken, free)]
