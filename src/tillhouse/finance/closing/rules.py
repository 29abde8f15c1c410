"""The day up to which books are closed, and which closing is allowed: pure decisions."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

import msgspec

from tillhouse.kit.clock import DayShown, start_of_day
from tillhouse.kit.errors import FieldError
from tillhouse.kit.partial import faults
from tillhouse.kit.values import Day, DayClock


class NewClosing(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The day up to which the books are to be closed."""

    closed_until: Day | None
    """The last day that is closed, by the days of the business; null opens everything again. An
    earlier day than before reopens what lies between: the owner alone may do that."""


class PeriodClosing(msgspec.Struct, frozen=True, rename="camel"):
    """The day up to which the books are closed."""

    closed_until: DayShown | None
    """The last day that is closed; null: none is."""


_DAY = timedelta(days=1)


def closing_faults(new: NewClosing, today: date) -> list[FieldError]:
    """Everything that is wrong with a closing, beside its form."""

    def time_errors() -> Iterator[FieldError]:
        if new.closed_until is not None and new.closed_until.day >= today:
            yield FieldError("closed_until", "must be a day that is over")

    return faults(time_errors)


def ends_of(new: NewClosing, clock: DayClock) -> datetime | None:
    """The moment before which nothing changes any more."""
    if new.closed_until is None:
        return None
    return start_of_day(new.closed_until.day + _DAY, clock.zone, clock.cutoff)


def reopens(before: datetime | None, after: datetime | None) -> bool:
    """Whether something that is closed would be open again."""
    return before is not None and (after is None or after < before)
