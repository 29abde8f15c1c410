"""Rules of files: their type by their content, and how large they may be. Pure decisions.

The types are those that WhatsApp's Cloud API takes; a document may have 100 MiB there, and 16 here.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterator

import msgspec

from tillhouse.kit.errors import FieldError, Refused, TooLarge
from tillhouse.messaging.attachments.names import saved_name
from tillhouse.messaging.attachments.types import Kind

_KIB, _MIB = 1024, 1024 * 1024
_CONTROLS = bytes(set(range(32)) - set(b"\t\r\n\f"))
_PART_BYTES = 256 * _KIB
BYTES_MAX: dict[Kind, int] = {
    "image": 5 * _MIB,
    "audio": 16 * _MIB,
    "video": 16 * _MIB,
    "document": 16 * _MIB,
    "sticker": 500 * _KIB,
}
MOST = max(BYTES_MAX.values())
CAPTION_LENGTH_MAX = 1024
UNKNOWN = "application/octet-stream"

_STARTS: tuple[tuple[bytes, Kind, str], ...] = (
    (b"\xff\xd8\xff", "image", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image", "image/png"),
    (b"%PDF-", "document", "application/pdf"),
    (b"#!AMR", "audio", "audio/amr"),
    (b"ID3", "audio", "audio/mpeg"),
    (b"\xff\xfb", "audio", "audio/mpeg"),
    (b"\xff\xf3", "audio", "audio/mpeg"),
    (b"\xff\xf2", "audio", "audio/mpeg"),
    (b"\xff\xf1", "audio", "audio/aac"),
    (b"\xff\xf9", "audio", "audio/aac"),
)
_BRANDS: tuple[tuple[bytes, Kind, str], ...] = (
    (b"M4A", "audio", "audio/mp4"),
    (b"3gp", "video", "video/3gpp"),
    (b"isom", "video", "video/mp4"),
    (b"iso2", "video", "video/mp4"),
    (b"mp4", "video", "video/mp4"),
    (b"avc1", "video", "video/mp4"),
    (b"M4V", "video", "video/mp4"),
)
_OFFICE = "application/vnd.openxmlformats-officedocument."
_PARTS: tuple[tuple[bytes, str], ...] = (
    (b"word/", _OFFICE + "wordprocessingml.document"),
    (b"xl/", _OFFICE + "spreadsheetml.sheet"),
    (b"ppt/", _OFFICE + "presentationml.presentation"),
)
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLD_TYPES = {
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
}


class NotTaken(
    Refused,
    message="The file is of no type that WhatsApp takes: send JPEG, PNG, AAC, AMR, MP3, M4A, Ogg "
    "with Opus, MP4, 3GP, PDF, Word, Excel, PowerPoint or plain text.",
):
    """Its content decides, not its name."""


def type_of(content: bytes, filename: str | None) -> tuple[Kind, str] | None:
    """The kind and the type of a file by its content; None when it is none that is known."""
    for start, kind, content_type in _STARTS:
        if content.startswith(start):
            return kind, content_type
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "sticker", "image/webp"
    if content[4:8] == b"ftyp":
        return _of_brand(content[8:12])
    if content[:4] == b"OggS":
        return ("audio", "audio/ogg") if b"OpusHead" in content[:128] else None
    content_type = _document_type(content, filename)
    return ("document", content_type) if content_type else None


def _of_brand(brand: bytes) -> tuple[Kind, str] | None:
    return next(((kind, type_) for start, kind, type_ in _BRANDS if brand.startswith(start)), None)


def _document_type(content: bytes, filename: str | None) -> str | None:
    if content[:4] == b"PK\x03\x04":
        return next((type_ for part, type_ in _PARTS if part in content), None)
    if content.startswith(_OLD_OFFICE):
        # Word, Excel and PowerPoint look alike in this form: the name tells them apart.
        return _OLD_TYPES.get((filename or "").rpartition(".")[2].lower())
    return "text/plain" if _is_text(content) else None


def _is_text(content: bytes) -> bool:
    """Whether it is UTF-8 without control characters but tabs and ends of lines.

    A part at a time: the text of all of it may take four bytes for each of its own.
    """
    if not content or len(content.translate(None, _CONTROLS)) < len(content):
        return False
    begin = 0
    try:
        while begin < len(content):
            end = begin + _PART_BYTES
            # A letter of several bytes isn't cut: none but its first looks like a beginning.
            while end < len(content) and content[end] & 0xC0 == 0x80 and end > begin:
                end -= 1
            content[begin : max(end, begin + 1)].decode()
            begin = max(end, begin + 1)
    except UnicodeDecodeError:
        return False
    return True


class Examined(msgspec.Struct, frozen=True):
    """The kind and type of a file by its bytes, None when it is none that is known; their sum."""

    found: tuple[Kind, str] | None
    sha256: bytes


def examine(content: bytes, filename: str | None) -> Examined:
    """Look at each byte of a file; of megabytes, in a thread."""
    return Examined(type_of(content, filename), hashlib.sha256(content).digest())


def uploaded(examined: Examined, size: int) -> tuple[Kind, str]:
    """The kind and the type of a file that was uploaded to be sent."""
    if examined.found is None:
        raise NotTaken
    check_size(examined.found[0], size)
    return examined.found


def check_size(kind: Kind, size: int) -> None:
    """Refuse a file that is larger than its kind may be."""
    if size > BYTES_MAX[kind]:
        raise TooLarge(f"A file of kind {kind} may hold at most {BYTES_MAX[kind]} bytes.")


def fetched(kind: Kind, examined: Examined) -> str:
    """The type of a file that came in; an unknown one is some bytes."""
    found = examined.found
    if found is None or (kind != "document" and found[0] != kind):
        return UNKNOWN
    return found[1]


def is_sum(announced: str | None, digest: bytes) -> bool:
    """Whether a file is the one that was announced: by its SHA-256, in base64 or hex."""
    if not announced:
        return True
    try:
        return announced.lower() == digest.hex() or base64.b64decode(announced) == digest
    except binascii.Error:
        return False


def caption_errors(kind: Kind, text: str | None) -> Iterator[FieldError]:
    """The faults of a text beside a file: WhatsApp takes some, for some kinds."""
    if kind == "sticker":
        yield FieldError("attachment_id", "is a sticker: only customers send these")
    elif text is not None and kind == "audio":
        yield FieldError("text", "can't be sent with audio: send it by itself")
    elif text is not None and len(text) > CAPTION_LENGTH_MAX:
        yield FieldError("text", f"must have at most {CAPTION_LENGTH_MAX} characters with a file")


def disposition(filename: str | None, attachment_id: object, content_type: str) -> str:
    """A header that lets browsers save a file under its name, and never show it."""
    name = saved_name(filename, attachment_id, content_type)
    plain = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in " ._-()") else "_"
        for letter in name
    )
    coded = "".join(
        chr(byte) if chr(byte).isascii() and chr(byte).isalnum() else f"%{byte:02X}"
        for byte in name.encode()
    )
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{coded}"
