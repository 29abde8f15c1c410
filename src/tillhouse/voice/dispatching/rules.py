"""Rules of dispatching: pure decisions about when to dial, and the steps after an end."""

from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec
import phonenumbers
from phonenumbers import timezone

from tillhouse.providers.telephony.provider import EndedBy, LineEnded, Result

_UNKNOWN_ZONE = "Etc/Unknown"
# Hours that no moment of a week fits are passed over.
_DAYS_AHEAD = 8
# The callee wasn't reached, so the call may be tried again.
_RETRYABLE: frozenset[Result] = frozenset({"busy", "no_answer", "provider_unavailable", "network"})
_MISSED: frozenset[Result] = frozenset({"busy", "no_answer", "declined", "unwanted"})
_BROKEN: frozenset[Result] = frozenset({"media_lost", "network", "provider_unavailable"})


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides whether a call that is due is dialled now."""

    phone: str
    not_after: datetime
    is_suppressed: bool
    is_agent_active: bool
    is_number_there: bool
    calls_from: str | None
    calls_until: str | None
    # Where the number of the one who is called tells no zone.
    business_zone: str


class Postponed(msgspec.Struct, frozen=True):
    """The call waits."""

    until: datetime
    reason: Literal["quiet_hours", "retry_backoff"]


class Over(msgspec.Struct, frozen=True, kw_only=True):
    """The call has ended."""

    status: Literal["completed", "missed", "failed"]
    reason: str
    ended_by: EndedBy


def judge(waiting: Waiting, now: datetime) -> Postponed | Over | None:
    """The reason against dialling a call that is due; None: dial it now."""
    for is_so, reason in (
        (now >= waiting.not_after, "expired"),
        (not waiting.is_number_there, "number_removed"),
        (not waiting.is_agent_active, "agent_inactive"),
        (waiting.is_suppressed, "suppressed"),
    ):
        if is_so:
            return Over(status="failed", reason=reason, ended_by="system")
    opens_at = _opens_at(waiting, now)
    if opens_at == now:
        return None
    if opens_at is None or opens_at >= waiting.not_after:
        return Over(status="failed", reason="expired", ended_by="system")
    return Postponed(opens_at, "quiet_hours")


def _opens_at(waiting: Waiting, now: datetime) -> datetime | None:
    """The next moment in the hours of calling, now perhaps; None: there is none within a week."""
    if waiting.calls_from is None or waiting.calls_until is None:
        return now
    zones = [ZoneInfo(name) for name in zones_of(waiting.phone, waiting.business_zone)]
    hours = waiting.calls_from, waiting.calls_until
    if _is_open(zones, hours, now):
        return now
    for moment in _beginnings(zones, hours[0], now):
        if _is_open(zones, hours, moment):
            return _first_open(zones, hours, moment)
    return None


def _beginnings(zones: list[ZoneInfo], begins: str, now: datetime) -> list[datetime]:
    """When the hours begin in each zone, from now on: all zones allow a call first at one such."""
    at = time.fromisoformat(begins)
    days = (
        datetime.combine(now.astimezone(zone) + timedelta(days=day), at, zone)
        for zone in zones
        for day in range(_DAYS_AHEAD)
    )
    return sorted({moment.astimezone(UTC) for moment in days if moment > now})


def _first_open(zones: list[ZoneInfo], hours: tuple[str, str], moment: datetime) -> datetime:
    """The first minute that is open and stays so: clocks may have passed over the beginning."""
    minute = timedelta(minutes=1)
    while _is_open(zones, hours, moment - minute):
        moment -= minute
    return moment


def _is_open(zones: list[ZoneInfo], hours: tuple[str, str], moment: datetime) -> bool:
    begins, ends = hours
    return all(begins <= moment.astimezone(zone).strftime("%H:%M") < ends for zone in zones)


@lru_cache(maxsize=10_000)
def zones_of(phone: str, business_zone: str) -> tuple[str, ...]:
    """The time zones in which a number may ring: people are called when all of them allow it."""
    if not phone.startswith("+"):
        return (business_zone,)
    found = timezone.time_zones_for_number(phonenumbers.parse(phone))
    return tuple(name for name in found if name != _UNKNOWN_ZONE) or (business_zone,)


class Attempted(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that was made."""

    attempt: int
    max_attempts: int
    retry_delay: timedelta
    not_after: datetime
    was_answered: bool
    is_machine: bool
    # The end that the conversation had by itself, such as silence.
    conversation_end: str | None = None


def after(made: Attempted, ended: LineEnded, now: datetime) -> Postponed | Over:
    """The next state of a call whose line is over."""
    if made.was_answered:
        return _answered(made, ended)
    if ended.result in _RETRYABLE and ended.may_retry and made.attempt < made.max_attempts:
        due_at = now + max(made.retry_delay, ended.retry_after or timedelta())
        if due_at < made.not_after:
            return Postponed(due_at, "retry_backoff")
    status = "missed" if ended.result in _MISSED else "failed"
    reason = "interrupted" if ended.result == "cancelled" else ended.result
    return Over(status=status, reason=reason, ended_by=ended.ended_by)


def _answered(made: Attempted, ended: LineEnded) -> Over:
    if ended.result in _BROKEN:
        return Over(status="failed", reason="media_lost", ended_by=ended.ended_by)
    if made.conversation_end == "agent_error":
        return Over(status="failed", reason="agent_error", ended_by="system")
    if made.conversation_end == "interrupted":
        return Over(status="failed", reason="interrupted", ended_by="system")
    if ended.result == "max_duration":
        return Over(status="completed", reason="max_duration", ended_by=ended.ended_by)
    if made.is_machine:
        return Over(status="completed", reason="voicemail", ended_by=ended.ended_by)
    if made.conversation_end == "silence" and ended.ended_by == "agent":
        return Over(status="completed", reason="silence", ended_by="agent")
    return Over(status="completed", reason=f"{ended.ended_by}_hangup", ended_by=ended.ended_by)


OUTCOME_UNKNOWN = Over(status="failed", reason="outcome_unknown", ended_by="system")
"""The end of a call whose worker died, and of which the provider knows nothing."""
