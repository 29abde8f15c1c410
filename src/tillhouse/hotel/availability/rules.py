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
    nights: Sequence[str], rooms: int, stays: Iterable[tuple[int, int, int]]
) -> list[FreeNight]:
    """How many rooms are free each night, by a running sum of who comes and who goes.

    Of each group of stays: its first night and its day of departure, counted from the first of the
    nights, and how many they are.
    """
    last = len(nights)
    changes = [0] * (last + 1)
    for begins, ends, count in stays:
        changes[max(begins, 0)] += count
        changes[min(ends, last)] -= count
    return [
        FreeNight(night, taken, rooms - taken)
        for night, taken in zip(nights, accumulate(changes), strict=False)
    ]
