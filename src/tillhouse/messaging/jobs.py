"""The jobs of messages: to send, to report, to process updates."""

import msgspec

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, Kind, LocalKind
from tillhouse.kit.clock import now
from tillhouse.kit.ids import MessageId
from tillhouse.messaging import assigning, hooks, sending
from tillhouse.messaging.delivery import StatusUpdate, advance
from tillhouse.providers.messaging.provider import Report


def kinds(services: Services, finds: sending.Finds | None = None) -> tuple[Kind, ...]:
    """The jobs of this room; `finds` names the carrier of a provider's messages."""
    return (
        hooks.UPDATES,
        *assigning.KINDS,
        LocalKind(name=sending.REPORT, run=report),
        sending.kind(services, finds),
    )


async def report(db: Db, job: Job) -> bool:
    """Report what the carrier has said beforehand would become of a message."""
    told = msgspec.json.decode(job.payload or b"", type=Report)
    origin = await sending.find_origin(db, job.book_id)
    update = StatusUpdate(status=told.status, error=told.error)
    await advance(db, origin, MessageId(job.subject_id), update, now())
    return False
