"""Answers that go on: events as they come, signs of life between them, and every way to end."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AsyncExitStack, suppress

import msgspec
import pytest

from tests.api import Api
from tests.conftest import SETTINGS, running
from tests.listening import Listening, listening
from tests.make import Business, Make
from tests.waiting import ended
from tests.webhooks.shop import ENDPOINTS, Shop
from tillhouse.access.call import Call
from tillhouse.access.shares import STREAMS_OF_BUSINESS_MAX, STREAMS_OF_CALLER_MAX
from tillhouse.app import App, compose
from tillhouse.db.feeds import KEPT_BYTES_MAX
from tillhouse.http.route import EventStream, Route, Scope
from tillhouse.room import Room

PATH = "/v1/events/stream"
TICKS = "/v1/ticks"
SILENCE = "/v1/silence"
EVENTS = 5
# Far longer than a test may take: only a notification lets a feed look sooner.
NEVER_S = 3600.0


@pytest.fixture
async def shop(app: App) -> Shop:
    """A business to which events happen."""
    return await Shop.open(app)


@pytest.fixture
def unpolled(app: App) -> Iterator[None]:
    """Feeds that look when they are notified, and at no other time."""
    feeds = app.services.feeds
    before, feeds.poll_s = feeds.poll_s, NEVER_S
    yield
    feeds.poll_s = before


async def test_events_come_once_committed_and_of_this_book_alone(shop: Shop, make: Make) -> None:
    """Each event has id, type and payload; other books' and uncommitted ones don't come."""
    other = Shop(make.app, await make.business())
    client = await shop.business.client("events:read")
    async with listening(client, PATH) as opened:
        assert opened.headers["content-type"] == "text/event-stream"
        assert opened.headers["cache-control"] == "no-store"
        assert "content-length" not in opened.headers
        await other.emit()
        await shop.emit(environment="live")
        with suppress(RuntimeError):
            async with shop.services.pool.transaction() as db:
                await shop.emit_in(db, await shop.book())
                raise RuntimeError("rolled back")
        ids = [await shop.emit(), await shop.emit("order.updated")]
        found = await opened.events(2)
        assert [event["id"] for event in found] == ids
        assert [event["event"] for event in found] == ["order.created", "order.updated"]
        assert json.loads(found[0]["data"])["id"] == ids[0]


async def test_an_event_that_is_committed_late_still_comes(shop: Shop) -> None:
    """Its id is the older one, and it comes after the newer one, once."""
    client = await shop.business.client("events:read")
    book = await shop.book()
    async with listening(client, PATH) as opened:
        async with shop.services.pool.transaction() as db:
            late = await shop.emit_in(db, book)
            early = await shop.emit()
            assert [event["id"] for event in await opened.events(1)] == [early]
        assert [event["id"] for event in await opened.events(2)] == [early, late]
        last = await shop.emit()
        assert [event["id"] for event in await opened.events(3)] == [early, late, last]


async def test_an_event_under_way_as_a_stream_begins_comes(shop: Shop) -> None:
    """One that is committed after the beginning comes, however old its id; earlier ones don't."""
    client = await shop.business.client("events:read")
    book = await shop.book()
    await shop.emit()
    async with AsyncExitStack() as stack:
        async with shop.services.pool.transaction() as db:
            late = await shop.emit_in(db, book)
            await shop.emit()
            opened = await stack.enter_async_context(listening(client, PATH))
        last = await shop.emit()
        assert [event["id"] for event in await opened.events(2)] == [late, last]


async def test_a_stream_goes_on_after_an_event_and_has_only_the_types_asked_for(
    shop: Shop,
) -> None:
    """`since` brings what was missed, `events` leaves out the rest; a test event can be asked."""
    client = await shop.business.client("events:read")
    first = await shop.emit()
    missed = await shop.emit("order.updated")
    await shop.emit("order.cancelled")
    path = f"{PATH}?since={first}&events=order.updated,webhook.test"
    async with listening(client, path) as opened:
        assert [event["id"] for event in await opened.events(1)] == [missed]
        made = await shop.business.endpoint()
        await shop.owner.post(f"{ENDPOINTS}/{made['id']}/test", status=202)
        assert (await opened.events(2))[1]["event"] == "webhook.test"


