"""WhatsApp's webhook: the handshake, the signature, and the updates."""

import hmac
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

import msgspec

from tillhouse.kit.text import storable

Status = Literal["sent", "delivered", "read", "failed"]

_PREFIX = "sha256="
_SIGNATURE = re.compile(_PREFIX + "[0-9a-f]{64}")
# Reported of voice messages that were listened to.
_AS_READ = "played"
_TEXT_LENGTH_MAX = 4096
_ID_LENGTH_MAX = 300
_TYPE_LENGTH_MAX = 40
_FILENAME_LENGTH_MAX = 240


class ReceivedMedia(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a customer sent, which lies at WhatsApp."""

    kind: Literal["image", "audio", "video", "document", "sticker"]
    media_id: str
    filename: str | None
    # In base64.
    sha256: str | None


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a customer."""

    # E.164, or WhatsApp's id of a person who hides the number.
    sender: str
    name: str | None
    provider_message_id: str
    type: str
    text: str
    # When it was written; None when that is not told.
    at: datetime | None
    media: ReceivedMedia | None = None


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a message of ours."""

    provider_message_id: str
    # Our own id of it, which we had sent along.
    callback_data: str | None
    status: Status
    error: str | None


Update = Received | Reported


def challenge(query: Mapping[str, str], verify_token: str) -> str | None:
    """The answer to the handshake; None when it isn't meant for us."""
    given = query.get("hub.verify_token", "").encode()
    is_ours = hmac.compare_digest(given, verify_token.encode())
    if query.get("hub.mode") != "subscribe" or not is_ours:
        return None
    return query.get("hub.challenge")


def is_signature(header: str | None) -> bool:
    """Whether a header has the form of `X-Hub-Signature-256`."""
    return _SIGNATURE.fullmatch(header or "") is not None


def is_signed(app_secret: str, body: bytes, header: str | None) -> bool:
    """Whether `X-Hub-Signature-256` is that of these very bytes."""
    expected = _PREFIX + hmac.new(app_secret.encode(), body, sha256).hexdigest()
    return hmac.compare_digest((header or "").encode(), expected.encode())


def updates(body: bytes, provider_number_id: str) -> list[Update]:
    """Every update for one number, in its order; what isn't understood is passed over."""
    try:
        whole = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    return [
        update
        for entry in _objects(whole, "entry")
        for change in _objects(entry, "changes")
        if change.get("field") == "messages"
        for update in _of_value(_object(change, "value"), provider_number_id)
    ]


def _of_value(value: dict[str, Any], provider_number_id: str) -> Iterator[Update]:
    # One subscription may cover several numbers; each has a hook of its own.
    if _text(_object(value, "metadata"), "phone_number_id") != provider_number_id:
        return
    names = {
        _text(contact, key): _text(_object(contact, "profile"), "name")
        for contact in _objects(value, "contacts")
        for key in ("wa_id", "user_id")
    }
    for message in _objects(value, "messages"):
        if received := _received(message, names):
            yield received
    for status in _objects(value, "statuses"):
        if reported := _reported(status):
            yield reported


def _received(message: dict[str, Any], names: dict[str, str]) -> Received | None:
    number, user = _text(message, "from"), _text(message, "from_user_id")
    kind, name = _text(message, "type"), _text(message, "id")
    sender = f"+{number}" if number.isascii() and number.isdigit() else number or user
    if not name or not sender or len(name) > _ID_LENGTH_MAX or len(sender) > _ID_LENGTH_MAX:
        return None
    return Received(
        sender=sender,
        name=names.get(number) or names.get(user) or None,
        provider_message_id=name,
        type=kind[:_TYPE_LENGTH_MAX] or "unsupported",
        text=_words(message, kind)[:_TEXT_LENGTH_MAX],
        at=_moment(_text(message, "timestamp")),
        media=_media(message, kind),
    )


def _media(message: dict[str, Any], kind: str) -> ReceivedMedia | None:
    if kind not in ("image", "audio", "video", "document", "sticker"):
        return None
    inner = _object(message, kind)
    media_id = _text(inner, "id")
    if not media_id or len(media_id) > _ID_LENGTH_MAX:
        return None
    return ReceivedMedia(
        kind=kind,
        media_id=media_id,
        filename=" ".join(_text(inner, "filename").split())[:_FILENAME_LENGTH_MAX] or None,
        sha256=_text(inner, "sha256")[:_ID_LENGTH_MAX] or None,
    )


def _words(message: dict[str, Any], kind: str) -> str:
    """The text that a person would read; a type `interactive` may come without its object."""
    inner = _object(message, kind)
    match kind:
        case "text":
            return _text(inner, "body")
        case "button":
            return _text(inner, "text")
        case "reaction":
            return _text(inner, "emoji")
        case "interactive":
            reply = _object(inner, "button_reply") or _object(inner, "list_reply")
            return _text(reply, "title")
        case "location":
            return _text(inner, "name") or f"{inner.get('latitude')}, {inner.get('longitude')}"
        case "order":
            return _text(inner, "text")
        case _:
            return _text(inner, "caption") or _text(inner, "filename") or _text(inner, "body")


def _reported(status: dict[str, Any]) -> Reported | None:
    word = _text(status, "status")
    word = "read" if word == _AS_READ else word
    name = _text(status, "id")
    if word not in ("sent", "delivered", "read", "failed") or not name:
        return None
    error = next(_objects(status, "errors"), {})
    details = _text(_object(error, "error_data"), "details") or _text(error, "title")
    return Reported(
        provider_message_id=name[:_ID_LENGTH_MAX],
        callback_data=_text(status, "biz_opaque_callback_data") or None,
        status=word,
        error=f"{error.get('code')}: {details}"[:_ID_LENGTH_MAX] if error else None,
    )


def _moment(text: str) -> datetime | None:
    if not (text.isascii() and text.isdigit() and len(text) <= 11):
        return None
    return datetime.fromtimestamp(int(text), UTC)


def _object(value: Any, name: str) -> dict[str, Any]:
    inner = value.get(name) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _objects(value: Any, name: str) -> Iterator[dict[str, Any]]:
    inner = value.get(name) if isinstance(value, dict) else None
    for item in inner if isinstance(inner, list) else ():
        if isinstance(item, dict):
            yield item


def _text(value: dict[str, Any], name: str) -> str:
    inner = value.get(name)
    if not isinstance(inner, str):
        return ""
    # A customer's message isn't refused for a character that no text may hold.
    return storable(inner)
