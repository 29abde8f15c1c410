"""WhatsApp's Cloud API: sending, as documented by Meta.

`POST {base}/{phone number id}/messages` with a bearer token. An answer without the id of a
message, or none at all, leaves open whether the customer gets it: such a message is `unknown`.
"""

from typing import Any
from urllib.parse import quote

import aiohttp
import msgspec

from tillhouse.kit.json import encode
from tillhouse.providers.messaging import whatsapp_media
from tillhouse.providers.messaging.provider import (
    Fetched,
    MediaFile,
    MessagingAccount,
    OutgoingMessage,
    SendOutcome,
    Settled,
    Template,
)

BASE_URL = "https://graph.facebook.com/v23.0"
TIMEOUT_S = 10.0
TEXT_LENGTH_MAX = 4096
_ERROR_LENGTH_MAX = 300

# Refusals that pass: too many calls, too many messages, a service that is briefly down.
PASSING = frozenset({4, 80007, 130429, 131000, 131016, 131056, 131057})
_TOO_MANY = 429


class _Error(msgspec.Struct):
    """The error of an answer of 4xx or 5xx."""

    code: int
    message: str = ""


class _Refusal(msgspec.Struct):
    error: _Error


class _Taken(msgspec.Struct):
    id: str


class _Accepted(msgspec.Struct):
    messages: list[_Taken]


class WhatsApp:
    """Sends by the Cloud API at one address."""

    own_number: str | None = None

    def __init__(self, base_url: str = BASE_URL, timeout_s: float = TIMEOUT_S) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)

    def settle(self, message: OutgoingMessage) -> Settled | None:
        """WhatsApp has to be asked."""
        return None

    async def send(self, account: MessagingAccount, message: OutgoingMessage) -> SendOutcome:
        """Hand one message over."""
        media_id = None
        if message.media is not None:
            found = await self._upload(account, message.media)
            if isinstance(found, SendOutcome):
                return found
            media_id = found
        url = f"{self._base_url}/{quote(account.provider_number_id, safe='')}/messages"
        headers = {
            "authorization": f"Bearer {account.access_token}",
            "content-type": "application/json",
        }
        body = encode(payload(message, media_id))
        try:
            async with (
                aiohttp.ClientSession(timeout=self._timeout) as session,
                session.post(url, data=body, headers=headers, allow_redirects=False) as response,
            ):
                return judge(response.status, await whatsapp_media.start_of(response))
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            # The server wasn't reached, so nothing was handed over.
            return SendOutcome("later", error=type(error).__name__)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return SendOutcome("unknown", error=type(error).__name__)

    async def _upload(self, account: MessagingAccount, media: MediaFile) -> str | SendOutcome:
        """The id of a file, or why there is none: it may be handed over again and again."""
        try:
            async with aiohttp.ClientSession() as session:
                found = await whatsapp_media.upload(session, self._base_url, account, media)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return SendOutcome("later", error=type(error).__name__)
        return found if isinstance(found, str) else whatsapp_media.later_or_failed(judge(*found))

    async def fetch(self, account: MessagingAccount, media_id: str, bytes_max: int) -> Fetched:
        """A file that a customer sent."""
        return await whatsapp_media.fetch(self._base_url, account, media_id, bytes_max)


def payload(message: OutgoingMessage, media_id: str | None = None) -> dict[str, Any]:
    """The body of a request; our id comes back with every report on the message."""
    # A person who hides the number is known by an id instead.
    named = {"to": message.to} if message.to.startswith("+") else {"recipient": message.to}
    body: dict[str, Any] = {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        **named,
        "biz_opaque_callback_data": str(message.message_id),
    }
    if message.template is not None:
        return {**body, "type": "template", "template": _filled(message.template)}
    if message.media is not None:
        assert media_id is not None, "a file is uploaded first"  # noqa: S101
        return {**body, **whatsapp_media.part(message.media, media_id, message.text)}
    return {**body, "type": "text", "text": {"body": message.text, "preview_url": False}}


def _filled(template: Template) -> dict[str, Any]:
    body: dict[str, Any] = {"name": template.name, "language": {"code": template.language}}
    if template.parameters:
        parameters = [{"type": "text", "text": text} for text in template.parameters]
        body["components"] = [{"type": "body", "parameters": parameters}]
    return body


def judge(status: int, body: bytes) -> SendOutcome:
    """The outcome that an answer stands for."""
    if status in range(200, 300):
        try:
            taken = msgspec.json.decode(body, type=_Accepted).messages
        except (msgspec.DecodeError, UnicodeDecodeError):
            taken = []
        if not taken or not taken[0].id:
            return SendOutcome("unknown", error=f"http_{status}_without_id")
        return SendOutcome("sent", taken[0].id[:_ERROR_LENGTH_MAX])
    try:
        error = msgspec.json.decode(body, type=_Refusal).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _judge_bare(status)
    words = f"{error.code}: {error.message}"[:_ERROR_LENGTH_MAX]
    return SendOutcome("later" if error.code in PASSING else "failed", error=words)


def _judge_bare(status: int) -> SendOutcome:
    """An answer that says nothing more than its status, perhaps from something in between."""
    if status == _TOO_MANY:
        return SendOutcome("later", error=f"http_{status}")
    is_refusal = status in range(400, 500) and status != 408
    return SendOutcome("failed" if is_refusal else "unknown", error=f"http_{status}")