async def test_who_accepts_no_stream_gets_a_list(shop: Shop) -> None:
    """The latest events, the newest first, filtered as the stream is."""
    client = await shop.business.client("events:read")
    ids = [await shop.emit(), await shop.emit("order.updated"), await shop.emit()]
    found = (await client.get(PATH, status=200)).data
    assert [event["id"] for event in found] == ids[::-1]
    found = (await client.get(f"{PATH}?since={ids[0]}&events=order.created", status=200)).data
    assert [event["id"] for event in found] == [ids[2]]


async def test_an_event_is_read_by_its_id(shop: Shop, make: Make) -> None:
    """As the list has it; of another business, and in the other book, there is none."""
    client = await shop.business.client("events:read")
    ids = [await shop.emit(), await shop.emit("order.updated")]
    listed = (await client.get(PATH, status=200)).data
    path = f"/v1/events/{ids[0]}"
    assert (await client.get(path, status=200)).data == listed[1]
    other = await (await make.business()).client("events:read")
    await other.get(path, status=404)
    live = await shop.business.client("events:read", environment="live")
    await live.get(path, status=404)
    unread = await shop.business.client("orders:read")
    await unread.get(path, status=403)


@pytest.mark.usefixtures("unpolled")
async def test_an_event_is_told_at_its_commit(
    shop: Shop, database_url: str, master_key: str
) -> None:
    """By the process of the commit, and by another one: neither waits for its next look."""
    client = await shop.business.client("events:read")
    async with running(SETTINGS, database_url, master_key) as other, AsyncExitStack() as stack:
        other.services.feeds.poll_s = NEVER_S
        clients = (client, Api(other, client.headers))
        opened = [await stack.enter_async_context(listening(one, PATH)) for one in clients]
        emitted: list[str] = []
        for _ in range(EVENTS):
            emitted.append(await shop.emit())
            for one in opened:
                assert [event["id"] for event in await one.events(len(emitted))] == emitted


@pytest.mark.usefixtures("unpolled")
async def test_streams_of_a_book_share_a_look(shop: Shop) -> None:
    """However many a business has open, each of its events is looked up once or twice."""
    pool = shop.services.pool
    client = await shop.business.client("events:read")
    before = pool.statements
    await shop.emit()
    emit = pool.statements - before
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(listening(client, PATH))
            for _ in range(STREAMS_OF_CALLER_MAX)
        ]
        await shop.emit()
        await asyncio.gather(*(one.events(1) for one in opened))
        before = pool.statements
        for number in range(EVENTS):
            await shop.emit()
            await asyncio.gather(*(one.events(number + 2) for one in opened))
        assert pool.statements - before <= EVENTS * (emit + 2)


