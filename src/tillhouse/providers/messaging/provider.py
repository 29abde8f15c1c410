"""The Protocol of messaging providers, with its requests and outcomes."""

from datetime import timedelta
from typing import Literal, Protocol

import msgspec

from tillhouse.kit.ids import MessageId

Result = Literal["sent", "failed", "later", "unknown"]


class MessagingAccount(msgspec.Struct, frozen=True):
    """The credentials of a number."""

    provider_number_id: str
    access_token: str

    def __repr__(self) -> str:
        """Keep the token out of logs and tracebacks."""
        return f"Account({self.provider_number_id!r}, …)"


class Template(msgspec.Struct, frozen=True):
    """An approved text of the business, and its values."""

    name: str
    language: str
    parameters: list[str] = []


class MediaFile(msgspec.Struct, frozen=True):
    """A file that goes with a message."""

    kind: str
    content_type: str
    filename: str
    content: bytes

    def __repr__(self) -> str:
        """Keep its bytes out of logs and tracebacks."""
        return f"Media({self.kind!r}, {self.content_type!r}, {len(self.content)} bytes)"


class Fetched(msgspec.Struct, frozen=True):
    """A file as it was fetched; `later`: it may be asked for again; `failed`: it can't be had."""

    result: Literal["fetched", "failed", "later"]
    content: bytes | None = None
    error: str | None = None


class OutgoingMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a customer."""

    message_id: MessageId
    # E.164, or the provider's own name of a person whose number it doesn't tell.
    to: str
    text: str
    template: Template | None = None
    # Sent with the text below it, if there is one.
    media: MediaFile | None = None


class SendOutcome(msgspec.Struct, frozen=True):
    """The result of an attempt to send.

    `sent`: the provider has taken it. `failed`: it was refused for good. `later`: it was not
    taken and may be tried again. `unknown`: it may have been taken, so it is never tried again.
    """

    result: Result
    provider_message_id: str | None = None
    error: str | None = None


class DeliveryReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """A report on a message, some time after it was sent."""

    status: Literal["delivered", "read", "failed"]
    error: str | None = None


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a message at once, and the report on it later, if any."""

    outcome: SendOutcome
    report: DeliveryReport | None = None
    report_after: timedelta = timedelta()


class Messenger(Protocol):
    """Carries messages; a failure is an outcome, never an exception."""

    # The number that a book writes from by itself; None where businesses bring their own.
    own_number: str | None

    def settle(self, message: OutgoingMessage) -> Settled | None:
        """The outcome of a message without asking anybody; None where `send` has to ask."""
        ...

    async def send(self, account: MessagingAccount, message: OutgoingMessage) -> SendOutcome:
        """Hand one message over."""
        ...

    async def fetch(self, account: MessagingAccount, media_id: str, bytes_max: int) -> Fetched:
        """A file that a customer sent, of so many bytes at most."""
        ...
