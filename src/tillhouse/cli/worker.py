"""One of several serving processes, started by `workers.py`.

Its settings come in one line on standard input, so that no secret is in a command line or an
environment. The end of that input is the end of the parent, and the worker leaves as well.
"""

import os
import signal
import socket
import sys
import threading
from typing import Any

import msgspec

from tillhouse.app import App
from tillhouse.cli.output import CommandError
from tillhouse.cli.server import Server, serve
from tillhouse.http import log as logs
from tillhouse.settings import from_env

READY = b"ready\n"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """The order to a serving process."""

    given: dict[str, Any]
    database_url: str
    master_key: str
    sockets: list[int]
    runs_workers: bool


def main() -> int:
    """Serve until told to leave."""
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=Order)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    settings = from_env(os.environ, **order.given)
    logs.set_up(settings.log_level)
    app = App(settings, order.database_url, order.master_key, runs_workers=order.runs_workers)
    server = Server(app, lambda: _say(READY))
    threading.Thread(target=_leave_with_parent, args=(server,), daemon=True).start()
    try:
        serve(server, [socket.socket(fileno=number) for number in order.sockets])
    except CommandError:
        return 1
    return 0


def _say(line: bytes) -> None:
    os.write(sys.stdout.fileno(), line)


def _leave_with_parent(server: Server) -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    server.stop_limit.start()
    server.should_exit = True
