"""`tillhouse listen` prints events, delivers them to this machine, and goes on after a break."""

import asyncio
import json
import statistics
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import aiohttp
import pytest
import standardwebhooks
import stripe
from aiohttp import web

from tests.cli.command import Command
from tests.cli.test_trigger import ENDPOINTS, login
from tests.system.client import Client
from tests.system.serving import Serving, kept_port, report
from tests.waiting import HUNG_S, ended
from tillhouse.kit.secrets import new_api_key

READY = "Listening."
EVENTS = 9


class Program:
    """A program on this machine that gets what is forwarded; it answers 202."""

    def __init__(self) -> None:
        self.got: asyncio.Queue[tuple[str, dict[str, str], bytes]] = asyncio.Queue()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Keep the request."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.got.put_nowait((request.raw_path, headers, await request.read()))
        return web.Response(status=202)


@asynccontextmanager
async def serving_plain(handler: Any) -> AsyncIterator[str]:
    """A plain HTTP server in this loop; its address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


class Listener:
    """A running `tillhouse listen`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.told: list[str] = []

    async def until_ready(self, *, again: bool = False) -> None:
        """Wait until the stream is open."""
        assert self.process.stderr is not None
        if again:
            self.told.clear()
        while not self.told or self.told[-1] != READY:
            line = await ended(asyncio.to_thread(self.process.stderr.readline))
            assert line, self.told
            self.told.append(line.rstrip("\n"))

    async def line(self) -> str:
        """The next line on standard output."""
        assert self.process.stdout is not None
        line = await ended(asyncio.to_thread(self.process.stdout.readline))
        assert line, "it has ended"
        return line.rstrip("\n")


@asynccontextmanager
async def listening(command: Command, *args: str, pipe: str = "") -> AsyncIterator[Listener]:
    """The command, inside the block; SIGTERM ends it well."""
    with command.start("listen", *args) as process:
        try:
            assert process.stdin is not None
            process.stdin.write(pipe)
            process.stdin.close()
            listener = Listener(process)
            await listener.until_ready()
            yield listener
            process.terminate()
            assert await asyncio.to_thread(process.wait, HUNG_S) == 0
        finally:
            process.kill()


class Place:
    """A server with the demo business, and an endpoint whose tests are events."""

    def __init__(
        self, serving: Serving, demo: dict[str, Any], owner: Client, endpoint: str
    ) -> None:
        self.serving = serving
        self.address = serving.address
        self.demo = demo
        self.owner = owner
        self._endpoint = endpoint

    async def event(self) -> str:
        """Let an event happen; its id."""
        answer = await self.owner.post(f"{ENDPOINTS}/{self._endpoint}/test", status=202)
        return answer.data["eventId"]

    async def stop(self) -> None:
        """Stop the server."""
        assert await self.serving.stop() == 0
        self.serving.assert_left_in_order()
        self.serving.kill()

    async def start(self, command: Command) -> None:
        """Start it again, at the same address."""
        self.serving = await serve(command, PORT=str(self.serving.port))


async def serve(command: Command, **settings: str) -> Serving:
    """A server on the command's data folder."""
    given = {"DATA": str(command.data), "LOG_LEVEL": "error", **settings}
    return await Serving.up("--no-work", **given)


@pytest.fixture
async def place(command: Command) -> AsyncIterator[Place]:
    """One for each test."""
    demo = command.json("demo")
    with kept_port() as port:
        serving = await serve(command, PORT=str(port))
        async with endpoint_of_its_own(serving, demo) as place:
            yield place
        await place.stop()


@asynccontextmanager
async def endpoint_of_its_own(serving: Serving, demo: dict[str, Any]) -> AsyncIterator[Place]:
    """A place whose endpoint is there as long as the block lasts."""
    async with aiohttp.ClientSession() as session:
        owner = await login(session, serving.address, demo)
        body = {
            "name": "Hook",
            "url": "https://198.41.0.4/hook",
            "environment": "test",
            "events": ["order.created"],
        }
        made = (await owner.post(ENDPOINTS, body, status=201)).data["id"]
        yield Place(serving, demo, owner, made)
        await owner.delete(f"{ENDPOINTS}/{made}", status=200)


async def test_events_are_printed_and_forwarded_unsigned_with_a_key(
    command: Command, place: Place
) -> None:
    """A line each; path and query stay as they are; without a secret there is no signature."""
    program = Program()
    async with serving_plain(program.answer) as there:
        target = f"{there}/hooks/a%20b?shop=1&x=%2F"
        own = ["--url", place.address, "--key", place.demo["testKey"], "--forward-to", target]
        async with listening(command, *own) as listener:
            assert any("Environment test" in line for line in listener.told)
            assert any("not signed" in line for line in listener.told)
            event_id = await place.event()
            path, headers, body = await ended(program.got.get())
            assert path == "/hooks/a%20b?shop=1&x=%2F"
            assert json.loads(body)["id"] == headers["service-webhook-id"] == event_id
            assert "service-signature" not in headers
            assert (await listener.line()).split()[1:] == ["webhook.test", event_id, "202"]


