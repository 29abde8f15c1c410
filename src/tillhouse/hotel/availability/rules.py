"""Rules of availability: which nights may be asked for, and how many rooms each has."""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import accumulate

from tillhouse.hotel.availability.types import FreeNight
from tillhouse.hotel.rates.rules import nights_between
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
    since: date, until: date, rooms: int, stays: Sequence[tuple[date, date, int]]
) -> list[FreeNight]:
    """How many rooms are free each night, by a running sum of who comes and who goes."""
    changes = [0] * ((until - since).days + 1)
    for check_in, check_out, count in stays:
        changes[(max(check_in, since) - since).days] += count
        changes[(min(check_out, until) - since).days] -= count
    nights = nights_between(since, until)
    taken = accumulate(changes)
    return [
        FreeNight(night.isoformat(), many, rooms - many)
        for night, many in zip(nights, taken, strict=False)
    ]
