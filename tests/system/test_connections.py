"""Connections: each state has an end, and there is always a place for one caller more."""

import asyncio
import functools
import json
import re
import resource
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn

from tests.system.conftest import Start
from tests.system.raw_socket import Streams, connected, statuses
from tests.system.serving import Serving, report, until
from tests.waiting import ended, within
from tillhouse.http.connections import YOUNG_S, Connections
from tillhouse.http.exchange import HAS_LEFT
from tillhouse.http.protocol import PatientProtocol

GET = b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n"
UNREAD = (
    b"POST /api/developer/api-keys HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    b"content-length: 200000\r\n\r\n"
)
# Of what Linux tells of a connection (tcp_info): segments with data that came.
_SEGMENTS_WITH_DATA = slice(152, 156)
DESCRIPTORS = 256
CROWD = 300
# After four of them the crowd is not young any more.
REFUSALS_MAX = 8


async def answer(streams: Streams) -> tuple[bytes, bytes]:
    """The head and the body of one answer."""
    reader, _ = streams
    async with within():
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        return head, await reader.readexactly(int(length[1]) if length else 0)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /livez HTTP/1.1\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: x\r\nhOST: x\r\n\r\n",
        b"GET /livez HTTP/1.0\r\nhost: x\r\nhost: x\r\n\r\n",
    ],
    ids=["missing", "doubled", "doubled alike", "doubled in HTTP/1.0"],
)
async def test_a_request_names_one_host(pair: tuple[Serving, Serving], head: bytes) -> None:
    """A proxy may read the other one: 400, in the usual form, and the connection ends."""
    async with connected(pair[0].port) as streams:
        streams[1].write(head)
        said, body = await answer(streams)
        assert said.startswith(b"HTTP/1.1 400 ")
        assert b"connection: close" in said
        assert json.loads(body).keys() == {"error", "message", "requestId"}
        assert await ended(streams[0].read()) == b""


async def test_the_first_http_needs_no_host(pair: tuple[Serving, Serving]) -> None:
    """It had no such header."""
    assert await statuses(pair[0].port, b"GET /livez HTTP/1.0\r\n\r\n") == [200]


async def test_a_refused_head_starts_nothing(pair: tuple[Serving, Serving]) -> None:
    """One answer: the request behind a refused head is not looked at."""
    long = b"GET /livez HTTP/1.1\r\nhost: x\r\nx: " + b"y" * 70_000 + b"\r\n\r\n" + GET
    assert await statuses(pair[0].port, long) == [431]


