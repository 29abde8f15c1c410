"""When a call is dialled, to the moment: the ends of its hours, its time and its attempts."""

from datetime import UTC, datetime, timedelta

import msgspec

from tillhouse.providers.telephony.provider import LineEnded
from tillhouse.voice.dispatching import rules

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
WAITING = rules.Waiting(
    phone="sip:desk@example.com",
    not_after=NOON + timedelta(hours=1),
    is_suppressed=False,
    is_agent_active=True,
    is_number_there=True,
    calls_from="09:00",
    calls_until="18:00",
    business_zone="UTC",
)


def _postponed(waiting: rules.Waiting, now: datetime) -> datetime | str | None:
    judged = rules.judge(waiting, now)
    match judged:
        case rules.Postponed(until=until):
            return until
        case rules.Over(reason=reason):
            return reason
    return None


def test_a_call_expires_at_its_moment() -> None:
    """The last moment at which a call may be dialled is the one before `not_after`."""
    at_once = msgspec.structs.replace(WAITING, not_after=NOON)
    assert _postponed(at_once, NOON - timedelta(milliseconds=1)) is None
    assert _postponed(at_once, NOON) == "expired"


def test_hours_of_calling_begin_with_their_first_minute_and_end_before_their_last() -> None:
    """From 09:00 until 18:00: 09:00 is within them, 18:00 no longer."""
    tomorrow = msgspec.structs.replace(WAITING, not_after=NOON + timedelta(days=2))
    opens = NOON.replace(hour=9)
    assert _postponed(tomorrow, opens - MINUTE) == opens
    assert _postponed(tomorrow, opens) is None
    assert _postponed(tomorrow, NOON.replace(hour=17, minute=59)) is None
    assert _postponed(tomorrow, NOON.replace(hour=18)) == opens + timedelta(days=1)


def test_a_call_that_may_ring_when_it_expires_is_over() -> None:
    """Hours that begin at `not_after` or later are of no use to it."""
    opens, night = NOON.replace(hour=9), NOON.replace(hour=3)
    ends_then = msgspec.structs.replace(WAITING, not_after=opens)
    assert _postponed(ends_then, night) == "expired"
    ends_later = msgspec.structs.replace(WAITING, not_after=opens + MINUTE)
    assert _postponed(ends_later, night) == opens


def test_the_last_attempt_and_the_last_moment_end_a_call() -> None:
    """A busy line is tried again up to `max_attempts`, and only before `not_after`."""
    made = rules.Attempted(
        attempt=1,
        max_attempts=2,
        retry_delay=timedelta(minutes=10),
        not_after=NOON + timedelta(minutes=10),
        was_answered=False,
        is_machine=False,
    )
    busy = LineEnded(result="busy", ended_by="customer")
    assert isinstance(rules.after(made, busy, NOON), rules.Over)
    again = rules.after(made, busy, NOON - timedelta(milliseconds=1))
    assert isinstance(again, rules.Postponed)
    last = msgspec.structs.replace(made, attempt=2)
    assert isinstance(rules.after(last, busy, NOON - timedelta(hours=1)), rules.Over)
