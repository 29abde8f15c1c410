"""The times of the inbox, to the moment, and which report of a message says more."""

from datetime import UTC, datetime, timedelta

from tillhouse.kit.values import Moment
from tillhouse.messaging import rules
from tillhouse.messaging.types import ConversationPatch

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)


def _faults(until: datetime) -> list[str]:
    patch = ConversationPatch(status="snoozed", snoozed_until=Moment(until.isoformat()))
    return [fault.message for fault in rules.snooze_errors(patch, NOW)]


def test_the_window_is_open_for_24_hours() -> None:
    """Free text is allowed up to 24 hours after the customer wrote, and not at their end."""
    assert rules.is_window_open(NOW - rules.WINDOW + MOMENT, NOW)
    assert not rules.is_window_open(NOW - rules.WINDOW, NOW)
    assert not rules.is_window_open(None, NOW)


def test_a_conversation_is_snoozed_into_the_future() -> None:
    """This moment is no future, the next one is."""
    assert _faults(NOW) == ["must be in the future"]
    assert _faults(NOW + MOMENT) == []


def test_a_conversation_is_snoozed_for_a_year_at_most() -> None:
    """The last moment of the year is within it."""
    assert _faults(NOW + rules.SNOOZE_MAX) == []
    assert _faults(NOW + rules.SNOOZE_MAX + MOMENT) == ["must be within a year"]


def test_the_same_report_twice_says_nothing_more() -> None:
    """Only a later state is further than what is known."""
    assert rules.is_further("read", "delivered")
    assert not rules.is_further("delivered", "delivered")
    assert not rules.is_further("sent", "delivered")