LOGIN = (
    b"POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    b"content-length: 52\r\n\r\n"
    b'{"email": "nobody@example.com", "password": "wrong"}'
)
BROKEN = {
    "no request": b"broken\r\n\r\n",
    "no host": b"GET /livez HTTP/1.1\r\n\r\n",
    "a body of broken pieces": GET.replace(b"\r\n\r\n", b"\r\ntransfer-encoding: chunked\r\n\r\nx"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
async def test_a_refusal_follows_the_answers_before_it(
    start: Start, database_url: str, master_key: str, broken: bytes
) -> None:
    """Else a caller takes it for the answer to a request that was carried out."""
    serving = await start("--no-work", DATABASE_URL=database_url, MASTER_KEY=master_key)
    assert await statuses(serving.port, LOGIN + broken) == [401, 400]
    assert await statuses(serving.port, LOGIN + GET + LOGIN + broken) == [401, 200, 401, 400]
    assert await serving.stop() == 0
    assert "Traceback" not in serving.log


async def test_an_unread_body_ends_its_connection(pair: tuple[Serving, Serving]) -> None:
    """The answer says so, arrives in whole, and what comes behind it is no request."""
    async with connected(pair[0].port) as streams:
        streams[1].write(UNREAD + b"x" * 1000)
        said, body = await answer(streams)
        assert said.startswith(b"HTTP/1.1 401 ")
        assert b"connection: close" in said
        assert json.loads(body)["error"] == "unauthorized"
        with suppress(OSError):
            streams[1].write(b"x" * 200_000 + GET)
            await streams[1].drain()
        with suppress(ConnectionError):
            assert await ended(streams[0].read()) == b""


async def test_a_body_that_was_read_ends_nothing(pair: tuple[Serving, Serving]) -> None:
    """The next request on the same connection is answered."""
    async with connected(pair[0].port) as streams:
        for _ in range(3):
            streams[1].write(
                b"POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
                b"content-length: 2\r\n\r\n{}"
            )
            said, _ = await answer(streams)
            assert said.startswith(b"HTTP/1.1 422 ")
            assert b"connection: close" not in said


@pytest.mark.skipif(not hasattr(socket, "TCP_INFO"), reason="the system tells of no segments")
async def test_an_answer_is_one_packet(pair: tuple[Serving, Serving]) -> None:
    """Its head and its body wake the caller once."""
    async with connected(pair[0].port) as streams:
        for number in range(1, 4):
            streams[1].write(GET)
            await answer(streams)
            info = (
                streams[1]
                .get_extra_info("socket")
                .getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160)
            )
            assert int.from_bytes(info[_SEGMENTS_WITH_DATA], sys.byteorder) == number


async def test_an_answer_without_a_body_is_its_head(pair: tuple[Serving, Serving]) -> None:
    """To HEAD: it arrives, and the connection goes on."""
    async with connected(pair[0].port) as streams:
        for _ in range(3):
            streams[1].write(GET.replace(b"GET", b"HEAD"))
            assert (await ended(streams[0].readuntil(b"\r\n\r\n"))).startswith(b"HTTP/1.1 200 ")


CROWDS = {
    "silent": b"",
    "half a head": b"GET /livez HTTP/1.1\r\nx: ",
    "answered": GET,
    "half a body": UNREAD.replace(b"developer/api-keys", b"auth/login") + b"{",
}
LAST_GET = GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")


async def test_a_caller_is_answered_beside_a_crowd(database_url: str, master_key: str) -> None:
    """With 256 descriptors and 300 callers that hold their connections."""
    serving = Serving.start("--no-work", DATABASE_URL=database_url, MASTER_KEY=master_key)
    resource.prlimit(serving.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    try:
        await serving.wait()
        for kind, first in CROWDS.items():
            await beside_a_crowd(serving.port, kind, first)
        assert await serving.stop() == 0
        assert "Too many open files" not in serving.log
    finally:
        serving.kill()


async def beside_a_crowd(port: int, kind: str, first: bytes) -> None:
    """Hold so many connections, and be answered all the same, after a few refusals."""
    async with AsyncExitStack() as stack:
        for _ in range(CROWD):
            _, writer = await stack.enter_async_context(connected(port))
            writer.write(first)
        began, refused = time.monotonic(), 0
        # Callers that came a moment ago may be about to ask: until then others hear 503. Each
        # refusal takes a part of that moment at least; one that waits for a deadline of the crowd
        # hears hundreds.
        while (found := await statuses(port, LAST_GET)) != [200]:
            assert found == [503], (kind, found)
            refused += 1
            assert refused <= REFUSALS_MAX, kind
            await asyncio.sleep(YOUNG_S / 4)
        report(f"{kind}: answered after {time.monotonic() - began:.2f} s and {refused} refusals")


class Place:
    """A connection that was told to give way, or wasn't."""

    gave_way = False

    def give_way(self) -> None:
        """Close."""
        self.gave_way = True


async def test_the_network_with_the_most_connections_gives_way_first() -> None:
    """Of those whose bodies are on their way the oldest; another network's stays, however old."""
    places = Connections(limit=4)
    old, *crowd = [Place() for _ in range(4)]
    assert places.admit(old, "a")
    places.has_asked(old)
    for one in crowd:
        assert places.admit(one, "b")
        places.has_asked(one)
    newcomer = Place()
    await until(lambda: places.admit(newcomer, "c"), "a place")
    assert [one.gave_way for one in (old, *crowd)] == [False, True, False, False]
    # One whose request is here is answered, whatever comes.
    for one in (old, *crowd[1:]):
        places.has_moved(one)
    await until(lambda: places.admit(Place(), "b"), "a place")
    assert [one.gave_way for one in (old, *crowd[1:])] == [False, False, False]
    assert newcomer.gave_way


class Hasty(PatientProtocol):
    """The same with shorter deadlines."""

    idle_s = 0.2
    taken_within_s = 0.2
    taken_bytes_per_s = 1 << 30


async def large(_scope: Any, _receive: Any, send: Any) -> None:
    """An answer that no buffer of the kernel holds."""
    body = b"x" * 20_000_000
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def served(app: Any, known: Connections) -> AsyncIterator[int]:
    """An application on a real socket in this process; its port."""
    protocol: Any = functools.partial(Hasty, known=known)
    config = uvicorn.Config(app, http=protocol, ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        running = asyncio.create_task(server.serve([listener]))
        try:
            await until(lambda: server.started, "it serves")
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await ended(running)


@pytest.mark.parametrize("last", [False, True], ids=["kept open", "its last"])
async def test_an_answer_that_is_not_taken_ends_its_connection(last: bool) -> None:
    """The caller reads nothing, and is let go; its memory as well."""
    known = Connections(limit=10)
    async with served(large, known) as port:
        with socket.socket() as caller:
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            caller.connect(("127.0.0.1", port))
            caller.sendall(LAST_GET if last else GET)
            await until(lambda: bool(known.open), "it is there")
            await until(lambda: not known.open, "it is gone")


async def test_an_idle_connection_ends() -> None:
    """After its answer, in its time."""
    known = Connections(limit=10)
    async with served(small, known) as port, connected(port) as (reader, writer):
        writer.write(GET)
        assert (await ended(reader.read())).startswith(b"HTTP/1.1 200")


async def small(_scope: Any, _receive: Any, send: Any) -> None:
    """An answer of no words."""
    headers = [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def test_a_request_can_ask_whether_its_caller_left() -> None:
    """One that waits for its turn has nobody to tell it."""
    asked: list[Callable[[], bool]] = []

    async def waiting(scope: Any, _receive: Any, _send: Any) -> None:
        """No answer as long as the caller is there."""
        asked.append(scope["state"][HAS_LEFT])
        await until(asked[0], "the caller left")

    async with served(waiting, Connections(limit=10)) as port:
        async with connected(port) as (_, writer):
            writer.write(GET)
            await until(lambda: bool(asked), "it is under way")
            assert not asked[0]()
        await until(asked[0], "the caller left")


async def test_a_request_whose_caller_left_needs_no_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also where the protocol is told of the end only in a moment: nothing is wrong then."""
    known = Connections(limit=10)

    async def dropped(scope: Any, _receive: Any, _send: Any) -> None:
        """No answer."""
        (peer,) = known.open
        peer.transport.close()  # pyright: ignore[reportAttributeAccessIssue]
        assert scope["state"][HAS_LEFT]()

    async with served(dropped, known) as port:
        assert await statuses(port, GET) == []
    assert "response" not in caplog.text


async def test_a_request_learns_that_its_caller_left_although_another_waits() -> None:
    """Requests that were sent ahead are not answered yet; the first one's end is all the same."""
    left = asyncio.Event()

    async def patient(_scope: Any, receive: Any, send: Any) -> None:
        """An answer without an end."""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        left.set()

    async with served(patient, Connections(limit=10)) as port:
        async with connected(port) as (reader, writer):
            writer.write(2 * GET)
            await ended(reader.readuntil(b"first"))
        await ended(left.wait())
