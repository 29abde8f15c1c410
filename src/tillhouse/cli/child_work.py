"""A child process of `serve` or `work`: some workers of the product, and nothing else of it."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import structlog
import uvloop

from tillhouse.access.declared import Declared
from tillhouse.access.process import Services, close_services, connect_services
from tillhouse.cli.child import SHARED_METRICS, beat, on_parents_end, order_line
from tillhouse.cli.child_process import Beat, ChildOrder
from tillhouse.cli.stopping import StopLimit
from tillhouse.db.connecting import FAILURES
from tillhouse.http import log as logs
from tillhouse.kit.errors import Unavailable
from tillhouse.room import MakesWorker
from tillhouse.settings import from_env

_TROUBLE = (*FAILURES, Unavailable)

log = structlog.get_logger()


class ChildWork(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one such process."""

    # As logs name it.
    word: str
    declare: Callable[[], Declared]
    workers: Sequence[MakesWorker]
    connections: int
    # Returns when there has been nothing to do for a while.
    until_idle: Callable[[Services], Awaitable[None]] | None = None


def run(work: ChildWork) -> int:
    """Work until told to leave, or until there is nothing to do; the exit code."""
    if not (line := order_line()):
        return 0
    order = msgspec.json.decode(line, type=ChildOrder)
    limit = StopLimit()
    try:
        uvloop.run(_work(work, order, limit))
    except Exception as error:
        is_expected = isinstance(error, _TROUBLE)
        log.error(  # noqa: TRY400 - expected trouble has no traceback
            f"{work.word}_failed",
            error=type(error).__name__,
            message=str(error)[:200],
            exc_info=None if is_expected else error,
        )
        return 1
    finally:
        limit.cancel()
    return 0


async def _work(work: ChildWork, order: ChildOrder, limit: StopLimit) -> None:
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
        msgspec.structs.replace(settings, pool_size=work.connections),
        work.declare,
        order.database_url,
        order.master_key,
    )
    services.pool.notifier.start(services.pool.dedicated, services.pool.notify, listens=True)
    try:
        services.workers.start(*[await make(services) for make in work.workers])
        beat(_teller(services))
        until_idle = work.until_idle if order.leaves_when_idle else None
        await _until_over(leaving, services, until_idle)
        await services.workers.stop()
    finally:
        await services.pool.notifier.stop()
        await close_services(services)


async def _until_over(
    leaving: asyncio.Event,
    services: Services,
    until_idle: Callable[[Services], Awaitable[None]] | None,
) -> None:
    if until_idle is None:
        await leaving.wait()
        return
    ways = [asyncio.ensure_future(leaving.wait()), asyncio.ensure_future(until_idle(services))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()


def _teller(services: Services) -> Callable[[], bytes]:
    """Make the words of each beat; the counts go to the metrics of several workers, too."""
    shared = None
    if os.environ.get(SHARED_METRICS):
        # It takes a while to load.
        from prometheus_client import CollectorRegistry  # noqa: PLC0415

        from tillhouse.http.metrics import ChildCounts  # noqa: PLC0415

        shared = ChildCounts(CollectorRegistry())

    def tell() -> bytes:
        counted = services.workers.counted()
        if shared is not None:
            shared.refresh(counted)
        slowest_s = max(services.workers.ages().values(), default=0.0)
        return msgspec.json.encode(Beat(round(slowest_s, 1), dict(counted)))

    return tell
