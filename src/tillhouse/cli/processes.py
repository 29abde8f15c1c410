"""The child processes of `tillhouse serve` and `work`: one sends webhooks, one makes calls."""

from collections.abc import Mapping, Sequence

import msgspec

from tillhouse.access.process import Services
from tillhouse.cli.child_process import ChildOrder, ChildProcess
from tillhouse.jobs.worker import Runs
from tillhouse.room import MakesWorker
from tillhouse.voice.dispatching.waiting import until_there_are_calls

_SENDER = ("webhook sender", "tillhouse.cli.sending")
_CALLER = ("voice caller", "tillhouse.cli.calling")
# For an application whose processes are kept by another one.
NONE_HERE: Mapping[str, MakesWorker | None] = {"webhooks": None, "voice": None}


def supervised_children(order: ChildOrder) -> Sequence[ChildProcess]:
    """Both, as long as their keeper lives: it has no database to ask whether there are calls."""
    return (ChildProcess(*_SENDER, order), ChildProcess(*_CALLER, order))


def children_of_one(order: ChildOrder) -> Mapping[str, MakesWorker | None]:
    """Both, by their rooms, for an application that starts and stops them."""

    async def make_sender(_services: Services) -> Runs:
        return ChildProcess(*_SENDER, order)

    return {"webhooks": make_sender, **voice_child(order)}


def voice_child(order: ChildOrder) -> Mapping[str, MakesWorker | None]:
    """The process that makes calls, by its room; it is there while there are calls."""
    leaving = msgspec.structs.replace(order, leaves_when_idle=True)

    async def make_caller(services: Services) -> Runs:
        return ChildProcess(*_CALLER, leaving, until_there_are_calls(services))

    return {"voice": make_caller}
