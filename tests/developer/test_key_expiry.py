"""The moment at which an API key is over, to the millisecond."""

from datetime import UTC, datetime, timedelta

import pytest

from tillhouse.access.scopes import Scopes
from tillhouse.developer.rules import BusinessFacts, KeyFacts, key_faults, new_key
from tillhouse.developer.types import KeyPatch, NewKey
from tillhouse.kit.values import DateOrTimestamp

NOW = datetime(2027, 1, 31, 12, tzinfo=UTC)
BUSINESS = BusinessFacts("NGN", "Africa/Lagos")


def facts_of(expires_at: str | None) -> KeyFacts:
    """A key that is over then."""
    asked = None if expires_at is None else DateOrTimestamp(expires_at)
    new = NewKey(name="Till", environment="test", scopes=[], expires_at=asked)
    return new_key(new, BUSINESS)


@pytest.mark.parametrize(("after_ms", "is_refused"), [(-1, True), (0, True), (1, False)])
def test_a_key_is_over_at_its_moment(after_ms: int, *, is_refused: bool) -> None:
    """One that would be over at once is refused, of a new key and of a change."""
    at = NOW + timedelta(milliseconds=after_ms)
    text = at.isoformat(timespec="milliseconds")
    asked = DateOrTimestamp(text)
    new = NewKey(name="Till", environment="test", scopes=[], expires_at=asked)
    for one in (new, KeyPatch(expires_at=asked)):
        found = key_faults(one, facts_of(text), BUSINESS, Scopes([]), NOW)
        assert [fault.field for fault in found] == ["expires_at"] * is_refused


def test_a_change_of_the_name_leaves_a_key_over() -> None:
    """Only an end that is asked for is judged."""
    over = facts_of((NOW - timedelta(days=1)).isoformat())
    assert key_faults(KeyPatch(name="Other"), over, BUSINESS, Scopes([]), NOW) == []
