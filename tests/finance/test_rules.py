"""The days of a closing by the pure rules: the last that may be closed, and what reopens."""

from datetime import UTC, date, datetime, timedelta

from tillhouse.finance.closing import rules
from tillhouse.finance.closing.types import NewClosing
from tillhouse.kit.values import Day

TODAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def test_a_day_is_closed_when_it_is_over() -> None:
    """Yesterday may be closed; today may not, though it is no future day."""
    assert rules.closing_faults(NewClosing(closed_until=Day("2026-03-01")), TODAY) == []
    faults = rules.closing_faults(NewClosing(closed_until=Day("2026-03-02")), TODAY)
    assert [one.field for one in faults] == ["closed_until"]


def test_the_same_day_reopens_nothing() -> None:
    """An earlier end or none reopens; a book that was open has nothing to reopen."""
    assert not rules.reopens(NOON, NOON)
    assert rules.reopens(NOON, NOON - timedelta(milliseconds=1))
    assert rules.reopens(NOON, None)
    assert not rules.reopens(None, NOON)
