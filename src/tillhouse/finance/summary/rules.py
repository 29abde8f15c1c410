"""Which time a summary is of, its intervals, and its label: pure."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec

from tillhouse.finance.summary.types import SummaryQuery
from tillhouse.kit.clock import start_of_day
from tillhouse.kit.errors import Invalid
from tillhouse.kit.values import DayClock

DAYS_MAX = 366
_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_TO = "\N{EN DASH}"


class Period(msgspec.Struct, frozen=True):
    """Whole days, the last one included."""

    first: date
    last: date
    # Asked for as a period, even if it is of one day.
    is_period: bool

    @property
    def days(self) -> list[date]:
        """Each of its days."""
        return [self.first + _DAY * n for n in range((self.last - self.first).days + 1)]


def period(asked: SummaryQuery, today: date) -> Period:
    """The days that are asked for."""
    if asked.since is None:
        if asked.until is not None:
            raise Invalid.field("from", "is required with to: the first day of the period")
        day = asked.date.day if asked.date else today
        return Period(day, day, is_period=False)
    if asked.date is not None:
        raise Invalid.field("date", "can't be combined with from and to: send one or the other")
    first, last = asked.since.day, asked.until.day if asked.until else today
    if last < first:
        raise Invalid.field("to", "must not be before from")
    if (last - first).days >= DAYS_MAX:
        raise Invalid.field("to", f"must be within {DAYS_MAX} days of from")
    return Period(first, last, is_period=True)


class Intervals(msgspec.Struct, frozen=True):
    """When each interval begins, when the last ends, and the hours and days of UTC around that."""

    begins: tuple[datetime, ...]
    ends: datetime
    # The hours in UTC that begin before an interval does, and end after that.
    split_hours: tuple[datetime, ...]
    # The first day in UTC that begins no earlier than the end.
    whole_days_from: date
    # When each begins, as the clocks show it there, with the offset.
    starts: tuple[str, ...]


@lru_cache(maxsize=64)
def intervals(asked: Period, clock: DayClock) -> Intervals:
    """The hours of a day, or the days of a period: the same days are asked for again and again."""
    *begins, ends = _bounds(asked, clock)
    zone = ZoneInfo(clock.zone)
    return Intervals(
        tuple(begins),
        ends,
        split_hours=tuple(_split_hours([*begins, ends])),
        whole_days_from=_whole_days_from(ends),
        starts=tuple(begin.astimezone(zone).isoformat(timespec="seconds") for begin in begins),
    )


def _bounds(asked: Period, clock: DayClock) -> list[datetime]:
    """When each interval begins, and when the last one ends.

    The hours of a day are hours that go by: a day on which clocks change has 23 or 25.
    """
    starts = [
        start_of_day(day, clock.zone, clock.cutoff) for day in [*asked.days, asked.last + _DAY]
    ]
    if asked.is_period:
        return starts
    begin, end = starts
    hours = [begin]
    while hours[-1] + _HOUR < end:
        hours.append(hours[-1] + _HOUR)
    return [*hours, end]


def _split_hours(ends: Sequence[datetime]) -> list[datetime]:
    """The hours in UTC that these moments lie within, each once."""
    moments = [one.astimezone(UTC) for one in ends]
    hours = [one.replace(minute=0, second=0, microsecond=0) for one in moments]
    return sorted({hour for hour, one in zip(hours, moments, strict=True) if hour != one})


def _whole_days_from(moment: datetime) -> date:
    """The first day in UTC that begins at a moment or after it."""
    at = moment.astimezone(UTC)
    return at.date() if at == datetime(at.year, at.month, at.day, tzinfo=UTC) else at.date() + _DAY


def label(asked: Period) -> str:
    """The period for people; the common part of both ends is said once."""
    first, last = asked.first, asked.last
    if first == last:
        return _written(last, "%b %Y")
    if first.year != last.year:
        return f"{_written(first, '%b %Y')} {_TO} {_written(last, '%b %Y')}"
    if first.month != last.month:
        return f"{_written(first, '%b')} {_TO} {_written(last, '%b %Y')}"
    return f"{first.day} {_TO} {_written(last, '%b %Y')}"


def _written(day: date, form: str) -> str:
    # The day without a leading zero, which no format code gives on every system.
    return f"{day.day} {day.strftime(form)}"
