"""The types of attachments."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.text import OneLine
from tillhouse.messaging.attachments.names import plain_name

Kind = Literal["image", "audio", "video", "document", "sticker"]
AttachmentStatus = Literal["uploading", "fetching", "ready", "failed"]


class FileName(OneLine, longest=240, example="menu.pdf"):
    """The name of a file; folders before it are dropped."""

    @classmethod
    def check(cls, value: str) -> str:
        """Keep the name alone, of letters that can be seen."""
        name = plain_name(super().check(value))
        cls.bound(name)
        return name


class NewAttachment(msgspec.Struct, forbid_unknown_fields=True):
    """A file to be uploaded."""

    filename: FileName | None = None
    """The name that the customer sees, of a document; a folder before it is dropped."""


class Attachment(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A file that a customer sent, or is sent."""

    id: UUID
    kind: Kind | None
    """The kind, as the content says; null: nothing has come yet."""
    status: AttachmentStatus
    filename: Annotated[str, Meta(examples=["menu.pdf"])] | None
    content_type: Annotated[str, Meta(examples=["application/pdf"])] | None
    size_bytes: Annotated[int, Meta(examples=[18_342])] | None
    error: str | None
    """Why the file can't be had; null: it can, or may come yet."""


class AttachmentShown(Attachment, frozen=True, rename="camel", kw_only=True):
    """A file with its addresses."""

    upload_url: Annotated[str, Meta(examples=["https://api.example.com/attachments/…"])] | None
    """Where to POST the bytes, within an hour; null: they are there, or are fetched."""
    url: Annotated[str, Meta(examples=["https://api.example.com/attachments/…"])] | None
    """Where to fetch the file, for a day; null: it isn't there."""
    created_at: Timestamp
    updated_at: Timestamp


class AttachmentFile(msgspec.Struct, frozen=True):
    """The bytes of a file, and their type."""

    kind: Kind
    content_type: str
    filename: str | None
    content: bytes
