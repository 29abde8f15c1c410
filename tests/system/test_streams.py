"""Streams of events in running servers: how soon they tell, what they hold, how they end."""

import asyncio
import json
import signal
import socket
import statistics
import time
from contextlib import AsyncExitStack
from uuid import UUID

import aiohttp
import asyncpg
import pytest

from tests.make import Business
from tests.system.client import Client, register
from tests.system.conftest import Start
from tests.system.raw_socket import connected
from tests.system.serving import Serving, report, until
from tests.system.streams import PATH, Streaming, streaming
from tests.webhooks.shop import ENDPOINTS
from tests.webhooks.shop import until as looking
from tillhouse.access.shares import STREAMS_OF_CALLER_MAX
from tillhouse.kit.ids import new_id

EVENTS = 9
STREAMS = STREAMS_OF_CALLER_MAX
# More than the sockets' buffers hold.
LARGE = 2 * 1024 * 1024
LARGE_EVENTS = 20
_LISTENERS = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'tillhouse stream'
        AND query ILIKE 'LISTEN %'
"""


class Source:
    """A business to which events happen."""

    def __init__(self, business: Business, endpoint: str) -> None:
        self.business = business
        self.token: str = business.tokens["accessToken"]
        self._endpoint = endpoint

    @classmethod
    async def at(cls, here: Client) -> "Source":
        """A new one."""
        business = await register(here)
        made = await business.endpoint(url="https://198.41.0.4/hook")
        return cls(business, made["id"])

    async def event(self, address: str) -> str:
        """Let one happen at this process; its id."""
        owner = Client(self.business.owner.session, address, self.business.owner.headers)
        answer = await owner.post(f"{ENDPOINTS}/{self._endpoint}/test", status=202)
        return answer.data["eventId"]


@pytest.fixture
async def source(here: Client) -> Source:
    """One of this test's own."""
    return await Source.at(here)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_stop_ends_streams_at_once_and_lets_requests_finish(
    start: Start, session: aiohttp.ClientSession, database_url: str, master_key: str,
    number: signal.Signals, workers: str,
) -> None:  # fmt: skip
    """Each stream comes to a proper end while a request is under way, which is answered then."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key}
    serving = await start("--no-work", "--workers", workers, **settings)
    source = await Source.at(Client(session, serving.address))
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(streaming(session, serving.address, source.token))
            for _ in range(5)
        ]
        reader, writer = await stack.enter_async_context(connected(serving.port))
        writer.write(
            b"POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            b"content-length: 45\r\nexpect: 100-continue\r\n\r\n"
        )
        assert (await reader.readline()).startswith(b"HTTP/1.1 100")
        await reader.readline()
        serving.signal(number)
        began = time.monotonic()
        await asyncio.gather(*(one.ended() for one in opened))
        report(f"{len(opened)} streams ended {time.monotonic() - began:.2f} s after {number.name}")
        writer.write(b'{"email": "a@example.com", "password": "xyz"}')
        assert (await reader.readline()).startswith(b"HTTP/1.1 401")
    assert await serving.ended() == 0
    report(f"{workers} workers were gone {time.monotonic() - began:.2f} s after {number.name}")
    serving.assert_left_in_order()


async def test_a_caller_who_takes_nothing_does_not_hold_up_a_stop(
    start: Start, session: aiohttp.ClientSession, database_url: str, master_key: str,
    sql: asyncpg.Connection,
) -> None:  # fmt: skip
    """Its stream waits until it may send more, and is cut off."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key}
    serving = await start("--no-work", **settings)
    source = await Source.at(Client(session, serving.address))
    since = await large_events(sql, source.business.id)
    head = (
        f"GET {PATH}?since={since} HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n"
        f"service-environment: test\r\nauthorization: Bearer {source.token}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", serving.port)) as taker:
        taker.sendall(head.encode())
        await until(lambda: is_stuck(serving.port), "its sockets' buffers are full")
        serving.signal(signal.SIGTERM)
        began = time.monotonic()
        assert await serving.ended() == 0
        report(f"gone {time.monotonic() - began:.2f} s after SIGTERM, with a caller that is stuck")
        serving.assert_left_in_order()


