"""The process that makes calls: their signals, their sound, and the work of agents."""

from tillhouse.access.process import Services
from tillhouse.app import PRODUCT
from tillhouse.cli.child_work import ChildWork, run
from tillhouse.voice.dispatching.dispatcher import Dispatcher
from tillhouse.voice.dispatching.waiting import until_idle
from tillhouse.voice.room import ROOM

# Calls write a row now and then.
_CONNECTIONS = 6


def main() -> int:
    """Make calls until told to leave, or until there have been none for a while."""
    work = ChildWork(
        word="caller",
        # Agents act in every room.
        declare=lambda: PRODUCT.declared,
        workers=ROOM.apart,
        connections=_CONNECTIONS,
        until_idle=_until_idle,
    )
    return run(work)


async def _until_idle(services: Services) -> None:
    """Return when there were no calls for a while, and none was claimed at that very moment."""
    await until_idle(services)
    for worker in services.workers.running:
        if isinstance(worker, Dispatcher):
            await worker.drain()
