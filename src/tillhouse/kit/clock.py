"""Time: the one place that reads the clock, and how instants, dates and zones are written."""

import re
import zoneinfo
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import lru_cache
from typing import Annotated

import msgspec

Timestamp = Annotated[
    str,
    msgspec.Meta(extra_json_schema={"format": "date-time"}, examples=["2026-01-31T09:30:00.000Z"]),
]
"""An instant in an outgoing struct, as `iso` writes it."""

DayShown = Annotated[
    str, msgspec.Meta(extra_json_schema={"format": "date"}, examples=["2026-01-31"])
]
"""A day in an outgoing struct."""

YEAR_MIN = 1900
YEAR_MAX = 2200

_MILLISECOND = timedelta(milliseconds=1)
_SECOND = timedelta(seconds=1)

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIMESTAMP = re.compile(
    _DATE.pattern
    + r"[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    + r"(?:([Zz])|([+-])([0-9]{2}):?([0-9]{2}))"
)

_DATE_MESSAGE = "must be a date such as 2026-01-31"
_TIMESTAMP_MESSAGE = (
    "must be a timestamp with a time zone such as 2026-01-31T09:30:00Z or 2026-01-31T10:30:00+01:00"
)
_YEAR_MESSAGE = f"must be in the years {YEAR_MIN} to {YEAR_MAX}"


def now() -> datetime:
    """Read the clock: UTC, in whole milliseconds, as the database and the wire hold it."""
    return _whole_milliseconds(datetime.now(UTC))


def iso(moment: datetime) -> str:
    """Write an instant as `YYYY-MM-DDTHH:MM:SS.mmmZ`."""
    if moment.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"


def parse_timestamp(text: str) -> datetime:
    """Read an ISO 8601 instant with its offset as UTC in whole milliseconds, or ValueError."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ValueError(_TIMESTAMP_MESSAGE)
    year, month, day, hour, minute, second, fraction, zulu, sign, ahead_h, ahead_min = (
        match.groups()
    )
    _check_year(int(year))
    offset = timedelta(0)
    if zulu is None:
        if int(ahead_h) > 23 or int(ahead_min) > 59:
            raise ValueError(_TIMESTAMP_MESSAGE)
        offset = timedelta(hours=int(ahead_h), minutes=int(ahead_min))
    try:
        # Second 60 and hour 24 name no instant of their own: datetime refuses them.
        local = datetime(
            int(year),
            int(month),
            int(day),
            int(hour),
            int(minute),
            int(second or 0),
            int((fraction or "0").ljust(3, "0")[:3]) * 1000,
            tzinfo=timezone(-offset if sign == "-" else offset),
        )
    except ValueError:
        raise ValueError(_TIMESTAMP_MESSAGE) from None
    moment = local.astimezone(UTC)
    _check_year(moment.year)
    return moment


def parse_date(text: str) -> date:
    """Read a calendar day written `YYYY-MM-DD`, or raise ValueError."""
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(_DATE_MESSAGE)
    year, month, day = (int(part) for part in match.groups())
    _check_year(year)
    try:
        return date(year, month, day)
    except ValueError:
        raise ValueError(_DATE_MESSAGE) from None


def parse_date_or_timestamp(text: str) -> date | datetime:
    """Read a day or an instant; ask `isinstance(…, datetime)` first, a datetime is a date too."""
    if _DATE.fullmatch(text):
        return parse_date(text)
    try:
        return parse_timestamp(text)
    except ValueError as error:
        if str(error) == _TIMESTAMP_MESSAGE:
            raise ValueError(f"{_DATE_MESSAGE}, or {_TIMESTAMP_MESSAGE}") from None
        raise


def is_zone(name: str) -> bool:
    """Tell whether this names an IANA time zone, such as Africa/Lagos."""
    return name in _zones()


def start_of_day(day: date, zone: str, cutoff: timedelta = timedelta()) -> datetime:
    """Find the first instant of a local day, in UTC, also where the clock jumps over it.

    A business may begin its day after midnight: by its `cutoff`.
    """
    info = zoneinfo.ZoneInfo(zone)
    reading = datetime.combine(day, time()) + cutoff
    local = reading.replace(tzinfo=info)
    # Of a reading that comes twice, fold 0 is the first.
    first = local.astimezone(UTC)
    if first.astimezone(info).replace(tzinfo=None) == reading:
        return first
    # The clock jumps over it: the day begins at the jump, which lies between the two instants
    # of a reading that never was. Offsets are whole seconds, so that halving ends.
    before = local.replace(fold=1).astimezone(UTC)
    after = first
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if middle.astimezone(info).replace(tzinfo=None) < reading:
            before = middle
        else:
            after = middle
    return after


def end_of_day(day: date, zone: str, cutoff: timedelta = timedelta()) -> datetime:
    """Find the last millisecond of a local day, in UTC, also on days of 23 or 25 hours."""
    return start_of_day(day + timedelta(days=1), zone, cutoff) - _MILLISECOND


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    # Membership in the list is the whole check: a name never becomes a path.
    return frozenset(zoneinfo.available_timezones() - {"Factory", "localtime"})


def _whole_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _check_year(year: int) -> None:
    if not YEAR_MIN <= year <= YEAR_MAX:
        raise ValueError(_YEAR_MESSAGE)