async def large_events(sql: asyncpg.Connection, business_id: str) -> UUID:
    """Events of a size that no route makes yet; the first one's id."""
    ids = [new_id() for _ in range(LARGE_EVENTS)]
    await sql.execute(
        """
        INSERT INTO webhook_events (book_id, id, type, payload)
        SELECT b.id, unnest($2::uuid[]), 'order.created', $3 FROM books b
        WHERE b.business_id = $1 AND b.environment = 'test'
        """,
        UUID(business_id),
        ids,
        json.dumps("x" * LARGE),
    )
    return ids[0]


def is_stuck(port: int) -> bool:
    """Whether a connection of the server holds more than its caller takes."""
    with open("/proc/net/tcp") as file:  # noqa: PTH123 - a file of the kernel
        rows = [line.split() for line in file.readlines()[1:]]
    held = [int(row[4].split(":")[0], 16) for row in rows if row[1].endswith(f":{port:04X}")]
    return any(size > LARGE for size in held)


async def test_events_are_told_by_each_process(
    session: aiohttp.ClientSession, pair: tuple[Serving, Serving], source: Source
) -> None:
    """By the process of the commit, and by another one that sends no webhooks, one by one.

    That none waits for the next look at the database is for `tests/http/test_stream.py`.
    """
    for place, where in ((pair[0], "the same process"), (pair[1], "another process")):
        async with streaming(session, place.address, source.token) as opened:
            took_s: list[float] = []
            for _ in range(EVENTS):
                event_id = await source.event(pair[0].address)
                began = time.monotonic()
                assert await opened.event() == event_id
                took_s.append(time.monotonic() - began)
            middle = statistics.median(took_s)
            report(f"told {middle * 1000:.0f} ms after the commit's answer, by {where}")


async def test_many_streams_share_one_connection(
    start: Start, session: aiohttp.ClientSession, database_url: str, master_key: str,
    sql: asyncpg.Connection, pair: tuple[Serving, Serving], source: Source,
) -> None:  # fmt: skip
    """One listens for all; none of the pool's two is held; the last stream takes it along."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key, "POOL_SIZE": "2"}
    serving = await start("--no-work", **settings)
    # Those of other tests may be about to leave.
    await looking(lambda: has_listeners(sql, 0))
    async with AsyncExitStack() as stack:
        opened: list[Streaming] = []
        for _ in range(STREAMS):
            stream = streaming(session, serving.address, source.token)
            opened.append(await stack.enter_async_context(stream))
        await looking(lambda: has_listeners(sql, 1))
        event_id = await source.event(pair[0].address)
        began = time.monotonic()
        assert {await one.event() for one in opened} == {event_id}
        report(f"{STREAMS} streams have told {(time.monotonic() - began) * 1000:.0f} ms later")
        await Client(session, serving.address).get("/readyz", status=200)
        assert len(await listeners(sql)) == 1
    await looking(lambda: has_listeners(sql, 0))


async def test_a_listener_that_is_cut_off_listens_again(
    session: aiohttp.ClientSession, pair: tuple[Serving, Serving], sql: asyncpg.Connection,
    source: Source,
) -> None:  # fmt: skip
    """Meanwhile the stream looks by itself."""
    await looking(lambda: has_listeners(sql, 0))
    async with streaming(session, pair[1].address, source.token) as opened:
        await looking(lambda: has_listeners(sql, 1))
        [pid] = await listeners(sql)

        async def is_another_there() -> bool:
            return bool(await listeners(sql) - {pid})

        assert await sql.fetchval("SELECT pg_terminate_backend($1)", pid)
        event_id = await source.event(pair[0].address)
        assert await opened.event() == event_id
        await looking(is_another_there)
        await looking(lambda: has_listeners(sql, 1))
        assert pid not in await listeners(sql)


async def listeners(sql: asyncpg.Connection) -> set[int]:
    """The connections on which somebody listens."""
    return {row["pid"] for row in await sql.fetch(_LISTENERS)}


async def has_listeners(sql: asyncpg.Connection, count: int) -> bool:
    """Whether so many listen."""
    return len(await listeners(sql)) == count
