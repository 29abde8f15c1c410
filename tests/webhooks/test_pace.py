"""Attempts beside requests begin evenly; without a rate nothing holds them up."""

import pytest

from tillhouse.webhooks.sender.pace import APART_S, CLAIM_MAX, SAVED_S, Pace

RATE = 1000
LATE_S = 60.0


def _begun(pace: Pace, began_s: float, seconds: float) -> list[int]:
    """How many a sender with a long backlog begins at each claim."""
    at_s, claims = began_s, list[int]()
    while True:
        at_s += pace.wait_s(at_s)
        if at_s >= began_s + seconds:
            return claims
        claims.append(pace.most(at_s))
        pace.note(at_s, claims[-1])


def test_a_rate_is_kept_evenly() -> None:
    """So many a second on the whole, no more at once than is due."""
    claims = _begun(Pace(RATE), 100.0, 10.0)
    assert sum(claims) == pytest.approx(10 * RATE, rel=0.01)
    assert max(claims) <= SAVED_S * RATE
    assert len(claims) <= 10 / APART_S + 1


def test_a_rest_is_made_up_for_by_a_little() -> None:
    """After a long rest or delay there is no flood."""
    pace = Pace(RATE)
    _begun(pace, 100.0, 1.0)
    assert pace.wait_s(100.0 + LATE_S) == 0
    assert pace.most(100.0 + LATE_S) == SAVED_S * RATE


def test_a_low_rate_waits_for_each() -> None:
    """Fewer than one a claim."""
    claims = _begun(Pace(2), 100.0, 10.0)
    assert set(claims) == {1}
    assert len(claims) == pytest.approx(20, abs=1)


def test_without_a_rate_nothing_is_held_up() -> None:
    """Only claims are apart, so that each carries more."""
    pace = Pace(0)
    assert pace.wait_s(100.0) == 0
    assert pace.most(100.0) == CLAIM_MAX
    pace.note(100.0, CLAIM_MAX)
    assert pace.wait_s(100.0) == pytest.approx(APART_S)
    assert pace.most(100.0) == CLAIM_MAX
