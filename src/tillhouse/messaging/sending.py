"""Sending by a provider that is reached over a network: after the commit, or by a worker.

A message is queued in the transaction of its cause, with a job. The sender takes the job
with a lease and marks the message (queued → sending), then asks the provider, then records what
came of it. One that was queued and not sent (a crash in between) is taken by a worker. One whose
sender died while it was asking is `unknown` when the lease ends: it may have been sent, so it is
never sent again.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from uuid import UUID

import msgspec
import structlog

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Again, Job, OutsideKind, Retry
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, BookKey, MessageId, NumberId
from tillhouse.kit.secrets import SealBroken
from tillhouse.messaging import credentials
from tillhouse.messaging.attachments.store import find_file
from tillhouse.messaging.attachments.types import AttachmentFile
from tillhouse.messaging.delivery import StatusUpdate, advance
from tillhouse.messaging.store import messages as store
from tillhouse.messaging.store import numbers
from tillhouse.messaging.types import DeliveryStatus, QueuedMessage
from tillhouse.providers.messaging.provider import (
    MediaFile,
    MessagingAccount,
    Messenger,
    OutgoingMessage,
    SendOutcome,
    Template,
)
from tillhouse.providers.messaging.sandbox import SandboxMessaging
from tillhouse.webhooks.emit import Source

MESSAGE = "message"
REPORT = "message_report"
# Longer than an attempt takes.
LEASE = timedelta(seconds=60)
# For so long after the commit a queued message is left to the request that queued it.
GRACE = timedelta(seconds=20)
ATTEMPTS_MAX = 6
RETRY = Retry(attempts_max=ATTEMPTS_MAX, base=timedelta(seconds=30))

_FINAL: dict[str, DeliveryStatus] = {"sent": "sent", "failed": "failed", "unknown": "unknown"}
# The error of a message that no sender got as far as asking for.
_NOT_ASKED = "not_sent"

log = structlog.get_logger()

Finds = Callable[[str], Messenger]


class MessageToSend(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is marked as being sent."""

    origin: Source
    provider: str
    # None: the number is disconnected.
    account: MessagingAccount | None
    message: OutgoingMessage


def messenger_of(services: Services, provider: str) -> Messenger:
    """The carrier of a provider's messages in this installation."""
    return messenger(provider, services.settings.whatsapp_url)


def kind(services: Services, finds: Finds | None = None) -> OutsideKind:
    """The job of sending one message."""
    return OutsideKind(
        name=MESSAGE,
        begin=partial(_begin, services),
        run=partial(_ask, finds or partial(messenger_of, services)),
        record=_record,
        record_late=_record_late,
        give_up=_give_up,
        retry=RETRY,
        lease=LEASE,
    )


async def send(
    services: Services, sending: QueuedMessage, finds: Finds | None = None
) -> DeliveryStatus:
    """Send a message outside of any transaction; how far it got. `queued`: it is tried later."""
    runner = JobRunner(services.pool, (kind(services, finds),), services.job_results)
    await runner.run_now(MESSAGE, sending.book_id, sending.message_id)
    async with services.pool.reading() as db:
        message = await store.show_message(db, sending.book_id, sending.message_id)
    return (message.delivery_status if message else None) or "unknown"


async def _begin(services: Services, db: Db, job: Job) -> MessageToSend | None:
    message_id = MessageId(job.subject_id)
    row = await store.claim_message(db, job.book_id, message_id, now())
    if row is None:
        # An earlier sender has marked it and never recorded the result.
        await store.end_abandoned(db, job.book_id, message_id, now())
        return None
    template = row["template"] and msgspec.json.decode(row["template"], type=Template)
    file = None
    if row["attachment_id"] is not None:
        file = await find_file(db, row["book_id"], row["attachment_id"])
    return MessageToSend(
        origin=Source(row["business_id"], Book(row["book_id"], row["environment"])),
        provider=row["provider"],
        account=await find_account(services, db, row["book_id"], row["number_id"]),
        message=OutgoingMessage(
            message_id=row["id"],
            to=row["customer_phone"],
            text=row["text"],
            template=template,
            media=_media(row["attachment_id"], file),
        ),
    )


def _media(attachment_id: UUID | None, file: AttachmentFile | None) -> MediaFile | None:
    if file is None:
        return None
    name = file.filename or f"{attachment_id}.{file.content_type.rpartition('/')[2][:8]}"
    return MediaFile(file.kind, file.content_type, name, file.content)


async def find_account(
    services: Services, db: Db, book_id: BookId, number_id: NumberId
) -> MessagingAccount | None:
    """The credentials of a number; None when it is disconnected."""
    number = await numbers.find_credentials(db, book_id, number_id)
    if number is None or number["credentials_sealed"] is None:
        return None
    try:
        secrets = await credentials.opened(services.vault, db, number)
    except SealBroken:
        log.exception("messaging_credentials_not_opened", number=str(number_id))
        return None
    return MessagingAccount(number["provider_number_id"], secrets.access_token)


async def _ask(finds: Finds, ready: MessageToSend) -> SendOutcome:
    if ready.account is None:
        return SendOutcome("failed", error="number_disconnected")
    outcome = await finds(ready.provider).send(ready.account, ready.message)
    if outcome.result != "sent":
        log.info("message_not_sent", message=str(ready.message.message_id), error=outcome.error)
    return outcome


async def _record(db: Db, job: Job, ready: MessageToSend, outcome: SendOutcome) -> Again | None:
    if outcome.result != "later":
        await _record_late(db, job, ready, outcome)
        return None
    key = BookKey(job.book_id, job.subject_id)
    row = await store.lock_message(db, job.book_id, MessageId(job.subject_id))
    if row is None or row["delivery_status"] != "sending":
        return None
    await store.update_delivery(db, key, "queued", None, outcome.error, now())
    return Again(outcome.error or "not taken")


async def _record_late(db: Db, job: Job, ready: MessageToSend, outcome: SendOutcome) -> None:
    """A final answer counts whenever it comes: a message never moves back."""
    if outcome.result == "later":
        return
    update = StatusUpdate(
        status=_FINAL.get(outcome.result, "failed"),
        provider_message_id=outcome.provider_message_id,
        error=outcome.error,
    )
    await advance(db, ready.origin, MessageId(job.subject_id), update, now())


async def _give_up(db: Db, job: Job, _reason: str) -> None:
    message_id = MessageId(job.subject_id)
    row = await store.lock_message(db, job.book_id, message_id)
    if row is None:
        return
    origin = await find_origin(db, job.book_id)
    update = StatusUpdate(status="failed", error=row["error"] or _NOT_ASKED)
    await advance(db, origin, message_id, update, now())


async def find_origin(db: Db, book_id: BookId) -> Source:
    """The book of a job, as a source of events."""
    row = await store.find_book(db, book_id)
    return Source(row["business_id"], Book(book_id, row["environment"]))


def messenger(provider: str, whatsapp_url: str) -> Messenger:
    """The messenger of the numbers of this provider."""
    if provider == "sandbox":
        return SandboxMessaging()
    # Its HTTP client takes a fifth of a second to load; commands send nothing.
    from tillhouse.providers.messaging.whatsapp import WhatsApp  # noqa: PLC0415

    return WhatsApp(whatsapp_url)
