"""The window of a recovery by the pure rules, to the moment."""

from datetime import UTC, datetime, timedelta

from tillhouse.kit.values import DateOrTimestamp
from tillhouse.webhooks import rules
from tillhouse.webhooks.types import Recovery

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)


def _faults(since: datetime, until: datetime | None) -> list[str]:
    wanted = Recovery(
        since=DateOrTimestamp(since.isoformat()),
        until=DateOrTimestamp(until.isoformat()) if until else None,
    )
    return [fault.field for fault in rules.window_errors(wanted, "UTC", NOW)]


def test_a_window_of_no_length_holds_nothing() -> None:
    """It must begin before it ends, be that a moment that is named or now."""
    assert _faults(NOW - MOMENT, NOW) == []
    assert _faults(NOW, NOW) == ["until"]
    assert _faults(NOW - MOMENT, None) == []
    assert _faults(NOW, None) == ["since"]
