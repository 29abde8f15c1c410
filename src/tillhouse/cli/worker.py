"""One of several serving processes, started by `workers.py`; `child.py` says how they speak."""

import os
import socket

import msgspec

from tillhouse.app import App
from tillhouse.cli.child import beat, on_parents_end, order_line
from tillhouse.cli.child_process import ChildOrder
from tillhouse.cli.output import CommandError
from tillhouse.cli.processes import NONE_HERE
from tillhouse.cli.server import Server, serve
from tillhouse.cli.stopping import Stop
from tillhouse.http import log as logs
from tillhouse.settings import from_env


class WorkerOrder(ChildOrder, frozen=True, kw_only=True):
    """The order to a serving process."""

    sockets: list[int]
    runs_workers: bool


def main() -> int:
    """Serve until told to leave."""
    if not (line := order_line()):
        return 0
    order = msgspec.json.decode(line, type=WorkerOrder)
    stop = Stop()
    stop.install()
    settings = from_env(os.environ, **order.given)
    logs.set_up(settings.log_level)
    app = App(
        settings,
        order.database_url,
        order.master_key,
        runs_workers=order.runs_workers,
        apart=NONE_HERE,
    )
    # The first beat says that it is ready.
    server = Server(app, lambda: beat(bytes), stop)
    on_parents_end(server.leave)
    try:
        serve(server, [socket.socket(fileno=number) for number in order.sockets], stop)
    except CommandError:
        return 1
    return 0
