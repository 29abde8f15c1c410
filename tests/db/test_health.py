"""The state of the database as a process knows it, and tells it."""

from tillhouse.db.connecting import DatabaseHealth

# A moment of the process's clock before any, and one after all.
_BEFORE, _AFTER = 0.0, float("inf")


def test_an_outage_that_is_over_is_told_no_more() -> None:
    """A wait that began in it gives up after others have heard that it is over."""
    health = DatabaseHealth()
    health.note_silent(TimeoutError(), _BEFORE)
    assert health.is_away
    health.note_answered()
    health.note_silent(TimeoutError(), _BEFORE)
    assert not health.is_away
    health.note_silent(TimeoutError(), _AFTER)
    assert health.is_away
