"""Attachments: announced before their upload, shown with their addresses."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.kit.errors import Invalid, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.messaging.attachments import pages, store
from tillhouse.messaging.attachments.quota import ATTACHMENTS
from tillhouse.messaging.attachments.types import AttachmentShown, Kind, NewAttachment


async def create(call: Call, new: NewAttachment) -> AttachmentShown:
    """Give out an address to which the bytes are sent."""
    call.services.storage.check(ATTACHMENTS.name, call.book.id)
    key = BookKey(call.book.id, new_id())
    await store.insert_uploading(call.db, key, new.filename, call.now)
    return await show(call, key.id)


async def show(call: Call, attachment_id: UUID) -> AttachmentShown:
    """One attachment, with the addresses that it has now."""
    key = BookKey(call.book.id, attachment_id)
    row = existing(await store.show_attachment(call.db, key))
    is_ready, is_awaited = row["status"] == "ready", row["status"] == "uploading"
    return AttachmentShown(
        upload_url=pages.url_of(call.services, key, "upload", call.now) if is_awaited else None,
        url=pages.url_of(call.services, key, "fetch", call.now) if is_ready else None,
        **row,
    )


async def ready_kind(call: Call, attachment_id: UUID) -> Kind:
    """The kind of a file that is there; anything else is the fault of the field."""
    row = await store.show_attachment(call.db, BookKey(call.book.id, attachment_id))
    if row is None:
        raise Invalid(attachment_id="is no attachment of this book")
    if row["status"] != "ready":
        raise Invalid(attachment_id=f"is not there yet: its status is {row['status']}")
    return row["kind"]
