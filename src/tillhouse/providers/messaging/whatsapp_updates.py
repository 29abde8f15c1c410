"""WhatsApp's webhook: the handshake, the signature, and the updates.

A body is taken apart lazily: unread parts stay the bytes that came.
"""

import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Raw

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

Read = TypeVar("Read")
_Object: TypeAlias = Mapping[str, Raw]
_NOTHING: _Object = {}
_OPENING = ord("{")


class ReceivedMedia(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a customer sent, which lies at WhatsApp."""

    kind: Literal["image", "audio", "video", "document", "sticker"]
    media_id: str
    filename: str | None
    # In base64.
    sha256: str | None


class WhatsAppMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a customer."""

    # E.164, or WhatsApp's id of a person who hides the number.
    sender: str
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


Update = WhatsAppMessage | Reported


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
    """Every update for one number, in its order; unknown ones are passed over."""
    found: list[Update] = []
    for name, item in _items(body, provider_number_id):
        update = _received(item) if name == "messages" else _reported(item)
        if update is not None:
            found.append(update)
    return found


def portions(body: bytes, provider_number_id: str, size: int) -> list[bytes]:
    """The updates for one number in bodies of so many at most, in their order."""
    items = list(_items(body, provider_number_id))
    return [
        _body(items[begin : begin + size], provider_number_id)
        for begin in range(0, len(items), size)
    ]


def _body(items: Sequence[tuple[str, _Object]], provider_number_id: str) -> bytes:
    metadata = {"phone_number_id": provider_number_id}
    values: list[dict[str, Any]] = []
    for name, item in items:
        if not values or name not in values[-1]:
            values.append({"metadata": metadata, name: []})
        values[-1][name].append(item)
    changes = [{"field": "messages", "value": value} for value in values]
    return msgspec.json.encode({"entry": [{"changes": changes}]})


def _items(body: bytes, provider_number_id: str) -> Iterator[tuple[str, _Object]]:
    for entry in _objects(_read(body, dict[str, Raw]) or _NOTHING, "entry"):
        for change in _objects(entry, "changes"):
            value = _object(change, "value")
            # One subscription may cover several numbers; each has a hook of its own.
            is_ours = _text(_object(value, "metadata"), "phone_number_id") == provider_number_id
            if is_ours and _text(change, "field") == "messages":
                for name in ("messages", "statuses"):
                    for item in _objects(value, name):
                        yield name, item


def _received(message: _Object) -> WhatsAppMessage | None:
    number, user = _text(message, "from"), _text(message, "from_user_id")
    kind, name = _text(message, "type"), _text(message, "id")
    sender = f"+{number}" if number.isascii() and number.isdigit() else number or user
    if not name or not sender or len(name) > _ID_LENGTH_MAX or len(sender) > _ID_LENGTH_MAX:
        return None
    return WhatsAppMessage(
        sender=sender,
        provider_message_id=name,
        type=kind[:_TYPE_LENGTH_MAX] or "unsupported",
        text=_words(message, kind)[:_TEXT_LENGTH_MAX],
        at=_moment(_text(message, "timestamp")),
        media=_media(message, kind),
    )


def _media(message: _Object, kind: str) -> ReceivedMedia | None:
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


def _words(message: _Object, kind: str) -> str:
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
            return _text(inner, "name") or (
                f"{_told(inner, 'latitude')}, {_told(inner, 'longitude')}"
            )
        case "order":
            return _text(inner, "text")
        case _:
            return _text(inner, "caption") or _text(inner, "filename") or _text(inner, "body")


def _reported(status: _Object) -> Reported | None:
    word = _text(status, "status")
    word = "read" if word == _AS_READ else word
    name = _text(status, "id")
    if word not in ("sent", "delivered", "read", "failed") or not name:
        return None
    error = next(_objects(status, "errors"), _NOTHING)
    details = _text(_object(error, "error_data"), "details") or _text(error, "title")
    return Reported(
        provider_message_id=name[:_ID_LENGTH_MAX],
        callback_data=_text(status, "biz_opaque_callback_data") or None,
        status=word,
        error=f"{_told(error, 'code')}: {details}"[:_ID_LENGTH_MAX] if error else None,
    )


def _moment(text: str) -> datetime | None:
    if not (text.isascii() and text.isdigit() and len(text) <= 11):
        return None
    return datetime.fromtimestamp(int(text), UTC)


def _read(raw: bytes | Raw, type_: type[Read]) -> Read | None:
    """Some bytes as the wanted type; None when they are something else, or no JSON."""
    try:
        return msgspec.json.decode(raw, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _object(value: _Object, name: str) -> _Object:
    inner = value.get(name)
    return (_read(inner, dict[str, Raw]) or _NOTHING) if inner is not None else _NOTHING


def _objects(value: _Object, name: str) -> Iterator[_Object]:
    inner = value.get(name)
    for item in (_read(inner, list[Raw]) or ()) if inner is not None else ():
        # A failure costs more than a look at the first byte.
        if memoryview(item)[0] == _OPENING and (found := _read(item, dict[str, Raw])):
            yield found


def _text(value: _Object, name: str) -> str:
    inner = value.get(name)
    # Nothing longer is kept, and to look at each character of megabytes takes long.
    text = _read(inner, str) if inner is not None else None
    # A customer's message isn't refused for a character that no text may hold.
    return storable(text[: 2 * _TEXT_LENGTH_MAX]) if text else ""


def _told(value: _Object, name: str) -> object:
    """A number as it came."""
    inner = value.get(name)
    types: tuple[type[int | float | str], ...] = (int, float, str)
    found = (_read(inner, type_) for type_ in types if inner is not None)
    return next((number for number in found if number is not None), None)
