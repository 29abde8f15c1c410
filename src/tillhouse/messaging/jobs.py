"""The jobs of messages: to send, to report, to process updates."""

from collections.abc import Awaitable
from functools import partial

import msgspec

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, Kind, LocalKind
from tillhouse.kit.clock import now
from tillhouse.kit.ids import MessageId
from tillhouse.messaging import assigning, hooks, sending
from tillhouse.messaging.attachments import fetching
from tillhouse.messaging.attachments.quota import UNUSED
from tillhouse.messaging.delivery import StatusUpdate, advance
from tillhouse.providers.messaging.provider import DeliveryReport, Fetched, MessagingAccount


def kinds(services: Services, finds: sending.Finds | None = None) -> tuple[Kind, ...]:
    """The jobs of this room; `finds` names the carrier of a provider's messages."""
    return (
        hooks.UPDATES,
        UNUSED,
        *assigning.KINDS,
        LocalKind(name=sending.REPORT, run=report),
        sending.kind(services, finds),
        _fetching(services, finds),
    )


def _fetching(services: Services, finds: sending.Finds | None) -> Kind:
    # Only customers of WhatsApp send files that lie elsewhere.
    def fetch(account: MessagingAccount, media_id: str, bytes_max: int) -> Awaitable[Fetched]:
        find = finds or partial(sending.messenger_of, services)
        return find("whatsapp").fetch(account, media_id, bytes_max)

    return fetching.kind(services, partial(sending.find_account, services), fetch)


async def report(db: Db, job: Job) -> bool:
    """Report the fate of a message as the simulated carrier told it beforehand."""
    told = msgspec.json.decode(job.payload or b"", type=DeliveryReport)
    origin = await sending.find_origin(db, job.book_id)
    update = StatusUpdate(status=told.status, error=told.error)
    await advance(db, origin, MessageId(job.subject_id), update, now())
    return False
