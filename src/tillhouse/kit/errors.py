"""Everything the product can refuse, as one tree; which status each kind becomes is told elsewhere.

    Problem
    ├── Invalid                         invalid           validation_error
    ├── KeyReused                       invalid           idempotency_key_reused
    ├── Refused                         refused           request_failed
    ├── Malformed                       refused           request_failed
    ├── Conflict                        conflict          request_failed
    │   ├── LimitReached                conflict          limit_reached
    │   └── InProgress                  conflict          idempotency_in_progress
    ├── Missing                         missing           not_found
    ├── Unauthenticated                 unauthenticated   unauthorized
    ├── Forbidden                       forbidden         forbidden
    │   ├── SubscriptionRequired        forbidden         subscription_required
    │   ├── SecondFactorSetupRequired   forbidden       second_factor_setup_required
    │   └── PasswordVerificationRequired  forbidden       password_verification_required
    ├── Limited                         limited           rate_limit_exceeded
    ├── TooLarge                        too_large         payload_too_large
    ├── WrongMediaType                  wrong_media_type  unsupported_media_type
    │   └── WrongEncoding               wrong_media_type  unsupported_media_type
    ├── WrongMethod                     wrong_method      method_not_allowed
    ├── OutOfRange                      out_of_range      request_failed
    └── Unavailable                     unavailable       unavailable

A feature names its own refusals beside its rules, and gives the differences as class arguments:

    class AlreadyInKitchen(Conflict, message="The order is in the kitchen already."):
        \"\"\"The order has a ticket.\"\"\"
"""

from collections.abc import Iterable
from typing import ClassVar, Self, TypeVar

import msgspec

T = TypeVar("T")


class FieldError(msgspec.Struct, frozen=True):
    """One wrong field of a request."""

    field: str
    message: str


class Problem(Exception):
    """A refusal that the caller is told about: a kind, a code, a message and perhaps fields."""

    kind: ClassVar[str] = "refused"
    code: str = "request_failed"
    message: str = "The request was refused."
    details: list[FieldError] | None = None

    def __init_subclass__(
        cls, *, kind: str | None = None, code: str | None = None, message: str | None = None
    ) -> None:
        """Take kind, code and default message as class arguments; the rest is inherited."""
        super().__init_subclass__()
        if kind is not None:
            cls.kind = kind
        if code is not None:
            cls.code = code
        if message is not None:
            cls.message = message

    def __init__(
        self,
        message: str | None = None,
        *,
        code: str | None = None,
        details: Iterable[FieldError] | None = None,
    ) -> None:
        """Say more than the class does where the place that raises it knows more."""
        if message is not None:
            self.message = message
        if code is not None:
            self.code = code
        if details is not None:
            self.details = list(details)
        super().__init__(self.message)

    def __str__(self) -> str:
        """Read as the message and the wrong fields, for logs and test output."""
        wrong = "; ".join(f"{detail.field}: {detail.message}" for detail in self.details or ())
        return f"{self.message} ({wrong})" if wrong else self.message


class Invalid(
    Problem,
    kind="invalid",
    code="validation_error",
    message="Some fields are wrong: correct those in details and send the request again.",
):
    """Fields of the request are wrong; details names every one of them."""

    def __init__(self, details: Iterable[FieldError] = (), /, **messages: str) -> None:
        """Take field errors, or the messages by field name, or both."""
        named = [FieldError(field, message) for field, message in messages.items()]
        super().__init__(details=[*details, *named])

    @classmethod
    def field(cls, name: str, message: str) -> Self:
        """Refuse one field whose name is no identifier, such as `items[0].quantity`."""
        return cls([FieldError(name, message)])


def check(faults: Iterable[FieldError]) -> None:
    """Refuse the request for its faults, if it has any."""
    details = list(faults)
    if details:
        raise Invalid(details)


class KeyReused(
    Problem,
    kind="invalid",
    code="idempotency_key_reused",
    message=(
        "This Idempotency-Key was used for another request: "
        "send a new key, or repeat the first request unchanged."
    ),
):
    """An idempotency key came back with another method, path or body."""


class Refused(
    Problem,
    kind="refused",
    code="request_failed",
    message="The request can't be carried out as things stand: check the resource's state.",
):
    """A rule of the business says no."""


