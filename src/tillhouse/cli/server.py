"""One process that serves: uvicorn with our protocol, on sockets that exist already."""

import contextlib
import socket
from collections.abc import Callable

import uvicorn

from tillhouse.app import App
from tillhouse.cli.output import CommandError
from tillhouse.cli.sockets import BACKLOG
from tillhouse.http.protocol import PatientProtocol

DRAIN_WITHIN_S = 10


class Server(uvicorn.Server):
    """uvicorn's server that tells when it is ready."""

    def __init__(self, app: App, on_ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="uvloop",
                http=PatientProtocol,
                ws="none",
                lifespan="on",
                # TILLHOUSE_TRUSTED_PROXIES says which proxies to believe about an address.
                proxy_headers=False,
                server_header=False,
                date_header=True,
                access_log=False,
                log_config=None,
                timeout_graceful_shutdown=DRAIN_WITHIN_S,
                backlog=BACKLOG,
            )
        )
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell so."""
        await super().startup(sockets)
        if self.started and not self.should_exit:
            self._on_ready()


def serve(server: Server, sockets: list[socket.socket]) -> None:
    """Serve until a signal says otherwise, then finish what is under way."""
    try:
        # Having ended in peace, uvicorn raises the signal again, as for a program that died of it.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets)
    except SystemExit:
        raise CommandError("Tillhouse could not start: the line above says why.") from None
