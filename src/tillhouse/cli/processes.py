"""The processes beside `tillhouse serve` and `work`: one sends webhooks, one makes calls."""

from collections.abc import Mapping, Sequence

import msgspec

from tillhouse.access.process import Services
from tillhouse.cli.beside import ApartOrder, ProcessBeside
from tillhouse.jobs.worker import Runs
from tillhouse.room import MakesWorker
from tillhouse.voice.dispatching.waiting import until_there_are_calls

_SENDER = ("webhook sender", "tillhouse.cli.sending")
_CALLER = ("voice caller", "tillhouse.cli.calling")
# For an application whose processes are kept by another one.
NONE_HERE: Mapping[str, MakesWorker | None] = {"webhooks": None, "voice": None}


def beside_many(order: ApartOrder) -> Sequence[ProcessBeside]:
    """Both, as long as their keeper lives: it has no database to ask whether there are calls."""
    return (ProcessBeside(*_SENDER, order), ProcessBeside(*_CALLER, order))


def beside_one(order: ApartOrder) -> Mapping[str, MakesWorker | None]:
    """Both, by their rooms, for an application that starts and stops them."""

    async def make_sender(_services: Services) -> Runs:
        return ProcessBeside(*_SENDER, order)

    return {"webhooks": make_sender, **caller_beside(order)}


def caller_beside(order: ApartOrder) -> Mapping[str, MakesWorker | None]:
    """The process that makes calls, by its room; it is there while there are calls."""
    leaving = msgspec.structs.replace(order, leaves_when_idle=True)

    async def make_caller(services: Services) -> Runs:
        return ProcessBeside(*_CALLER, leaving, until_there_are_calls(services))

    return {"voice": make_caller}
