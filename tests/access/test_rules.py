"""The moments at which rights of a person end: the step-up, the trial and the lock of a login."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from tillhouse.access import attempt_rules, rules
from tillhouse.access.callers import Books, UserCaller
from tillhouse.kit.errors import PasswordVerificationRequired
from tillhouse.kit.ids import BookId, BusinessId, UserId

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)
NOBODY = UUID(int=0)


def _verified(at: datetime | None) -> UserCaller:
    return UserCaller(
        user_id=UserId(NOBODY),
        session_id=NOBODY,
        business_id=BusinessId(NOBODY),
        books=Books(BookId(NOBODY), BookId(NOBODY)),
        name="Ada",
        email="ada@example.com",
        role="owner",
        permissions=frozenset(),
        scopes=frozenset(),
        password_verified_at=at,
        subscription_fault=None,
    )


def test_a_step_up_ends_after_its_last_moment() -> None:
    """It lasts a quarter of an hour, the end included."""
    rules.check_step_up(_verified(NOW - timedelta(minutes=15)), NOW)
    for at in (NOW - timedelta(minutes=15) - MOMENT, None):
        with pytest.raises(PasswordVerificationRequired):
            rules.check_step_up(_verified(at), NOW)


def test_a_trial_is_over_at_its_end() -> None:
    """The moment before is the last one; a trial without an end never began."""
    assert rules.subscription_fault("trial", NOW + MOMENT, api_access=True, now=NOW) is None
    for ends_at in (NOW, None):
        fault = rules.subscription_fault("trial", ends_at, api_access=True, now=NOW)
        assert fault == "The trial of this business has ended"


def test_ten_failures_lock_for_half_an_hour() -> None:
    """Nine lock nothing, and at the end of the half hour ten no longer do."""
    begun = NOW - timedelta(minutes=30)
    assert attempt_rules.is_locked(10, begun + MOMENT, NOW)
    assert not attempt_rules.is_locked(10, begun, NOW)
    assert not attempt_rules.is_locked(9, NOW, NOW)
