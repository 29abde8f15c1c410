"""One business with many requests under way is beside another, never before it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from tests.api import Api, Response
from tests.conftest import SETTINGS
from tests.make import Business, Make
from tests.system.serving import until
from tests.waiting import ended
from tillhouse.access.call import Call
from tillhouse.access.callers import Book, KeyCaller
from tillhouse.access.shares import (
    ANSWERS_OF_OWNER_MIB_MAX,
    BODIES_OF_OWNER_MIB_MAX,
    BODY_BYTES_OF_TURN,
    MIB,
    STRANGERS_MIB_MAX,
    STRANGERS_OF_NETWORK_MIB_MAX,
    Shares,
)
from tillhouse.app import App, compose
from tillhouse.http.exchange import BODY_BYTES_MAX, HAS_LEFT, begin
from tillhouse.http.route import Route, Scope
from tillhouse.kit.errors import Unavailable
from tillhouse.kit.ids import AppId, BookId, BusinessId, KeyId
from tillhouse.room import Room

SLOW, LARGE = "/v1/slow", "/v1/large"
LARGE_BYTES = 4 * MIB


class Slow:
    """Requests that last as long as a test wants."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.under_way = 0

    async def answer(self, call: Call) -> int:
        """Wait, without a connection."""
        self.under_way += 1
        await self.go_on.wait()
        return 1


class Fields(msgspec.Struct):
    """The body of a write."""

    text: str = ""


async def write(call: Call, body: Fields) -> int:
    """The length of a text."""
    return len(body.text)


async def answer_large(call: Call) -> str:
    """More than goes in one piece."""
    return "a" * LARGE_BYTES


@pytest.fixture
def slow() -> Slow:
    """Nothing waits yet."""
    return Slow()


@pytest.fixture
async def make_here(database_url: str, master_key: str, slow: Slow) -> AsyncIterator[Make]:
    """Businesses at an application with a slow operation."""
    routes = (
        Route("GET", SLOW, slow.answer, Scope("voice:read"), "Wait", "Waited"),
        Route("GET", LARGE, answer_large, Scope("voice:read"), "Answer much", "Much"),
        Route("POST", SLOW, write, Scope("voice:read"), "Write", "Written"),
    )
    app = App(SETTINGS, database_url, master_key, compose(Room(name="slow", routes=routes)))
    await app.start()
    yield Make(app, app.services)
    slow.go_on.set()
    await app.stop()


async def test_a_business_with_all_its_turns_holds_up_no_other(make_here: Make, slow: Slow) -> None:
    """Requests beyond its share wait, then are refused; another business is answered."""
    greedy = await (await make_here.business()).client("voice:read")
    modest = await (await make_here.business()).client("voice:read")
    asked = [asyncio.create_task(greedy.get(SLOW)) for _ in range(400)]
    refused = [one for one in await _first(asked, 139) if one.status == 429]
    assert len(refused) == 139
    assert refused[0].headers["retry-after"] == "1"
    assert 2 <= slow.under_way <= 5
    answer = await ended(modest.get("/v1/voice/health"))
    assert answer.status == 200
    # Its own writes wait for no read either.
    assert (await ended(greedy.post(SLOW, {"text": "a"}))).data == 1
    slow.go_on.set()
    answers = await asyncio.gather(*asked)
    assert {one.status for one in answers} == {200, 429}
    assert sum(one.status == 200 for one in answers) >= 256


async def test_a_read_whose_caller_left_while_it_waited_is_not_made(
    make_here: Make, slow: Slow
) -> None:
    """A caller that hangs up and asks again has no more work done than it waits for."""
    api = await (await make_here.business()).client("voice:read")
    asked = [asyncio.create_task(api.get(SLOW)) for _ in range(100)]
    await until(lambda: slow.under_way > 0, "the first is under way")
    left = asyncio.create_task(_ask_and_leave(api))
    slow.go_on.set()
    assert {one.status for one in await asyncio.gather(*asked)} == {200}
    assert await ended(left) == []
    assert slow.under_way == 100


async def _ask_and_leave(api: Api) -> list[Any]:
    """All that is answered to a caller whose connection is closed."""
    answered: list[Any] = []

    async def send(message: Any) -> None:
        answered.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    scope: Any = {
        "type": "http", "method": "GET", "path": SLOW, "query_string": b"",
        "headers": [(k.encode(), v.encode()) for k, v in api.headers.items()],
        "client": (api.peer, 1234), "state": {HAS_LEFT: lambda: True},
    }  # fmt: skip
    await api.app(scope, receive, send)
    return answered


async def _first(tasks: list[asyncio.Task[Response]], count: int) -> list[Response]:
    """The first answers that come."""
    coming = asyncio.as_completed(tasks)
    return [await next(coming) for _ in range(count)]


class HalfSent:
    """A request whose body never ends."""

    def __init__(self, api: Api, size: int, path: str = SLOW) -> None:
        self.status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._size = size
        sent = {**api.headers, "content-type": "application/json", "content-length": str(size + 1)}
        scope: Any = {
            "type": "http", "method": "POST", "path": path, "query_string": b"",
            "headers": [(k.encode(), v.encode()) for k, v in sent.items()],
            "client": (api.peer, 1234),
        }  # fmt: skip
        self._leaving = asyncio.Event()
        self.sent = asyncio.Event()
        self.task = asyncio.create_task(api.app(scope, self._receive, self._send))

    async def leave(self) -> None:
        """The client goes."""
        self._leaving.set()
        await ended(self.task)

    async def _receive(self) -> dict[str, Any]:
        if self._size:
            part, self._size = b" " * self._size, 0
            return {"type": "http.request", "body": part, "more_body": True}
        self.sent.set()
        await self._leaving.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if "status" in message:
            self.status.set_result(message["status"])


