"""The state of the database as a process knows it, and tells it."""

import asyncpg

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


def test_trouble_of_an_outage_is_told_by_its_first_line() -> None:
    """Errors that come while the database is away need no lines; other trouble does."""
    health = DatabaseHealth()
    lost = asyncpg.InterfaceError("the connection was lost")
    assert not health.is_told(lost)
    assert health.is_told(asyncpg.CrashShutdownError("the server is leaving"))
    assert health.is_told(lost)
    assert not health.is_told(ZeroDivisionError())
    health.note_answered()
    assert not health.is_told(lost)
