"""The bounds of stays and quotes by the pure rules: the longest, the farthest, and one more."""

from datetime import date, timedelta

import pytest

from tillhouse.hotel.quotes.rules import query_errors
from tillhouse.hotel.reservations.rules import stay_errors

TODAY = date(2026, 3, 2)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("first", "last", "field"),
    [
        (0, 1, None),
        (-1, 1, "check_in_date"),
        (1, 1, "check_out_date"),
        (0, 365, None),
        (0, 366, "check_out_date"),
        (729, 730, None),
        (729, 731, "check_out_date"),
    ],
)
def test_a_stay_lasts_a_year_and_ends_within_two(first: int, last: int, field: str | None) -> None:
    """It has 365 nights at most, and its last day is 730 days ahead at most."""
    found = [one.field for one in stay_errors(TODAY + DAY * first, TODAY + DAY * last, TODAY)]
    assert found == ([field] if field else [])


def test_a_query_asks_for_20000_nights_at_once() -> None:
    """Two hundred nights of a hundred quotes are as many as there may be."""
    until = TODAY + DAY * 200
    assert list(query_errors(TODAY, until, TODAY, 100)) == []
    assert [one.field for one in query_errors(TODAY, until + DAY, TODAY, 100)] == ["limit"]