async def test_bodies_under_way_are_bounded(make_here: Make) -> None:
    """A business that begins many large bodies is refused more, and another is not."""
    greedy = await (await make_here.business()).client("voice:read")
    modest: Business = await make_here.business()
    size = BODY_BYTES_MAX - 1
    begun = [HalfSent(greedy, size) for _ in range(BODIES_OF_OWNER_MIB_MAX * MIB // size)]
    for one in begun:
        await ended(one.sent.wait())
    assert await ended(_status(HalfSent(greedy, size))) == 429
    other = await modest.client("voice:read")
    assert (await other.post(SLOW, {"text": "a" * 1000}, status=200)).data == 1000
    for one in begun:
        await one.leave()
    assert (await greedy.post(SLOW, {"text": "a" * 1000}, status=200)).data == 1000


async def test_bodies_of_strangers_take_no_room_of_callers(make_here: Make) -> None:
    """Hooks and logins of many networks, begun and not ended: a caller's body is read."""
    caller = await (await make_here.business()).client("voice:read")
    size = BODY_BYTES_MAX - 1
    networks = 2 * STRANGERS_MIB_MAX // STRANGERS_OF_NETWORK_MIB_MAX
    login = "/api/auth/login"
    begun = [
        HalfSent(Api(make_here.app, peer=f"192.0.{number}.1"), size, login)
        for number in range(networks)
        for _ in range(STRANGERS_OF_NETWORK_MIB_MAX)
    ]
    for one in begun:
        await ended(_sent_or_refused(one))
    refused = [one for one in begun if one.status.done()]
    assert {one.status.result() for one in refused} == {503}
    assert len(refused) >= len(begun) // 2
    large = await caller.post(SLOW, {"text": "a" * (size // 2)}, status=200)
    assert large.data == size // 2
    for one in begun:
        await one.leave()


async def _sent_or_refused(request: HalfSent) -> None:
    waits = (asyncio.ensure_future(request.sent.wait()), request.status)
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    waits[0].cancel()


async def _status(request: HalfSent) -> int:
    return await request.status


@pytest.mark.parametrize(
    ("addresses", "networks"),
    [
        (("192.0.2.1", "192.0.2.200"), 1),
        (("2001:db8::1", "2001:db8::ffff:1"), 1),
        (("192.0.2.1", "192.0.3.1"), 2),
    ],
)
def test_strangers_of_one_network_have_one_share(addresses: tuple[str, str], networks: int) -> None:
    """However many addresses they have: their pages, hooks and bodies wait for one another."""
    scope: Any = {"method": "GET", "path": "/", "query_string": b"", "headers": []}
    owners = {begin({**scope, "client": (ip, 1)}, ()).owner for ip in addresses}
    assert len(owners) == networks


@pytest.mark.parametrize(("size", "is_heavy"), [(3 * BODY_BYTES_OF_TURN, True), (1000, False)])
async def test_large_sales_make_a_business_heavy(size: int, *, is_heavy: bool) -> None:
    """Each takes the work of many small ones, though none of the bytes of large answers."""
    shares = Shares()
    async with shares.turn("modest", 1000, is_read=False):
        for _ in range(10):
            async with shares.turn("greedy", size, is_read=False):
                pass
    assert shares.activity.is_heavy("greedy") == is_heavy


def test_streams_leave_connections_to_other_requests() -> None:
    """However many businesses open them: half of what a small process has."""
    shares = Shares(connections=8)
    held = [shares.hold_stream(caller()) for _ in range(4)]
    with pytest.raises(Unavailable):
        shares.hold_stream(caller())
    for one in held[0]:
        one.release()
    shares.hold_stream(caller())


def caller() -> KeyCaller:
    """A key of a business of its own."""
    return KeyCaller(
        key_id=KeyId(uuid4()), business_id=BusinessId(uuid4()), book=Book(BookId(uuid4()), "test"),
        app_id=AppId(uuid4()), name="k", scopes=frozenset(), allowed_origins=(),
        allowed_networks=(), withdrawal_policy=None,
    )  # fmt: skip


class Untaken:
    """A request whose answer is taken when a test wants."""

    def __init__(self, api: Api) -> None:
        self.has_begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.size = 0
        scope: Any = {
            "type": "http", "method": "GET", "path": LARGE, "query_string": b"",
            "headers": [(k.encode(), v.encode()) for k, v in api.headers.items()],
            "client": (api.peer, 1234),
        }  # fmt: skip
        self.task = asyncio.create_task(api.app(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def _send(self, message: Any) -> None:
        self.has_begun.set()
        await self.go_on.wait()
        self.size += len(message.get("body", b""))


async def test_answers_that_nobody_takes_are_bounded(make_here: Make) -> None:
    """A business that takes none of its large answers is given no more; another is answered."""
    greedy = await (await make_here.business()).client("voice:read")
    modest = await (await make_here.business()).client("voice:read")
    begun = [Untaken(greedy) for _ in range(ANSWERS_OF_OWNER_MIB_MAX * MIB // LARGE_BYTES)]
    for one in begun:
        await ended(one.has_begun.wait())
    refused = await greedy.get(LARGE, status=429)
    assert "wait for you to read them" in refused.json["message"]
    assert (await modest.get(LARGE, status=200)).data == "a" * LARGE_BYTES
    for one in begun:
        one.go_on.set()
        await ended(one.task)
        assert one.size > LARGE_BYTES
    await greedy.get(LARGE, status=200)
