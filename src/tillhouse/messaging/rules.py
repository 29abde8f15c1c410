"""Rules for sending and for the status of a message: pure decisions."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from tillhouse.kit.errors import Conflict, FieldError, Refused
from tillhouse.kit.secrets import Environment
from tillhouse.messaging.types import DeliveryStatus, NewMessage, NewNumber, Provider

# Free text reaches a customer for so long after the last message from there.
WINDOW = timedelta(hours=24)

# How far a message got, the later the further. A message that counted as failed may turn out to
# have come to another device of the customer; one that came never fails any more.
RANKS: tuple[DeliveryStatus, ...] = (
    "queued", "sending", "unknown", "sent", "failed", "delivered", "read",
)  # fmt: skip

OF_WHATSAPP = ("phone_number", "provider_number_id", "access_token", "app_secret", "verify_token")


class NotConnected(
    Refused, message="Connect a messaging number first: POST /v1/messaging/numbers."
):
    """The book has no active number."""


class NumberConnected(
    Conflict,
    message="A number is connected already: disconnect it with DELETE, then connect another.",
):
    """The book has an active number."""


class WindowClosed(
    Refused,
    message="The customer last wrote more than 24 hours ago, or never: send a template instead.",
):
    """WhatsApp takes no free text now."""


class SandboxOnly(
    Refused, message="Customers are simulated in the test environment only: use a test key."
):
    """A live book has real customers."""


def is_further(new: DeliveryStatus, old: DeliveryStatus) -> bool:
    """Whether a report says more than is known: a late one never moves a message back."""
    return RANKS.index(new) > RANKS.index(old)


def is_window_open(last_received_at: datetime | None, now: datetime) -> bool:
    """Whether the customer may be written to freely."""
    return last_received_at is not None and now < last_received_at + WINDOW


def check_window(
    provider: Provider, new: NewMessage, last_received_at: datetime | None, now: datetime
) -> None:
    """WhatsApp takes free text within the window alone; the sandbox always does."""
    is_free = provider != "whatsapp" or new.template is not None
    if not is_free and not is_window_open(last_received_at, now):
        raise WindowClosed


def message_errors(new: NewMessage) -> Iterator[FieldError]:
    """A message is a text or a template."""
    if new.text is None and new.template is None:
        yield FieldError("text", "is required, unless there is a template")
    elif new.text is not None and new.template is not None:
        yield FieldError("template", "stands in the place of a text: send one of them")


def provider_errors(new: NewNumber, environment: Environment) -> Iterator[FieldError]:
    """Test books write to nobody, live books to people."""
    wanted: Provider = "sandbox" if environment == "test" else "whatsapp"
    if new.provider != wanted:
        yield FieldError("provider", f"must be {wanted} in the {environment} environment")


def number_errors(new: NewNumber, name: str) -> Iterator[FieldError]:
    """Faults in the fields that WhatsApp needs, and the sandbox doesn't."""
    given = getattr(new, name)
    if new.provider == "whatsapp" and given is None:
        yield FieldError(name, "is required for whatsapp")
    elif new.provider == "sandbox" and given is not None:
        yield FieldError(name, "is nothing that the sandbox needs")


def phone_errors(name: str, number: object, country: str) -> Iterator[FieldError]:
    """A number that can be dialled from the business's country."""
    from_country = getattr(number, "e164", None)
    if from_country is None:
        return
    try:
        from_country(country)
    except ValueError as error:
        yield FieldError(name, str(error))
