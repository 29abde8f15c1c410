"""Which closing of a period is allowed: pure decisions."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from tillhouse.finance.closing.types import NewClosing
from tillhouse.kit.clock import start_of_day
from tillhouse.kit.errors import FieldError
from tillhouse.kit.partial import faults
from tillhouse.kit.values import DayClock

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