async def test_a_login_signs_with_the_secret_of_the_environment(
    command: Command, place: Place
) -> None:
    """A forwarded event verifies as a delivery does; --json prints the bytes that were sent."""
    await place.owner.post(
        "/api/auth/verify-password", {"password": place.demo["password"]}, status=200
    )
    path = "/api/developer/webhook-settings/test/view-secret"
    secret = (await place.owner.post(path, {}, status=200)).data["secret"]
    program = Program()
    async with serving_plain(program.answer) as there:
        own = ["--url", place.address, "--email", place.demo["email"], "--password-stdin"]
        more = ["--forward-to", there, "--events", "webhook.test,order.created", "--json"]
        password = place.demo["password"] + "\n"
        async with listening(command, *own, *more, pipe=password) as listener:
            await place.event()
            _, headers, body = await ended(program.got.get())
            signature = headers["service-signature"]
            assert stripe.WebhookSignature.verify_header(body.decode(), signature, secret, 300)
            standardwebhooks.Webhook(secret).verify(body, headers)
            assert await listener.line() == body.decode()


async def middle_s(place: Place, listener: Listener) -> float:
    """How long it takes for an event to be printed, in the middle of some."""
    took_s: list[float] = []
    for _ in range(EVENTS):
        event_id = await place.event()
        began = time.monotonic()
        assert event_id in await listener.line()
        took_s.append(time.monotonic() - began)
    return statistics.median(took_s)


@pytest.mark.proof
async def test_a_listener_is_told_and_outlives_the_server(command: Command, place: Place) -> None:
    """Events are printed one by one; no stop waits for the stream, which finds the next server."""
    own = ["--url", place.address, "--key", place.demo["testKey"]]
    async with listening(command, *own) as listener:
        middle = await middle_s(place, listener)
        report(f"printed {middle * 1000:.0f} ms after the commit's answer (median)")
        began = time.monotonic()
        await place.stop()
        report(f"the server was gone {time.monotonic() - began:.2f} s after SIGTERM")
        await place.start(command)
        await listener.until_ready(again=True)
        event_id = await place.event()
        # Events from before the command began may come first: half a minute is asked for again.
        while event_id not in await listener.line():
            pass


async def test_what_can_not_be_listened_to_is_told(command: Command, place: Place) -> None:
    """Wrong keys, scopes, passwords, addresses and events end it with a sentence."""
    here = ["listen", "--url", place.address]
    key = ["--key", place.demo["testKey"]]
    unknown = new_api_key("test").secret
    assert "unknown, revoked" in command.refusal(*here, "--key", unknown)
    assert "is no event" in command.refusal(*here, *key, "--events", "order.made")
    wrong = [*here, "--email", place.demo["email"], "--password-stdin"]
    assert "password" in command.refusal(*wrong, pipe="wrong\n").lower()
    said = command.refusal(*here, *key, "--environment", "live", code=2)
    assert "of test" in said
    assert "--key" in command.refusal(*here, code=2)
    nowhere = command.refusal("listen", "--url", "http://127.0.0.1:9", *key)
    assert "no server" in nowhere
    assert "--url" in nowhere
    of_port = Command(command.data, PORT="9")
    assert "127.0.0.1:9 " in of_port.refusal("listen", *key)


async def test_a_broken_stream_is_taken_up_where_it_ended(command: Command) -> None:
    """The next one begins at the last event, and what comes twice is printed once."""
    first, second = uuid4(), uuid4()
    asked: list[str | None] = []

    def event(id_: UUID) -> bytes:
        return f'id: {id_}\nevent: order.created\ndata: {{"id":"{id_}"}}\n\n'.encode()

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append(request.query.get("since"))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        ids = [first] if len(asked) == 1 else [first, second]
        for part in [b":\n\n", *(event(id_) for id_ in ids)]:
            for byte in (part[:7], part[7:]):
                await response.write(byte)
        if len(asked) > 1:
            await asyncio.Event().wait()
        return response

    async with serving_plain(answer) as there:
        key = new_api_key("live").secret
        async with listening(command, "--url", there, "--key", key, "--json") as listener:
            assert json.loads(await listener.line())["id"] == str(first)
            assert json.loads(await listener.line())["id"] == str(second)
    assert asked == [None, str(first)]
