"""Rules of placing and cancelling calls: pure decisions."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import msgspec
import phonenumbers

from tillhouse.kit.errors import Conflict, FieldError, unknown
from tillhouse.kit.ids import CustomerId
from tillhouse.kit.partial import faults
from tillhouse.voice.calls.types import CallStatus, NewCall

LASTS = timedelta(days=1)
# Cancelling is possible up to the answer.
UNANSWERED: frozenset[CallStatus] = frozenset({"queued", "dialing", "ringing"})


# Satellites, networks of no country, and premium rates of all countries.
_COSTLY = frozenset({870, 878, 881, 882, 883, 979})


class AlreadyAnswered(
    Conflict, message="The call has been answered: it can't be cancelled, but hung up."
):
    """An answered call isn't cancelled in the middle of a sentence."""


class AlreadyEnded(Conflict, message="The call has ended: there is nothing left to cancel."):
    """A call ends once."""


class CallFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the book that decides about a new call."""

    # None: there is no such number; None: no such agent.
    provider: str | None
    agent_status: str | None
    agent_max_attempts: int | None
    customer_id: CustomerId | None
    customer_name: str | None
    is_suppressed: bool
    has_order: bool
    has_reservation: bool
    # The bound on calls of a day that the business set.
    calls_per_day: int | None = None
    # Beginnings of premium and satellite numbers that may be called all the same.
    allowed_prefixes: Sequence[str] | None = None


class Times(msgspec.Struct, frozen=True):
    """When a call begins, and when it is too late."""

    scheduled_for: datetime | None
    due_at: datetime
    not_after: datetime


def times(new: NewCall, now: datetime) -> Times:
    """The times of a new call."""
    scheduled_for = new.scheduled_for.at if new.scheduled_for is not None else None
    due_at = scheduled_for or now
    not_after = new.not_after.at if new.not_after is not None else due_at + LASTS
    return Times(scheduled_for, due_at, not_after)


def new_faults(new: NewCall, facts: CallFacts, now: datetime) -> list[FieldError]:
    """The faults of a new call."""
    return faults(
        lambda: _number_faults(new, facts),
        lambda: _agent_faults(new, facts),
        lambda: _phone_faults(new, facts),
        lambda: _order_faults(new, facts),
        lambda: _stay_faults(new, facts),
        lambda: _scheduled_faults(new, now),
        lambda: _limit_faults(new, now),
    )


def _number_faults(new: NewCall, facts: CallFacts) -> Iterator[FieldError]:
    if new.business_voice_number_id and facts.provider is None:
        yield unknown("business_voice_number_id", "voice number")


def _agent_faults(new: NewCall, facts: CallFacts) -> Iterator[FieldError]:
    if new.ai_agent_id and facts.agent_status is None:
        yield unknown("ai_agent_id", "agent")
    if facts.agent_status == "inactive":
        yield FieldError("ai_agent_id", "is an agent that is not active: activate it first")


def _phone_faults(new: NewCall, facts: CallFacts) -> Iterator[FieldError]:
    if new.customer_phone.is_sip and facts.provider not in ("sip", None):
        yield FieldError("customer_phone", "must be a number: only provider sip calls addresses")
    if facts.is_suppressed:
        yield FieldError("customer_phone", "is on the suppression list: it must not be called")
    elif not new.customer_phone.is_sip and _is_costly(new.customer_phone):
        allowed = facts.allowed_prefixes
        if allowed is not None and not new.customer_phone.startswith(tuple(allowed)):
            yield FieldError(
                "customer_phone",
                "is a premium or satellite number: allow its beginning in allowed_prefixes of the "
                "voice number",
            )


def _is_costly(phone: str) -> bool:
    parsed = phonenumbers.parse(phone)
    is_premium = phonenumbers.number_type(parsed) == phonenumbers.PhoneNumberType.PREMIUM_RATE
    return is_premium or parsed.country_code in _COSTLY


def _order_faults(new: NewCall, facts: CallFacts) -> Iterator[FieldError]:
    if new.order_id is not None and not facts.has_order:
        yield unknown("order_id", "order")


def _stay_faults(new: NewCall, facts: CallFacts) -> Iterator[FieldError]:
    if new.reservation_id is not None and not facts.has_reservation:
        yield unknown("reservation_id", "reservation")


def _scheduled_faults(new: NewCall, now: datetime) -> Iterator[FieldError]:
    if new.scheduled_for is not None and new.scheduled_for.at <= now:
        yield FieldError("scheduled_for", "must be in the future")


def _limit_faults(new: NewCall, now: datetime) -> Iterator[FieldError]:
    if new.not_after is None:
        return
    begins = new.scheduled_for.at if new.scheduled_for is not None else now
    if new.not_after.at <= begins:
        yield FieldError("not_after", "must be later than the call is to begin")
