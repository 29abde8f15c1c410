"""Rules for sending and for the status of a message: pure decisions."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import cycle

from msgspec import UNSET

from tillhouse.kit.errors import Conflict, FieldError, LimitReached, Refused
from tillhouse.kit.ids import ConversationId, UserId
from tillhouse.kit.secrets import Environment
from tillhouse.messaging.types import (
    ConversationPatch,
    ConversationState,
    DeliveryStatus,
    NewMessage,
    NewNumber,
    Provider,
    SandboxInbound,
    Shortcut,
)

# Free text reaches a customer for so long after the last message from there.
WINDOW = timedelta(hours=24)

SNOOZE_MAX = timedelta(days=366)
QUICK_REPLIES_MAX = 1000
# Roles that answer customers, though numbers, quick replies and the inbox are set by others.
ANSWERING = ("front_desk",)

# How far a message got, the later the further. A message that counted as failed may turn out to
# have come to another device of the customer; one that came never fails any more.
RANKS: tuple[DeliveryStatus, ...] = (
    "queued", "sending", "unknown", "sent", "failed", "delivered", "read",
)  # fmt: skip

OF_WHATSAPP = ("phone_number", "provider_number_id", "access_token", "app_secret", "verify_token")


class NoActiveNumber(
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


class TooManyQuickReplies(
    LimitReached,
    message=f"A book has at most {QUICK_REPLIES_MAX} quick replies: delete one first.",
):
    """The bound on quick replies of a book."""


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
    """A message is a text, a quick reply or a template."""
    if new.attachment_id is not None and new.template is not None:
        yield FieldError("attachment_id", "can't be sent with a template: send it by itself")
    elif new.quick_reply_id is not None:
        if new.text is not None or new.template is not None:
            yield FieldError("quick_reply_id", "stands in the place of a text: send one of them")
    elif new.attachment_id is not None:
        return
    elif new.text is None and new.template is None:
        yield FieldError("text", "is required, unless there is a template")
    elif new.text is not None and new.template is not None:
        yield FieldError("template", "stands in the place of a text: send one of them")


def inbound_errors(new: SandboxInbound) -> Iterator[FieldError]:
    """A customer sends a text, a file, or both."""
    if new.text is None and new.attachment_id is None:
        yield FieldError("text", "is required, unless there is an attachment")


def shortcut_in(text: str) -> str | None:
    """The shortcut that a text is, with `/` before it; None when it is a text like any other."""
    try:
        return Shortcut.check(text[1:]) if text.startswith("/") else None
    except ValueError:
        return None


def snooze_errors(patch: ConversationPatch, now: datetime) -> Iterator[FieldError]:
    """A conversation is snoozed until a moment of the next year."""
    until = patch.snoozed_until
    if patch.status == "snoozed" and (until is UNSET or until is None):
        yield FieldError("snoozed_until", "is required to snooze a conversation")
    elif until is not UNSET and until is not None:
        if patch.status != "snoozed":
            yield FieldError("snoozed_until", "goes with status snoozed: send both")
        elif until.at <= now:
            yield FieldError("snoozed_until", "must be in the future")
        elif until.at > now + SNOOZE_MAX:
            yield FieldError("snoozed_until", "must be within a year")


def changed(old: ConversationState, patch: ConversationPatch, now: datetime) -> ConversationState:
    """The state after a change; opened again without an assignee, a conversation waits."""
    assignee_id = old.assignee_id if patch.assignee_id is UNSET else patch.assignee_id
    status = old.status if patch.status is UNSET else patch.status
    snoozed_until = old.snoozed_until if status == "snoozed" else None
    if patch.snoozed_until is not UNSET and patch.snoozed_until is not None:
        snoozed_until = patch.snoozed_until.at
    began_waiting_at = old.began_waiting_at
    if status != "open" or patch.assignee_id is not UNSET:
        began_waiting_at = None
    elif old.status != "open" and assignee_id is None:
        began_waiting_at = now
    return ConversationState(
        assignee_id=assignee_id,
        status=status,
        snoozed_until=snoozed_until,
        began_waiting_at=began_waiting_at,
    )


def take_turns(
    waiting: Sequence[ConversationId], members: Sequence[UserId]
) -> list[tuple[ConversationId, UserId]]:
    """Each conversation with its member; the first member is the one whose turn it is."""
    return list(zip(waiting, cycle(members), strict=False))


def provider_errors(new: NewNumber, environment: Environment) -> Iterator[FieldError]:
    """Test books write to the sandbox, live books to people."""
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
