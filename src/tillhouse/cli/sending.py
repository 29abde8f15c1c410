"""The sending process itself: the webhooks' sender, and nothing else of the product."""

import asyncio
import os
import signal

import msgspec
import structlog
import uvloop

from tillhouse.access.process import Services, close_services, connect_services
from tillhouse.cli.child import beat, on_parents_end, order_line
from tillhouse.cli.sender import SenderOrder
from tillhouse.cli.stopping import StopLimit
from tillhouse.db.pool import FAILURES
from tillhouse.http import log as logs
from tillhouse.kit.errors import Unavailable
from tillhouse.room import join
from tillhouse.settings import from_env
from tillhouse.webhooks.room import ROOM

# The sender has connections of its own; these are for what it asks beside.
_CONNECTIONS = 2
_TROUBLE = (*FAILURES, Unavailable)

log = structlog.get_logger()


def main() -> int:
    """Send until told to leave."""
    if not (line := order_line()):
        return 0
    order = msgspec.json.decode(line, type=SenderOrder)
    limit = StopLimit()
    try:
        uvloop.run(_send(order, limit))
    except Exception as error:
        is_expected = isinstance(error, _TROUBLE)
        log.error(  # noqa: TRY400 - expected trouble has no traceback
            "sender_failed",
            error=type(error).__name__,
            message=str(error)[:200],
            exc_info=None if is_expected else error,
        )
        return 1
    finally:
        limit.cancel()
    return 0


async def _send(order: SenderOrder, limit: StopLimit) -> None:
    settings = from_env(os.environ, **order.given)
    logs.set_up(settings.log_level)
    leaving = asyncio.Event()
    loop = asyncio.get_running_loop()

    def leave() -> None:
        limit.start()
        loop.call_soon_threadsafe(leaving.set)

    loop.add_signal_handler(signal.SIGTERM, leave)
    on_parents_end(leave)
    services = await connect_services(
        msgspec.structs.replace(settings, pool_size=_CONNECTIONS),
        join((ROOM,)).declared,
        order.database_url,
        order.master_key,
    )
    services.pool.notifier.start(services.pool.dedicated, services.pool.notify, listens=True)
    try:
        services.workers.start(*[await make(services) for make in ROOM.apart])
        beat(lambda: _slowest(services))
        await leaving.wait()
        await services.workers.stop()
    finally:
        await services.pool.notifier.stop()
        await close_services(services)


def _slowest(services: Services) -> bytes:
    """How long ago the slowest worker completed a round."""
    return b"%.1f" % max(services.workers.ages().values(), default=0.0)
