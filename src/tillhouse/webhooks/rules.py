"""Rules of endpoint addresses and of retries: pure decisions."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tillhouse.kit.errors import Conflict, FieldError, Invalid, LimitReached
from tillhouse.kit.network import Address, Network, parse_address
from tillhouse.kit.targets import is_forbidden

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

URL_LENGTH_MAX = 2048
_LISTEN = "`tillhouse listen` delivers to a program on your machine"
ENDPOINT_DISABLED = "endpoint_disabled"

_URL = re.compile(r"[!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]+")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?")
_LOCAL_NAMES = (
    "localhost", "local", "internal", "intranet", "lan", "localdomain", "home.arpa", "svc",
)  # fmt: skip


class NotActive(Conflict, message="The endpoint is disabled: enable it first."):
    """Nothing is sent to a disabled endpoint."""


def clean_url(text: str) -> str:
    """The address as it is kept, or ValueError: HTTPS, a plain host, no credentials."""
    if len(text) > URL_LENGTH_MAX:
        raise ValueError(f"must have at most {URL_LENGTH_MAX} characters")
    if not _URL.fullmatch(text):
        raise ValueError("must be an https:// address in ASCII (spaces as %20, hosts in punycode)")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("must be an https:// address with a valid host and port") from None
    if parts.scheme != "https":
        raise ValueError(f"must begin with https://; {_LISTEN}")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user name or password")
    if port == 0:
        raise ValueError("must have a port from 1 to 65535")
    _check_host(parts.hostname or "", is_bracketed="[" in parts.netloc)
    return parts._replace(fragment="").geturl()


def host_of(url: str) -> str:
    """The host of a cleaned address."""
    return urlsplit(url).hostname or ""


def literal_of(host: str) -> Address | None:
    """The address that a host spells out; None for a name."""
    try:
        return parse_address(host)
    except ValueError:
        return None


def check_target(host: str, answers: Sequence[Address], allowed: Sequence[Network]) -> str | None:
    """Why no webhook may go to this host; None when it may."""
    literal = literal_of(host)
    for address in [literal] if literal is not None else answers:
        if is_forbidden(address, allowed):
            return f"must not lead to a private, local or reserved address; {_LISTEN}"
    if literal is None and not answers and _is_local(host.rstrip(".")):
        return f"must not be a local name; {_LISTEN}"
    return None


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

    The chance (0 to 1) spreads retries out; what the receiver asks for only ever lengthens.
    """
    if attempt >= ATTEMPTS_MAX:
        return None
    delay_s = base_s * factor ** (attempt - 1) * (1 + JITTER * chance)
    return now + timedelta(seconds=max(delay_s, min(retry_after_s, RETRY_AFTER_MAX_S)))


def _check_host(host: str, *, is_bracketed: bool) -> None:
    """A name, or an address in canonical spelling: `0x7f.1` and `2130706433` are neither."""
    if is_bracketed:
        if literal_of(host) is None:
            raise ValueError("must have a valid host")
        return
    if not _HOST.fullmatch(host) or len(host) > 253:
        raise ValueError("must have a valid host")
    # No top-level domain begins with a digit, so this is meant as an address.
    if host.rstrip(".").rpartition(".")[2][0].isdigit():
        try:
            ip_address(host)
        except ValueError:
            raise ValueError(
                "must have a valid host: write an IPv4 address as 203.0.113.7"
            ) from None


def _is_local(name: str) -> bool:
    return "." not in name or any(
        name == local or name.endswith("." + local) for local in _LOCAL_NAMES
    )


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
