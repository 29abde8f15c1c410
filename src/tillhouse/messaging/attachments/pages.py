"""Where the bytes of attachments come and go, at addresses that are signed and good for a while."""

import asyncio
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal
from urllib.parse import urlencode

from tillhouse.access.process import Services
from tillhouse.http.ranges import file_page
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.errors import Conflict, Missing
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.json import encode
from tillhouse.kit.secrets import is_signed, sign
from tillhouse.messaging.attachments import rules, store
from tillhouse.messaging.attachments.quota import ATTACHMENTS, UNUSED, UNUSED_FOR
from tillhouse.messaging.attachments.types import Attachment, AttachmentFile

_POLICY = b"sandbox; default-src 'none'; frame-ancestors 'none'"
Purpose = Literal["upload", "fetch"]
VALID_FOR: dict[Purpose, timedelta] = {"upload": timedelta(hours=1), "fetch": timedelta(days=1)}
PATH = "/attachments/{book_id}/{attachment_id}"
_UNTIL = re.compile("[0-9]{1,11}")


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


def _key(asked: RawRequest) -> BookKey:
    book_id, attachment_id = asked.ids("book_id", "attachment_id", missing=NoAttachment)
    return BookKey(BookId(book_id), attachment_id)


async def check(services: Services, asked: RawRequest) -> None:
    """Refuse before the body comes: a wrong address, a file that is there, a full book."""
    key = _key(asked)
    if not is_good_address(services, key, "upload", asked.query, asked.now):
        raise NoAttachment
    async with services.pool.reading() as db:
        row = await store.show_attachment(db, key)
    if row is None:
        raise NoAttachment
    if row["status"] != "uploading":
        raise UploadedBefore
    services.storage.check(ATTACHMENTS.name, key.book_id)


async def take(services: Services, asked: RawRequest) -> RawAnswer:
    """Keep the bytes of a file, which are of the type that they are."""
    key, content = _key(asked), asked.body
    async with services.pool.reading() as db:
        row = await store.show_attachment(db, key)
    if row is None or row["status"] != "uploading":
        raise UploadedBefore
    examined = await asyncio.to_thread(rules.examine, content, row["filename"])
    kind, content_type = rules.uploaded(examined, len(content))
    file = AttachmentFile(kind, content_type, row["filename"], content)
    async with services.pool.transaction() as db:
        at = asked.now
        held = await store.update_ready(db, key, "uploading", file, examined.sha256, at)
        if held is None:
            raise UploadedBefore
        services.storage.check_held(ATTACHMENTS, held.attachments, held.bytes)
        unused = NewJob(book_id=key.book_id, kind=UNUSED.name, subject_id=key.id)
        await queue_job(db, unused, at + UNUSED_FOR, at)
    shown = Attachment(
        id=key.id,
        kind=kind,
        status="ready",
        filename=file.filename,
        content_type=content_type,
        size_bytes=len(content),
        error=None,
    )
    return RawAnswer("application/json", encode({"message": "Attachment kept", "data": shown}))


async def show(services: Services, asked: RawRequest) -> RawAnswer:
    """The file at a signed address, or a part of it: to be saved, never shown by a browser."""
    key = _key(asked)
    if not is_good_address(services, key, "fetch", asked.query, asked.now):
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


async def forget(services: Services, asked: RawRequest) -> None:
    """A file was refused: its address leads nowhere from then on."""
    async with services.pool.transaction() as db:
        await store.delete_refused(db, _key(asked))


PAGES: tuple[RawRoute, ...] = (
    RawRoute(method="GET", path=PATH, handler=show, missing=NoAttachment),
    RawRoute(
        method="POST",
        path=PATH,
        handler=take,
        check=check,
        missing=NoAttachment,
        refused=forget,
        body_bytes_max=rules.MOST,
    ),
)


def url_of(services: Services, key: BookKey, purpose: Purpose, given_at: datetime) -> str:
    """The address of an attachment, for one purpose."""
    until = str(int((given_at + VALID_FOR[purpose]).timestamp()))
    mark = sign(_signing_key(services), purpose, str(key.book_id), str(key.id), until)
    query = urlencode({"until": until, "mark": mark})
    return f"{services.settings.public_url}/attachments/{key.book_id}/{key.id}?{query}"


def is_good_address(
    services: Services, key: BookKey, purpose: Purpose, query: Mapping[str, str], now: datetime
) -> bool:
    """Whether an address was given out for this purpose, and isn't over."""
    until, mark = query.get("until", ""), query.get("mark", "")
    is_ours = is_signed(_signing_key(services), mark, purpose, str(key.book_id), str(key.id), until)
    return bool(is_ours and _UNTIL.fullmatch(until) and int(until) > now.timestamp())


def _signing_key(services: Services) -> bytes:
    return services.vault.derive("attachment addresses")
