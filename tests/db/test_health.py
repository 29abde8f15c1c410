"""The state of the database as the log tells it: a line for each change, and no more."""

from structlog.testing import capture_logs

from tillhouse.db.health import DatabaseHealth

# A moment of the process's clock before any, and one after all.
_BEFORE, _AFTER = 0.0, float("inf")


def test_an_outage_that_is_over_is_told_no_more() -> None:
    """A wait that began in it gives up after others have heard that it is over."""
    health = DatabaseHealth()
    with capture_logs() as lines:
        health.note_silent(TimeoutError(), _BEFORE)
        health.note_answered()
        health.note_silent(TimeoutError(), _BEFORE)
    assert [line["event"] for line in lines] == ["database_away", "database_back"]
    with capture_logs() as lines:
        health.note_silent(TimeoutError(), _AFTER)
    assert [line["event"] for line in lines] == ["database_away"]
