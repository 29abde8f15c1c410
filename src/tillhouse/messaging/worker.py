"""Does what is left to do of messages: sends, gives up, reports, processes. Many may work."""

from datetime import datetime

from tillhouse.access.process import Services
from tillhouse.jobs.worker import Worker
from tillhouse.kit.clock import now
from tillhouse.messaging import hooks, sending
from tillhouse.providers.messaging.provider import Messenger

POLL_S = 1.0
# Of what providers told us, so much at once: sending has its turn as well.
_UPDATES_MAX = 100


async def work(services: Services, messenger: Messenger, at: datetime) -> int:
    """One round; how much there was to do at this moment."""
    done = await sending.end_abandoned(services, at)
    done += await sending.report_sandbox(services, at)
    for _ in range(_UPDATES_MAX):
        if not await hooks.process_next(services):
            break
        done += 1
    return done + await sending.send_due(services, messenger, at)


async def worker(services: Services) -> Worker:
    """What does the rounds in one process."""
    messenger = sending.messenger_of(services)

    async def do_round() -> bool:
        return await work(services, messenger, now()) > 0

    return Worker("messages", do_round, poll_s=POLL_S)
