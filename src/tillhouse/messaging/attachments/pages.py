"""Where the bytes of attachments come and go, for those who were given an address."""

import hashlib
import re
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.http.ranges import file_page
from tillhouse.http.raw import Asked, Page, RawRoute
from tillhouse.kit.errors import Conflict, Missing
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.json import encode
from tillhouse.messaging.attachments import addresses, rules, store
from tillhouse.messaging.attachments.quota import ATTACHMENTS
from tillhouse.messaging.attachments.types import Attachment, AttachmentFile

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_POLICY = b"sandbox; default-src 'none'; frame-ancestors 'none'"


class NoAttachment(
    Missing,
    message="There is no attachment at this address, or the address has expired: "
    "GET /v1/messaging/attachments/{attachment_id} gives a new one.",
):
    """Expired, tampered with, or never given out: all look alike."""


class UploadedBefore(
    Conflict, message="This attachment has been uploaded: make another one for another file."
):
    """A file that was sent once doesn't change."""


def _key(asked: Asked) -> BookKey:
    parts = asked.path["book_id"], asked.path["attachment_id"]
    if not all(map(_UUID.fullmatch, parts)):
        raise NoAttachment
    return BookKey(BookId(UUID(parts[0])), UUID(parts[1]))


async def check(services: Services, asked: Asked) -> None:
    """Refuse before the body comes: a wrong address, a file that is there, a full book."""
    key = _key(asked)
    if not addresses.is_good(services, key, "upload", asked.query, asked.now):
        raise NoAttachment
    async with services.pool.reading() as db:
        row = await store.show_attachment(db, key)
    if row is None:
        raise NoAttachment
    if row["status"] != "uploading":
        raise UploadedBefore
    services.storage.check(ATTACHMENTS.name, key.book_id)


async def take(services: Services, asked: Asked) -> Page:
    """Keep the bytes of a file, which are of the type that they are."""
    key, content = _key(asked), asked.body
    async with services.pool.transaction() as db:
        row = await store.show_attachment(db, key)
        if row is None or row["status"] != "uploading":
            raise UploadedBefore
        kind, content_type = rules.uploaded(content, row["filename"])
        file = AttachmentFile(kind, content_type, row["filename"], content)
        digest = hashlib.sha256(content).digest()
        if not await store.update_ready(db, key, "uploading", file, digest, asked.now):
            raise UploadedBefore
    shown = Attachment(
        id=key.id,
        kind=kind,
        status="ready",
        filename=file.filename,
        content_type=content_type,
        size_bytes=len(content),
        error=None,
    )
    return Page("application/json", encode({"message": "Attachment kept", "data": shown}))


async def show(services: Services, asked: Asked) -> Page:
    """The file at a signed address, or a part of it: to be saved, never shown by a browser."""
    key = _key(asked)
    if not addresses.is_good(services, key, "fetch", asked.query, asked.now):
        raise NoAttachment
    async with services.pool.reading() as db:
        row = await store.show_attachment(db, key)
    if row is None or row["status"] != "ready":
        raise NoAttachment
    disposition = rules.disposition(row["filename"], key.id, row["content_type"])
    headers = [
        (b"content-disposition", disposition.encode("ascii")),
        (b"content-security-policy", _POLICY),
        (b"x-content-type-options", b"nosniff"),
        (b"x-robots-tag", b"noindex"),
    ]

    async def read(start: int, length: int) -> bytes:
        async with services.pool.reading() as db:
            content = await store.find_content(db, key, start, length)
        if content is None:
            raise NoAttachment
        return content

    return await file_page(asked, row["content_type"], row["size_bytes"], read, headers)


PAGES: tuple[RawRoute, ...] = (
    RawRoute(method="GET", path=addresses.PATH, handler=show),
    RawRoute(
        method="POST", path=addresses.PATH, handler=take, check=check, body_bytes_max=rules.MOST
    ),
)
