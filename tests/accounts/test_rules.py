"""Sessions and invitations by the pure rules: the last moment, and the last one of so many."""

from datetime import timedelta

import pytest

from tillhouse.accounts.members.rules import check_invitation_limit
from tillhouse.accounts.rules import next_generation
from tillhouse.kit.errors import LimitReached


def test_the_token_before_is_good_for_half_a_minute() -> None:
    """The end is included; after it the token counts as stolen, as any earlier one does at once."""
    grace = timedelta(seconds=30)
    assert next_generation(4, 5, grace) == 5
    assert next_generation(4, 5, grace + timedelta(milliseconds=1)) is None
    assert next_generation(3, 5, timedelta()) is None
    assert next_generation(5, 5, grace * 100) == 6


def test_a_hundred_invitations_stand() -> None:
    """The hundredth is sent, one more is refused."""
    check_invitation_limit(99)
    with pytest.raises(LimitReached):
        check_invitation_limit(100)
