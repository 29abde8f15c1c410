"""How a transaction's moment is written for people: pure."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)


def local_day(moment: datetime, zone: str) -> date:
    """The calendar day on which it is this moment there."""
    return moment.astimezone(UTC).astimezone(ZoneInfo(zone)).date()


def date_label(day: date, today: date) -> str:
    """A day for people, near days by their names."""
    names = {today: "Today", today - _DAY: "Yesterday", today + _DAY: "Tomorrow"}
    # The day without a leading zero, which no format code gives on every system.
    return names.get(day, f"{day.day} {day:%b %Y}")
