"""The days that a night audit has to do. Pure decisions."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from tillhouse.kit.clock import start_of_day
from tillhouse.kit.values import DayClock

_DAY = timedelta(days=1)


def latest_day(zone: str, audit_time: str, now: datetime) -> date:
    """The last day whose audit is due: yesterday, once it is late enough by the clock there.

    It is a day of the calendar, so that one of 23 or 25 hours is one day, too.
    """
    today = DayClock.at_midnight(zone).today(now)
    hours, minutes = audit_time.split(":")
    begins = start_of_day(today, zone, timedelta(hours=int(hours), minutes=int(minutes)))
    return today - (_DAY if now >= begins else 2 * _DAY)


def due_days(last: date | None, first: date | None, until: date) -> Iterator[date]:
    """The days that are to be audited up to one, each after the other.

    `last`: the last that was; without one they begin with the `first` day of any stay.
    """
    day = last + _DAY if last else first
    while day is not None and day <= until:
        yield day
        day += _DAY
