"""Rules of endpoints, of retries and of recoveries: pure decisions."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tillhouse.kit.errors import Conflict, FieldError, Invalid, LimitReached

if TYPE_CHECKING:
    from tillhouse.webhooks.types import DeliveryFilter, Recovery

ENDPOINTS_MAX = 8
ATTEMPTS_MAX = 5
FAILURES_TO_PROBE = 3
FAILURES_TO_WARN = 5
FAILURES_TO_DISABLE = 15
JITTER = 0.2
RETRY_AFTER_MAX_S = 3600.0
RECOVER_PER_SECOND = 20
RECOVER_MAX = 10_000

# No id carries an earlier moment.
FIRST_MOMENT = datetime.fromtimestamp(0, UTC)

ENDPOINT_DISABLED = "endpoint_disabled"


class NotActive(Conflict, message="The endpoint is disabled: enable it first."):
    """Nothing is sent to a disabled endpoint."""


def check_endpoint_limit(active: int) -> None:
    """An app has so many active endpoints and no more."""
    if active >= ENDPOINTS_MAX:
        raise LimitReached(
            f"This app has {ENDPOINTS_MAX} active webhook endpoints in this environment, which "
            "is the limit: disable one that is no longer needed, then try again."
        )


def check_active(status: str) -> None:
    """Tests and resends need an active endpoint."""
    if status != "active":
        raise NotActive


def retry_at(
    attempt: int, now: datetime, base_s: float, factor: float, chance: float, retry_after_s: float
) -> datetime | None:
    """When to try again after the attempt of this number failed; None: never.

    The chance (0 to 1) spreads retries out; a wish of the receiver only ever lengthens the wait.
    """
    if attempt >= ATTEMPTS_MAX:
        return None
    delay_s = base_s * factor ** (attempt - 1) * (1 + JITTER * chance)
    return now + timedelta(seconds=max(delay_s, min(retry_after_s, RETRY_AFTER_MAX_S)))


def last_due_at(count: int, now: datetime) -> datetime | None:
    """When the last of so many recovered deliveries is due; None when there are none."""
    if not count:
        return None
    return now + timedelta(seconds=(count - 1) / RECOVER_PER_SECOND)


def window(wanted: "Recovery", zone: str, now: datetime) -> tuple[datetime, datetime]:
    """The time window of a recovery: from the start of its first moment to the end of its last."""
    until = wanted.until.ends_at(zone) if wanted.until else now
    return max(wanted.since.starts_at(zone), FIRST_MOMENT), max(until, FIRST_MOMENT)


def window_errors(wanted: "Recovery", zone: str, now: datetime) -> Iterator[FieldError]:
    """Why nothing can lie in the window."""
    since, until = window(wanted, zone, now)
    if since >= until:
        if wanted.until is None:
            yield FieldError("since", "must be in the past")
        else:
            yield FieldError("until", "must be after since")


def listed_window(wanted: "DeliveryFilter", zone: str) -> tuple[datetime | None, datetime | None]:
    """The time window of a list, as far as it has ends."""
    since = max(wanted.since.starts_at(zone), FIRST_MOMENT) if wanted.since else None
    until = max(wanted.until.ends_at(zone), FIRST_MOMENT) if wanted.until else None
    if since and until and since > until:
        raise Invalid([FieldError("until", "must not be before since")])
    return since, until


def subscription_errors(events: Sequence[str]) -> Iterator[FieldError]:
    """The faults of events that are each right: `*` is all of them."""
    if "*" in events and len(events) > 1:
        yield FieldError("events", 'must be ["*"] alone for every event, or name each of them')
