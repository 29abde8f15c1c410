"""One process that serves: uvicorn with our protocol, on sockets that exist already."""

import asyncio
import contextlib
import functools
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import cast

import uvicorn

from tillhouse.access.shares import connections_max
from tillhouse.app import App
from tillhouse.cli.output import CommandError
from tillhouse.cli.sockets import BACKLOG
from tillhouse.cli.stopping import Stop
from tillhouse.http.connections import Connections
from tillhouse.http.exchange import Receive, Scope, Send
from tillhouse.http.problems import envelope, headers_of, status_of
from tillhouse.http.protocol import PatientProtocol
from tillhouse.kit.errors import Unavailable
from tillhouse.kit.ids import new_id

Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# Requests and workers end at the same time; then the database is let go.
DRAIN_WITHIN_S = 5


def until_cut(app: App) -> Application:
    """The application; a request that a stop doesn't wait for gets an answer, no traceback."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except asyncio.CancelledError:
            # The database undoes the transaction under way.
            if scope["type"] == "http":
                # One that has begun can't be begun again.
                with contextlib.suppress(RuntimeError):
                    await _send_cut(send)

    return answer


async def _send_cut(send: Send) -> None:
    problem = Unavailable(retry_after_s=1)
    body = envelope(problem, str(new_id()))
    headers = [
        *headers_of(problem),
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
    ]
    status = status_of(problem)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Server(uvicorn.Server):
    """uvicorn's server that tells when it is ready."""

    def __init__(self, app: App, on_ready: Callable[[], None], stop: Stop) -> None:
        self._app = app
        self._connections = Connections(connections_max())
        protocol = functools.partial(PatientProtocol, known=self._connections)
        super().__init__(
            uvicorn.Config(
                until_cut(app),
                loop="uvloop",
                http=cast("type[asyncio.Protocol]", protocol),
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
        self._stop = stop

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to our own handler, which was there before and stays."""
        with self._stop.leaving_by(self.leave):
            yield

    def leave(self) -> None:
        """Begin to stop, and be gone in time."""
        self._stop.limit.start()
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell so."""
        await super().startup(sockets)
        if self.started and not self.should_exit:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept the connections that wait, answer each once more, and end."""
        self._connections.is_draining = True
        self._app.stop_workers()
        for each in sockets or ():
            await self._accept_rest(each)
        await super().shutdown(sockets)

    async def _accept_rest(self, listener: socket.socket) -> None:
        """Accept callers whose connections the kernel made already: it would reset them."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            while True:
                taken, _ = listener.accept()
                await loop.connect_accepted_socket(self._protocol, taken)

    def _protocol(self) -> asyncio.Protocol:
        made = cast("Callable[..., asyncio.Protocol]", self.config.http_protocol_class)
        return made(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )


def serve(server: Server, sockets: list[socket.socket], stop: Stop) -> None:
    """Serve until a signal, then finish the requests under way."""
    try:
        server.run(sockets)
    except SystemExit:
        raise CommandError("Tillhouse could not start: the line above says why.") from None
    finally:
        stop.limit.cancel()
