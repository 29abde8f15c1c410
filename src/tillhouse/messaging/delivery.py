"""How far a message got: the one place where its status moves, and tells of it."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey, ConversationId, MessageId
from tillhouse.messaging import rules
from tillhouse.messaging.events import MESSAGE_DELIVERY_UPDATED, MessageDelivery
from tillhouse.messaging.store import messages as store
from tillhouse.messaging.types import DeliveryStatus
from tillhouse.webhooks.emit import Event, Source, emit_all_from


class StatusUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """The present state of a message."""

    status: DeliveryStatus
    provider_message_id: str | None = None
    error: str | None = None


async def advance(
    db: Db, origin: Source, message_id: MessageId, status_update: StatusUpdate, now: datetime
) -> DeliveryStatus | None:
    """Move a message as far as the update says, never back; its status then, None without one."""
    key = BookKey(origin.book.id, message_id)
    row = await store.lock_message(db, key.book_id, message_id, status_update.provider_message_id)
    if row is None:
        return None
    if row["is_taken"]:
        # The provider has given this id before: the report is ambiguous.
        status_update = StatusUpdate(status="unknown", error="provider_id_twice")
    if not rules.is_further(status_update.status, row["delivery_status"]):
        if row["provider_message_id"] is None and status_update.provider_message_id is not None:
            await store.update_provider_id(db, key, status_update.provider_message_id)
        return row["delivery_status"]
    status, name = status_update.status, status_update.provider_message_id
    await store.update_delivery(db, key, status, name, status_update.error, now)
    known_name = row["provider_message_id"] or name
    events = list(status_events(message_id, row["conversation_id"], status, known_name))
    await emit_all_from(db, origin, events, now)
    return status


def status_events(
    message_id: MessageId,
    conversation_id: ConversationId,
    status: DeliveryStatus,
    provider_message_id: str | None,
) -> Iterator[Event]:
    """The event that tells how far a message got, if it is to be told."""
    if status in ("sent", "failed", "delivered", "read"):
        data = MessageDelivery(
            message_id=message_id,
            conversation_id=conversation_id,
            delivery_status=status,
            meta_message_id=provider_message_id,
        )
        yield MESSAGE_DELIVERY_UPDATED, data
