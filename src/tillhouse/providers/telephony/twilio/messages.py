"""The messages of a Media Stream, from Twilio and to it."""

import base64
import binascii
from typing import TypeAlias

import msgspec


class Format(msgspec.Struct, frozen=True, rename="camel"):
    """The sound of a stream."""

    encoding: str
    sample_rate: int
    channels: int = 1


class Begun(msgspec.Struct, frozen=True, rename="camel"):
    """The call that a stream belongs to."""

    call_sid: str
    account_sid: str
    media_format: Format


class SoundPayload(msgspec.Struct, frozen=True):
    """A piece of sound, in base64."""

    payload: str
    track: str = "inbound"


class PressedKey(msgspec.Struct, frozen=True):
    """A key that was pressed."""

    digit: str


class Mark(msgspec.Struct, frozen=True):
    """A place in the sound, by the name that we gave it."""

    name: str


class Connected(msgspec.Struct, frozen=True, tag_field="event", tag="connected"):
    """The first message."""


class Start(msgspec.Struct, frozen=True, rename="camel", tag_field="event", tag="start"):
    """The stream begins."""

    start: Begun
    stream_sid: str


class MediaFrame(msgspec.Struct, frozen=True, tag_field="event", tag="media"):
    """The customer is heard."""

    media: SoundPayload


class Dtmf(msgspec.Struct, frozen=True, tag_field="event", tag="dtmf"):
    """The customer pressed a key."""

    dtmf: PressedKey


class Marked(msgspec.Struct, frozen=True, tag_field="event", tag="mark"):
    """Our sound was played, or cleared, up to a mark."""

    mark: Mark


class StreamStopped(msgspec.Struct, frozen=True, tag_field="event", tag="stop"):
    """The stream is over."""


Incoming: TypeAlias = Connected | Start | MediaFrame | Dtmf | Marked | StreamStopped
_decode = msgspec.json.Decoder(Incoming).decode
_encode = msgspec.json.encode


def read(text: bytes) -> Incoming | None:
    """A message of Twilio; None where it is none that matters here."""
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def sound_of(media: MediaFrame) -> bytes:
    """The bytes of mu-law that a message brings; none where it is broken."""
    try:
        return base64.b64decode(media.media.payload, validate=True)
    except (binascii.Error, ValueError):
        return b""


def media(stream_sid: str, sound: bytes) -> bytes:
    """Play this."""
    payload = base64.b64encode(sound).decode()
    return _encode({"event": "media", "streamSid": stream_sid, "media": {"payload": payload}})


def mark(stream_sid: str, name: str) -> bytes:
    """Tell when everything before was played."""
    return _encode({"event": "mark", "streamSid": stream_sid, "mark": {"name": name}})


def clear(stream_sid: str) -> bytes:
    """Drop the sound that wasn't played yet."""
    return _encode({"event": "clear", "streamSid": stream_sid})