async def test_a_caller_who_takes_nothing_for_long_misses_nothing(shop: Shop) -> None:
    """More comes meanwhile than is kept for those who follow: it gets each event, and once."""
    client = await shop.business.client("events:read")
    async with listening(client, PATH) as swift, listening(client, PATH) as slow:
        ids = [await shop.emit()]
        await slow.events(1)
        slow.pause()
        large = msgspec.structs.replace(shop.change(), metadata={"text": "x" * 200_000})
        ids += [await shop.emit(data=large) for _ in range(2 * KEPT_BYTES_MAX // 200_000)]
        await swift.events(len(ids))
        slow.go_on()
        ids.append(await shop.emit())
        for one in (swift, slow):
            assert [event["id"] for event in await one.events(len(ids))] == ids


async def test_who_may_listen(shop: Shop) -> None:
    """A key needs events:read, a login a role that has it; filters are checked first."""
    owner = shop.owner.as_bearer(
        shop.business.tokens["accessToken"], **{"service-environment": "test"}
    )
    async with listening(owner, PATH) as opened:
        event_id = await shop.emit()
        assert [event["id"] for event in await opened.events(1)] == [event_id]
    accept = {"accept": "text/event-stream"}
    poor = await shop.business.client("voice:read", "orders:read")
    answer = await poor.get(PATH, headers=accept, status=403)
    assert "events:read" in answer.json["message"]
    client = await shop.business.client("events:read")
    wrong = await client.get(f"{PATH}?since=1&events=order.made", headers=accept, status=422)
    assert wrong.wrong_fields == {"since", "events"}


async def test_a_stream_holds_no_connection_and_ends_with_its_caller(
    shop: Shop,
) -> None:
    """Many streams wait on few connections; what is over a share is refused, until one ends."""
    keys = STREAMS_OF_BUSINESS_MAX // STREAMS_OF_CALLER_MAX
    clients = [await shop.business.client("events:read") for _ in range(keys)]
    opened = [Listening(one, PATH) for one in clients for _ in range(STREAMS_OF_CALLER_MAX)]
    assert {await one.status() for one in opened} == {200}
    accept = {"accept": "text/event-stream"}
    answer = await clients[0].get(PATH, headers=accept, status=429)
    assert answer.headers["retry-after"] == "1"
    assert "This caller has 20 streams open" in answer.json["message"]
    other = await shop.business.client("events:read")
    answer = await other.get(PATH, headers=accept, status=429)
    assert "This business has 60 streams open" in answer.json["message"]
    event_id = await shop.emit()
    assert {(await one.events(1))[0]["id"] for one in opened} == {event_id}
    await asyncio.gather(*(one.leave() for one in opened))
    async with listening(other, PATH) as again:
        assert await again.status() == 200


async def tick(call: Call) -> int:
    """One."""
    return 1


class Silence:
    """A stream without events and signs of life: nothing but its caller's leave can end it."""

    def __init__(self) -> None:
        self.ended = 0

    async def stream(self, call: Call) -> EventStream:
        """Wait for what never comes."""

        async def pieces() -> AsyncGenerator[bytes]:
            try:
                await asyncio.Event().wait()
                yield b""
            finally:
                self.ended += 1

        return EventStream(pieces(), heartbeat_s=3600)


async def ticks(call: Call) -> EventStream:
    """Nothing but signs of life."""

    async def pieces() -> AsyncGenerator[bytes]:
        while True:
            yield b""
            await asyncio.sleep(0.005)

    return EventStream(pieces(), heartbeat_s=0.02)


@pytest.fixture
def silence() -> Silence:
    """A stream that stays silent."""
    return Silence()


@pytest.fixture
async def ticking(database_url: str, master_key: str, silence: Silence) -> AsyncIterator[Business]:
    """A business at an application whose streams have a quick pulse, or none."""
    routes = (
        Route("GET", TICKS, tick, Scope("events:read"), "Tick", "Tick", stream=ticks),
        Route("GET", SILENCE, tick, Scope("events:read"), "Tick", "Tick", stream=silence.stream),
    )
    product = compose(Room(name="ticks", routes=routes))
    app = App(SETTINGS, database_url, master_key, product)
    await app.start()
    yield await Make(app, app.services).business()
    await app.stop()


async def test_a_stream_ends_when_its_caller_may_no_longer_listen(ticking: Business) -> None:
    """A revoked key, a scope taken away, a logout: at the next sign of life it is over."""
    keys = [await ticking.key("events:read") for _ in range(2)]
    opened = [Listening(ticking.anybody.as_bearer(key["secret"]), TICKS) for key in keys]
    opened.append(Listening(ticking.owner, TICKS))
    for one in opened:
        assert await one.status() == 200
        await one.heartbeats(3)
    path = "/api/developer/api-keys"
    await ticking.owner.post(f"{path}/{keys[0]['id']}/revoke", status=200)
    await ticking.owner.patch(f"{path}/{keys[1]['id']}", {"scopes": ["voice:read"]}, status=200)
    await ticking.owner.post("/api/auth/logout", status=200)
    for one in opened:
        await ended(one.task)
        assert one.messages[-1].get("more_body", False) is False


async def test_a_caller_who_leaves_is_noticed_while_nothing_happens(
    ticking: Business, silence: Silence
) -> None:
    """No event and no sign of life is needed to see it: the stream ends, and so do its pieces."""
    opened = [Listening(ticking.owner, SILENCE) for _ in range(2)]
    for one in opened:
        assert await one.status() == 200
        await one.heartbeats(1)
    for left, one in enumerate(opened, 1):
        await one.leave()
        assert one.messages[-1].get("more_body", False) is False
        assert silence.ended == left
    assert not any(one.text.count("data: ") for one in opened)
