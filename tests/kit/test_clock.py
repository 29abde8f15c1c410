"""Time: what is written is read back, and days end where the zone says."""

import contextlib
import zoneinfo
from datetime import UTC, date, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tillhouse.kit import clock
from tillhouse.kit.clock import (
    end_of_day,
    is_zone,
    iso,
    now,
    parse_date,
    parse_date_or_timestamp,
    parse_timestamp,
    start_of_day,
)

MILLISECOND = timedelta(milliseconds=1)
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
MOMENTS = st.integers(0, (LATEST - EARLIEST) // MILLISECOND).map(
    lambda count: EARLIEST + count * MILLISECOND
)
ZONES = st.sampled_from(sorted(filter(is_zone, zoneinfo.available_timezones())))


def test_now_is_in_utc_and_whole_milliseconds() -> None:
    """A time read from the clock equals the one that comes back from the wire."""
    moment = now()
    assert moment.tzinfo is UTC
    assert parse_timestamp(iso(moment)) == moment


@given(MOMENTS, st.integers(-(23 * 60 + 59), 23 * 60 + 59))
def test_an_instant_is_read_back_as_it_was_written(moment: datetime, minutes: int) -> None:
    """The offset changes the text, never the instant."""
    assert parse_timestamp(iso(moment)) == moment
    shifted = moment.astimezone(timezone(timedelta(minutes=minutes)))
    assert iso(shifted) == iso(moment)
    if 1900 <= shifted.year <= 2200:
        assert parse_timestamp(shifted.isoformat()) == moment


@given(st.text(max_size=40))
def test_any_other_text_is_a_value_error(text: str) -> None:
    """Parsing fails in one way only."""
    for parse in (parse_timestamp, parse_date, parse_date_or_timestamp):
        with contextlib.suppress(ValueError):
            parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T09:30:00",
        "2026-01-31",
        "2026-02-30T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2026-01-31T24:00:00Z",
        "1899-12-31T23:59:59Z",
        "2201-01-01T00:00:00Z",
        "1900-01-01T00:00:00+01:00",
        "0001-01-01T00:00:00+23:00",
        "9999-12-31T23:59:59-23:00",
        "2026-01-31T09:30:00+24:00",
        "2026-01-31T09:30:00+00:60",
        "2026-01-31T09:30:00Z\n",
        "\uff12\uff10\uff126-01-31T09:30:00Z",
        "1769851800",
        "",
    ],
)
def test_an_unclear_instant_is_refused(text: str) -> None:
    """No zone, no such day, a leap second, a year beyond reason, other digits."""
    with pytest.raises(ValueError, match="must be"):
        parse_timestamp(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-01-31t09:30z", "2026-01-31T09:30:00.000Z"),
        ("2026-01-31 09:30:00,5-0100", "2026-01-31T10:30:00.500Z"),
        ("2026-01-31T09:30:00.123999999+05:30", "2026-01-31T04:00:00.123Z"),
        ("2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999Z"),
    ],
)
def test_the_spellings_of_iso_8601_are_understood(text: str, shown: str) -> None:
    """Finer than a millisecond is cut."""
    assert iso(parse_timestamp(text)) == shown


def test_an_instant_without_a_zone_is_not_written() -> None:
    """A naive datetime is a mistake of ours, not UTC."""
    with pytest.raises(ValueError, match="zone"):
        iso(datetime(2026, 1, 31))  # noqa: DTZ001


def test_a_day_or_an_instant_is_told_apart() -> None:
    """A filter may be given either way."""
    assert parse_date_or_timestamp("2026-01-31") == date(2026, 1, 31)
    moment = parse_date_or_timestamp("2026-01-31T00:00:00Z")
    assert moment == datetime(2026, 1, 31, tzinfo=UTC)
    with pytest.raises(ValueError, match=r"a date .* or must be a timestamp"):
        parse_date_or_timestamp("yesterday")
    for text in ("2026-02-29", "1899-01-01", "2026-1-1"):
        with pytest.raises(ValueError, match="must be"):
            parse_date(text)
    with pytest.raises(ValueError, match="years"):
        parse_date_or_timestamp("2300-01-01T00:00:00Z")


@given(st.dates(date(1900, 1, 2), date(2200, 12, 30)), ZONES)
@example(date(1919, 3, 31), "America/Toronto")
@example(date(2018, 11, 4), "America/Sao_Paulo")
@example(date(2011, 12, 30), "Pacific/Apia")
def test_a_day_begins_at_its_first_instant_in_every_zone(day: date, zone: str) -> None:
    """A millisecond earlier it is still an earlier day."""
    info = zoneinfo.ZoneInfo(zone)
    first = start_of_day(day, zone)
    assert first.tzinfo is UTC
    assert first.astimezone(info).date() >= day
    assert (first - MILLISECOND).astimezone(info).date() < day
    assert end_of_day(day - timedelta(days=1), zone) == first - MILLISECOND


@pytest.mark.parametrize(
    ("day", "zone", "end"),
    [
        ("2026-01-31", "Africa/Lagos", "2026-01-31T22:59:59.999Z"),
        ("2026-03-29", "Europe/Berlin", "2026-03-29T21:59:59.999Z"),
        ("2026-10-25", "Europe/Berlin", "2026-10-25T22:59:59.999Z"),
        # Midnight of the next day was skipped: the day ended where the clock jumped.
        ("2018-11-03", "America/Sao_Paulo", "2018-11-04T02:59:59.999Z"),
        # A whole day was skipped.
        ("2011-12-29", "Pacific/Apia", "2011-12-30T09:59:59.999Z"),
        # The jump began before midnight and ended after it.
        ("1919-03-30", "America/Toronto", "1919-03-31T04:29:59.999Z"),
    ],
)
def test_a_day_ends_right_when_clocks_change(day: str, zone: str, end: str) -> None:
    """Days of 23 and 25 hours, skipped midnights and skipped days."""
    assert iso(end_of_day(parse_date(day), zone)) == end


@pytest.mark.parametrize(
    ("day", "zone", "end"),
    [
        ("2026-01-31", "Africa/Lagos", "2026-02-01T03:29:59.999Z"),
        ("2026-03-28", "Europe/Berlin", "2026-03-29T02:29:59.999Z"),
    ],
)
def test_a_day_ends_at_the_cutoff_of_the_next(day: str, zone: str, end: str) -> None:
    """A night that is sold through belongs to the day on which it began."""
    assert iso(end_of_day(parse_date(day), zone, timedelta(hours=4, minutes=30))) == end


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../x",
        "/etc/passwd",
        "Africa",
        "africa/lagos",
        "Africa/Lagos\0",
        "localtime",
        "x" * 5000,
    ],
)
def test_what_is_no_zone_is_no_zone(name: str) -> None:
    """A name is looked up in a list, never in a folder."""
    assert not is_zone(name)
    assert is_zone("Africa/Lagos")
    assert is_zone("UTC")


def test_a_timestamp_is_described_as_one() -> None:
    """The schema of an answer tells that this text is an instant."""
    schema = msgspec.json.schema(clock.Timestamp)
    assert schema["format"] == "date-time"
    assert iso(parse_timestamp(schema["examples"][0])) == schema["examples"][0]
