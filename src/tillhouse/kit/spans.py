"""Spans of time in whole days or months of UTC, and the rest at their two ends."""

from datetime import UTC, date, datetime, timedelta

import msgspec

_DAY = timedelta(days=1)
_MILLISECOND = timedelta(milliseconds=1)
# Nothing that is sold lies outside; PostgreSQL's own time begins and ends well outside as well.
_EVER = (datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 11, 30, tzinfo=UTC))


class Span(msgspec.Struct, frozen=True):
    """A time as whole days or months in UTC, which are tallied, and the rest at its two ends.

    The ends `until` and `after` are not part of it.
    """

    since: datetime
    first: date
    after: date
    until: datetime

    @property
    def begins(self) -> datetime:
        """When the first whole day begins."""
        return midnight(self.first)

    @property
    def ends(self) -> datetime:
        """When the last whole day has ended."""
        return midnight(self.after)

    @property
    def months(self) -> "Span":
        """The same in whole months."""
        first = self.first if self.first.day == 1 else next_month(self.first)
        after = self.after.replace(day=1)
        if first >= after:
            return _remnant(self.since, self.until)
        return Span(self.since, first, after, self.until)


def span(since: datetime | None, until: datetime | None) -> Span:
    """A time, both ends included, in whole days and remnants."""
    start = min(max(since or _EVER[0], _EVER[0]), _EVER[1])
    end = min(max(until or _EVER[1], _EVER[0]), _EVER[1]) + _MILLISECOND
    first = start.date() if start == midnight(start.date()) else start.date() + _DAY
    after = end.date()
    if first >= after:
        return _remnant(start, end)
    return Span(start, first, after, end)


def span_of_days(since: date | None, until: date | None) -> Span:
    """Whole days, both included, of which nothing is left over."""
    return span(since and midnight(since), until and midnight(until) + _DAY - _MILLISECOND)


def _remnant(since: datetime, until: datetime) -> Span:
    """No whole day: everything is left over before the first that doesn't count."""
    never = until.date() + _DAY
    return Span(since, never, never, until)


def midnight(day: date) -> datetime:
    """When a day begins in UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def next_month(day: date) -> date:
    """The first day of the month after."""
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)