class Malformed(
    Problem,
    kind="refused",
    code="request_failed",
    message="The body is no valid JSON: check quotes, commas and encoding (UTF-8).",
):
    """The bytes of the request can't be read at all."""


class Conflict(
    Problem,
    kind="conflict",
    code="request_failed",
    message="The resource changed or is in use: read it again, then decide.",
):
    """The request collides with an existing row."""


class LimitReached(
    Conflict,
    code="limit_reached",
    message="The limit is reached: remove one that is no longer needed, then try again.",
):
    """No more of these may be made."""


class InProgress(
    Conflict,
    code="idempotency_in_progress",
    message=(
        "The first request with this Idempotency-Key is still running: "
        "wait a few seconds, then repeat it unchanged."
    ),
):
    """The first request with the same idempotency key hasn't ended."""


class Missing(
    Problem,
    kind="missing",
    code="not_found",
    message="Not found: check the id, and that it is of this business and environment.",
):
    """There is no such thing, as far as this caller may know."""


class Unauthenticated(
    Problem,
    kind="unauthenticated",
    code="unauthorized",
    message="Send a valid credential in the Authorization header: Bearer <key or token>.",
):
    """The caller isn't known."""


class Forbidden(
    Problem,
    kind="forbidden",
    code="forbidden",
    message="This credential may not do that: use one with the needed permission.",
):
    """The caller is known and may not."""


class SubscriptionRequired(
    Forbidden,
    code="subscription_required",
    message="The business has no subscription with API access: start or renew one.",
):
    """The business's plan doesn't include this."""


class SecondFactorSetupRequired(
    Forbidden,
    code="second_factor_setup_required",
    message=(
        "Your role needs a second factor, and none is on: begin one with "
        "POST /api/auth/second-factor, and turn it on by its first code."
    ),
):
    """The role of the person needs a second factor, which isn't on yet."""


class PasswordVerificationRequired(
    Forbidden,
    code="password_verification_required",
    message="Give your password to POST /api/auth/verify-password, then repeat the request.",
):
    """The session must prove the password again before this step."""


class Limited(
    Problem,
    kind="limited",
    code="rate_limit_exceeded",
    message="Too many requests: wait as long as Retry-After says, then continue more slowly.",
):
    """The caller is too fast."""

    def __init__(self, retry_after_s: float, message: str | None = None) -> None:
        """Say in how many seconds the next request may pass."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TooLarge(
    Problem,
    kind="too_large",
    code="payload_too_large",
    message="The body is too large: send less at once.",
):
    """The body exceeds the limit."""


class WrongMediaType(
    Problem,
    kind="wrong_media_type",
    code="unsupported_media_type",
    message="Send the body as JSON with the header Content-Type: application/json.",
):
    """The body is of a type that this route doesn't read."""


class WrongEncoding(
    WrongMediaType,
    message="Send the body uncompressed: leave out the header Content-Encoding, or say identity.",
):
    """The body is packed in a way that isn't read."""


class WrongMethod(
    Problem,
    kind="wrong_method",
    code="method_not_allowed",
    message="This path has no such method: use one that the header Allow names.",
):
    """The path exists, but not with this method."""

    def __init__(self, allowed: Iterable[str], message: str | None = None) -> None:
        """Say which methods the path does have."""
        self.allowed = tuple(allowed)
        super().__init__(message or f"Use {' or '.join(self.allowed)} on this path.")


class OutOfRange(
    Problem,
    kind="out_of_range",
    message="The file has no such bytes: the header Content-Range tells its size.",
):
    """The part of a file that is asked for begins behind its end."""

    def __init__(self, size: int) -> None:
        """Say how many bytes the file has."""
        super().__init__()
        self.size = size


class Unavailable(
    Problem,
    kind="unavailable",
    code="unavailable",
    message="The service can't answer right now: try again shortly.",
):
    """Something that the request needs is down or overloaded."""

    def __init__(self, message: str | None = None, *, retry_after_s: float = 1.0) -> None:
        """Say in how many seconds a new attempt makes sense."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


def existing(found: T | None) -> T:
    """The thing that was looked up; a 404 when there is none."""
    if found is None:
        raise Missing
    return found


def unknown(field: str, noun: str) -> FieldError:
    """The fault of an id that names nothing of this book."""
    return FieldError(field, f"is no {noun} of this business and environment")
