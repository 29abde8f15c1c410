"""Signed events to other people's servers: the face of the room."""

from datetime import datetime, timedelta

import msgspec
import structlog

from tillhouse.access.process import Services
from tillhouse.access.scopes import Scope
from tillhouse.db.batcher import StatementBatcher
from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Db
from tillhouse.http.route import Group
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.room import Room
from tillhouse.webhooks import mailing
from tillhouse.webhooks.actions.secrets import open_missing_secrets
from tillhouse.webhooks.routes import ROUTES
from tillhouse.webhooks.sender.worker import Sender
from tillhouse.webhooks.store.deliveries import turn_partitions
from tillhouse.webhooks.store.queue import PLANNER

SENDER_CONNECTIONS = 4

log = structlog.get_logger()


class SenderBeside(Sender):
    """A sender with connections of its own, so that it never waits for requests."""

    async def stop(self) -> None:
        """Stop sending, then let go of the connections."""
        await super().stop()
        await self.services.pool.close()


async def _sender(services: Services) -> SenderBeside:
    pool = await services.pool.beside(size=SENDER_CONNECTIONS, planner=PLANNER)
    own = msgspec.structs.replace(services, pool=pool, batcher=StatementBatcher(pool))
    return SenderBeside(own, lease=timedelta(seconds=services.settings.webhook_lease_s))


def _chores(services: Services) -> tuple[LocalKind, ...]:
    async def turn(db: Db, _job: Job) -> bool:
        await turn_partitions(db, now(), services.settings.webhook_retention_days)
        return False

    return (LocalKind(name="webhook_partitions", run=turn, every=timedelta(hours=1)),)


async def _open_weeks(services: Services, moment: datetime) -> None:
    """Make this week's partitions before its first event, after a long stop, too."""
    try:
        async with services.pool.transaction() as db:
            await turn_partitions(db, moment, services.settings.webhook_retention_days)
    except FAILURES as error:
        # A backup holds the tables, perhaps: the chore tries again.
        log.warning("webhook_partitions_not_made", error=type(error).__name__)


ROOM = Room(
    name="webhooks",
    routes=ROUTES,
    groups=(
        Group("/v1/events", "Events", "The events of a book as they come.", "webhooks"),
        Group(
            "/api/developer/webhook-",
            "Webhooks",
            "Endpoints, signing secrets and deliveries of signed events.",
            "webhooks",
        ),
    ),
    scopes=(Scope("events:read", "Read and follow every event of the book", "Webhooks", "high"),),
    kept_tables=("webhook_endpoints", "webhook_secrets"),
    swept_tables={
        "webhook_deliveries": "webhook_partitions",
        "webhook_events": "webhook_partitions",
        "webhook_queue": "webhook results",
    },
    at_start=(open_missing_secrets, _open_weeks),
    chores=_chores,
    jobs=lambda services: (mailing.kind(services),),
    apart=(_sender,),
)
