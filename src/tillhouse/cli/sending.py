"""The process that sends webhooks: their room, and the rooms below it."""

from tillhouse.cli.child_work import ChildWork, run
from tillhouse.room import join
from tillhouse.webhooks.room import ROOM

# The sender has connections of its own; these are for its other statements.
_CONNECTIONS = 2


def main() -> int:
    """Send until told to leave."""
    declared = join((ROOM,)).declared
    work = ChildWork(
        word="sender",
        declare=lambda: declared,
        workers=ROOM.apart,
        connections=_CONNECTIONS,
    )
    return run(work)
