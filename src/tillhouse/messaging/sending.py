"""Sending by a provider that is reached over a network: after the commit, or by a worker.

A message is queued in the transaction of what it tells of. Whoever sends it takes it first
(queued → sending, with a lease), then asks the provider, then records what came of it. One that
was queued and not sent (a crash in between) is taken by a worker. One whose sender died while
it was asking is `unknown` when the lease ends: it may have been sent, so it is never sent again.
"""

import asyncio
from datetime import datetime, timedelta

import msgspec
import structlog
from asyncpg import Record, UniqueViolationError

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.kit.secrets import SealBroken
from tillhouse.messaging import credentials
from tillhouse.messaging.delivery import StatusUpdate, advance
from tillhouse.messaging.store import messages as store
from tillhouse.messaging.store import numbers
from tillhouse.messaging.types import DeliveryStatus, Sending
from tillhouse.providers.messaging import sandbox
from tillhouse.providers.messaging.provider import Account, Messenger, Outcome, Outgoing, Template
from tillhouse.webhooks.emit import Source

# Longer than an attempt takes.
LEASE = timedelta(seconds=60)
# For so long after the commit a queued message is left to whoever queued it.
GRACE = timedelta(seconds=20)
ATTEMPTS_MAX = 6
_RETRY_BASE_S = 15
BATCH = 20

_FINAL: dict[str, DeliveryStatus] = {"sent": "sent", "failed": "failed", "unknown": "unknown"}

log = structlog.get_logger()


def messenger_of(services: Services) -> Messenger:
    """Who carries messages for this installation."""
    # Its HTTP client takes a fifth of a second to load; commands send nothing.
    from tillhouse.providers.messaging.whatsapp import WhatsApp  # noqa: PLC0415

    return WhatsApp(services.settings.whatsapp_url)


async def send(
    services: Services, sending: Sending, messenger: Messenger | None = None
) -> DeliveryStatus:
    """Send a message outside of any transaction; how far it got. `queued`: it is tried later."""
    at = now()
    async with services.pool.transaction() as db:
        row = await store.claim_message(db, sending.book_id, sending.message_id, at, at + LEASE)
    if row is not None:
        return await _carry(services, row, messenger or messenger_of(services))
    async with services.pool.reading() as db:
        message = await store.show_message(db, sending.book_id, sending.message_id)
    # Somebody else has taken it.
    return (message.delivery_status if message else None) or "unknown"


async def send_due(services: Services, messenger: Messenger, at: datetime) -> int:
    """Send what was queued and is due, a batch of it; how many there were."""
    async with services.pool.transaction() as db:
        rows = await store.claim_due(db, at, at + LEASE, BATCH)
    # Side by side: the last of them is asked for long before its lease ends.
    found = await asyncio.gather(
        *(_carry(services, row, messenger) for row in rows), return_exceptions=True
    )
    for error in found:
        if isinstance(error, BaseException):
            log.warning("message_not_recorded", error=type(error).__name__)
    return len(rows)


async def end_abandoned(services: Services, at: datetime) -> int:
    """Give up those whose senders died; how many there were."""
    async with services.pool.transaction() as db:
        return await store.end_abandoned(db, at, BATCH)


async def report_sandbox(services: Services, at: datetime) -> int:
    """Report what became of messages in the sandbox; how many there were."""
    async with services.pool.transaction() as db:
        rows = await store.lock_reportable(db, at, BATCH)
        for row in rows:
            fate = sandbox.report(row["customer_phone"])
            if fate is not None:
                status_update = StatusUpdate(status=fate.status, error=fate.error)
                await advance(db, _origin(row), row["id"], status_update, at)
    return len(rows)


async def _carry(services: Services, row: Record, messenger: Messenger) -> DeliveryStatus:
    account = await _account(services, row)
    if account is None:
        outcome = Outcome("failed", error="number_disconnected")
    else:
        template = row["template"] and msgspec.json.decode(row["template"], type=Template)
        message = Outgoing(
            message_id=row["id"], to=row["customer_phone"], text=row["text"], template=template
        )
        outcome = await messenger.send(account, message)
    if outcome.result != "sent":
        log.info("message_not_sent", message=str(row["id"]), error=outcome.error)
    return await _record(services, row, outcome)


async def _account(services: Services, row: Record) -> Account | None:
    async with services.pool.reading() as db:
        number = await numbers.find_credentials(db, row["book_id"], row["number_id"])
        if number is None or number["credentials_sealed"] is None:
            return None
        try:
            secrets = await credentials.opened(services.vault, db, number)
        except SealBroken:
            log.exception("messaging_credentials_not_opened", number=str(row["number_id"]))
            return None
    return Account(number["provider_number_id"], secrets.access_token)


async def _record(services: Services, row: Record, outcome: Outcome) -> DeliveryStatus:
    at = now()
    if outcome.result == "later" and row["attempts"] < ATTEMPTS_MAX:
        return await _put_back(services, row, outcome, at)
    status_update = StatusUpdate(
        status=_FINAL.get(outcome.result, "failed"),
        provider_message_id=outcome.provider_message_id,
        error=outcome.error,
    )
    try:
        async with services.pool.transaction() as db:
            return (
                await advance(db, _origin(row), row["id"], status_update, at)
                or status_update.status
            )
    except UniqueViolationError:
        # The provider has given this id before: what it means by it, nobody can say.
        status_update = StatusUpdate(status="unknown", error="provider_id_twice")
        async with services.pool.transaction() as db:
            return (
                await advance(db, _origin(row), row["id"], status_update, at)
                or status_update.status
            )


async def _put_back(
    services: Services, row: Record, outcome: Outcome, at: datetime
) -> DeliveryStatus:
    """It was not taken: queue it again, later each time, unless its lease ran out meanwhile."""
    wait = timedelta(seconds=_RETRY_BASE_S * 2 ** row["attempts"])
    async with services.pool.transaction() as db:
        place = (row["book_id"], row["id"])
        standing = await store.lock_message(db, *place)
        if standing is None or standing["delivery_status"] != "sending":
            return "unknown"
        told = (None, outcome.error)
        await store.update_delivery(db, place, "queued", told, at + wait, at)
    return "queued"


def _origin(row: Record) -> Source:
    return Source(row["business_id"], Book(row["book_id"], row["environment"]))
