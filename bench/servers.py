"""The servers that are compared: bare ASGI, bare Starlette, and Tillhouse, each in a process."""

import os
import socket
import sys
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute

from bench.bare_bookings import BareBookings
from bench.bare_links import BareLinks
from bench.ceiling import Ceiling
from bench.hooks import BareHook
from tillhouse.access.call import AnonymousCall, Call
from tillhouse.app import App, compose
from tillhouse.http.protocol import PatientProtocol
from tillhouse.http.route import Open, Route, Scope
from tillhouse.room import Room
from tillhouse.settings import from_env

_MESSAGE = "API key is valid"
# As large as the answer of the health route.
ANSWER = {
    "message": _MESSAGE,
    "data": {"businessId": "0" * 36, "environment": "test", "keyId": "0" * 36},
}


class Echo(msgspec.Struct):
    """The answers of the echo routes."""

    businessId: str = "0" * 36  # noqa: N815 - as on the wire
    environment: str = "test"
    keyId: str = "0" * 36  # noqa: N815


async def bare_asgi(scope: Any, receive: Any, send: Any) -> None:
    """An ASGI function and nothing else."""
    if scope["type"] != "http":
        return
    body = msgspec.json.encode(ANSWER)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _starlette_echo(request: Request) -> Response:
    return Response(msgspec.json.encode(ANSWER), media_type="application/json")


bare_starlette = Starlette(routes=[StarletteRoute("/v1/voice/health", _starlette_echo)])


async def echo(call: AnonymousCall) -> Echo:
    """Answer without a caller."""
    return Echo()


async def keyed_echo(call: Call) -> Echo:
    """Answer a caller with a key."""
    return Echo()


def tillhouse_app() -> App:
    """The application with two routes more, which differ in the key check alone."""
    routes = (
        Route("GET", "/api/auth/bench-echo", echo, Open(), "Answer", _MESSAGE),
        Route(
            "GET", "/v1/voice/bench-echo", keyed_echo, Scope("voice:read"), "Answer a key", _MESSAGE
        ),
    )
    settings = from_env({k: v for k, v in os.environ.items() if k.startswith("TILLHOUSE_")})
    assert settings.database_url
    assert settings.master_key
    product = compose(Room(name="bench", routes=routes))
    return App(settings, settings.database_url, settings.master_key, product)


SERVERS: dict[str, Any] = {
    "asgi": lambda: bare_asgi,
    "starlette": lambda: bare_starlette,
    "tillhouse": tillhouse_app,
    "hook": BareHook,
    "bare links": BareLinks,
    "bare bookings": BareBookings,
    "ceiling": lambda: Ceiling(os.environ["BENCH_SCENE"]),
}


def main() -> None:
    """Serve one of them on the socket that the parent made."""
    name, number = sys.argv[1], int(sys.argv[2])
    has_life = name in ("tillhouse", "ceiling", "bare links", "bare bookings")
    config = uvicorn.Config(
        SERVERS[name](),
        loop="uvloop",
        http=PatientProtocol if has_life else "httptools",
        ws="none",
        lifespan="on" if has_life else "off",
        access_log=False,
        log_config=None,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=number)])


if __name__ == "__main__":
    main()
