"""A provider's updates: checked, stored first, processed after, a portion at a time."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.http.exchange import check_counts
from tillhouse.jobs.kinds import Job, LocalKind, NewJob
from tillhouse.jobs.store import queue_job, queue_jobs
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Forbidden, Missing, existing
from tillhouse.kit.ids import MessageId, NumberId, new_id
from tillhouse.messaging import credentials
from tillhouse.messaging.actions.inbound import receive
from tillhouse.messaging.assigning import queue_assignment
from tillhouse.messaging.attachments.names import plain_name
from tillhouse.messaging.delivery import StatusUpdate, advance
from tillhouse.messaging.storage.limits import MESSAGES, check_waiting
from tillhouse.messaging.store import messages, numbers
from tillhouse.messaging.types import Incoming
from tillhouse.providers.messaging import whatsapp_updates
from tillhouse.providers.messaging.whatsapp_updates import (
    ReceivedMedia,
    Reported,
    Update,
    WhatsAppMessage,
)
from tillhouse.webhooks.emit import Source

UPDATE = "whatsapp_update"
# Many times the size of a usual hook of WhatsApp.
CONTAINERS_MAX, VALUES_MAX = 200_000, 600_000
# So many updates are one turn of their book: each takes some statements.
PORTION = 20
# A smaller body holds no more than a few portions.
_SMALL_BYTES = 8 * 1024


class MessageHookNotSigned(Forbidden, message="The signature doesn't fit the body."):
    """Somebody else than WhatsApp calls, or with another app's secret."""


async def greet(services: Services, number_id: NumberId, query: Mapping[str, str]) -> str:
    """The answer to the handshake, as plain text."""
    async with services.pool.reading() as db:
        row = existing(await numbers.find_hooked(db, number_id))
        secrets = await credentials.opened(services.vault, db, row)
    answer = whatsapp_updates.challenge(query, secrets.verify_token)
    if answer is None:
        raise Forbidden("The verify token is another.")
    return answer


async def check(services: Services, number_id: NumberId, signature: str | None) -> None:
    """Refuse by the head alone: an unknown number, a signature of another form."""
    async with services.pool.reading() as db:
        if await numbers.find_hooked(db, number_id) is None:
            raise Missing
    if not whatsapp_updates.is_signature(signature):
        raise MessageHookNotSigned


async def take(
    services: Services, number_id: NumberId, body: bytes, signature: str | None, at: datetime
) -> None:
    """Store the hook, once its signature (X-Hub-Signature-256) fits these very bytes."""
    async with services.pool.transaction() as db:
        row = existing(await numbers.find_hooked(db, number_id))
        secrets = await credentials.opened(services.vault, db, row)
        if not whatsapp_updates.is_signed(secrets.app_secret, body, signature):
            raise MessageHookNotSigned
        check_counts(body, containers_max=CONTAINERS_MAX, values_max=VALUES_MAX)
        services.storage.check(MESSAGES.name, row["book_id"])
        await check_waiting(db, row["book_id"], UPDATE)
        update = NewJob(
            book_id=row["book_id"], kind=UPDATE, subject_id=number_id, key=str(new_id()),
            payload=body,
        )  # fmt: skip
        await queue_job(db, update, at, at)


async def process(db: Db, job: Job) -> bool:
    """Process a hook, in the transaction that takes it from the queue.

    More than a portion becomes jobs of a portion each, so that other books have their turns
    between.
    """
    number_id = NumberId(job.subject_id)
    row = await numbers.find_reported(db, job.book_id, number_id)
    if row is None:
        return False
    body, number, at = job.payload or b"", row["provider_number_id"] or "", now()
    if len(body) > _SMALL_BYTES:
        parts = await asyncio.to_thread(whatsapp_updates.portions, body, number, PORTION)
        if len(parts) > 1:
            await _queue_portions(db, job, parts, at)
            return False
        body = b"".join(parts)
    origin = Source(row["business_id"], Book(job.book_id, row["environment"]))
    found = whatsapp_updates.updates(body, number)
    waiting = [await _apply(db, origin, number_id, update, at) for update in found]
    if any(waiting):
        await queue_assignment(db, job.book_id, at, at)
    return False


async def _queue_portions(db: Db, job: Job, parts: Sequence[bytes], at: datetime) -> None:
    news = [
        NewJob(
            book_id=job.book_id, kind=UPDATE, subject_id=job.subject_id,
            key=f"{job.key}.{index}", payload=part,
        )
        for index, part in enumerate(parts)
    ]  # fmt: skip
    # Each is due a moment after the one before, and all before a hook that came later. An id
    # begins with its moment.
    came_at = datetime.fromtimestamp((job.id.int >> 80) / 1000, UTC)
    await queue_jobs(db, news, min(came_at, at - timedelta(milliseconds=len(news))), at)


UPDATES = LocalKind(name=UPDATE, run=process)


async def _apply(db: Db, origin: Source, number_id: NumberId, update: Update, at: datetime) -> bool:
    """Whether a customer waits for somebody to be assigned."""
    match update:
        case WhatsAppMessage():
            incoming = Incoming(
                phone=update.sender,
                type=update.type,
                text=update.text,
                provider="whatsapp",
                number_id=number_id,
                provider_message_id=update.provider_message_id,
                # A clock that runs ahead opens no longer window.
                at=min(update.at or at, at),
                **_media(update.media),
            )
            received = await receive(db, origin, incoming, at)
            return received is not None and received.is_waiting
        case Reported():
            await _report(db, origin, update, at)
            return False


def _media(media: ReceivedMedia | None) -> dict[str, Any]:
    """The file of a message: it is fetched afterwards, by a job."""
    if media is None:
        return {}
    return {
        "attachment_id": new_id(),
        "media_kind": media.kind,
        "media_filename": plain_name(media.filename or "") or None,
        "media_id": media.media_id,
        "media_sha256": media.sha256,
    }


async def _report(db: Db, origin: Source, report: Reported, at: datetime) -> None:
    message_id = await messages.find_by_provider_id(db, origin.book.id, report.provider_message_id)
    if message_id is None:
        # The report came before its sender had written the provider's id, or never will.
        message_id = _as_id(report.callback_data)
    if message_id is not None:
        status_update = StatusUpdate(
            status=report.status,
            provider_message_id=report.provider_message_id,
            error=report.error,
        )
        await advance(db, origin, message_id, status_update, at)


def _as_id(text: str | None) -> MessageId | None:
    try:
        return MessageId(UUID(text)) if text else None
    except ValueError:
        return None
