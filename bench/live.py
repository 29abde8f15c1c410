"""Pages of the desk that are open and wait: `desk`, after its pages were timed.

A process without pages, then with 500 live ones of 25 businesses in five networks: its memory, and
the processor that it takes in a minute in which nothing happens. Then an order in one of the
businesses: until each of its pages is told.
"""

import asyncio
import contextlib
import itertools
import os
import re
import time
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import aiohttp
import msgspec
from rich.console import Console

from bench import world
from bench.checkout import process_use

PAGES, PAGES_OF_BUSINESS, PAGES_OF_NETWORK = 500, 20, 100
MEMORY_MIB_MAX, IDLE_MIB_MAX = 60.0, 160.0
# Of a minute; a page costs a sign of life now and then.
PROCESSOR_S_MAX = 0.6
_STREAM = re.compile(r'data-live="([^"]+)"')
_SALE = {"items": [{"product_name": "Suya", "quantity": 1, "custom_price": 900}]}


class _Use(msgspec.Struct):
    """The memory of the process, and the processor that it took in the minute."""

    memory_mib: float
    processor_s: float


def measure(console: Console, minute_s: float) -> None:
    """Measure, and print the figures beside their bars."""
    settings = {"rate_limit": "0", "registration_limit": "0", "log_level": "error"}
    with world.database() as url, world.server_process("tillhouse", url, **settings) as server:
        port, pid = server
        businesses = [_register(port) for _ in range(PAGES // PAGES_OF_BUSINESS)]
        asyncio.run(_measure(console, port, pid, businesses, minute_s))


def _register(port: int) -> dict[str, str]:
    email = f"{os.urandom(8).hex()}@example.com"
    new = {
        "name": "Ada Bench",
        "email": email,
        "password": world.PASSWORD,
        "business_name": "Bench",
    }
    token = world.call(port, "POST", "/api/auth/register", new)["accessToken"]
    return {"email": email, "token": token}


async def _measure(
    console: Console, port: int, pid: int, businesses: list[dict[str, str]], minute_s: float
) -> None:
    base = f"http://127.0.0.1:{port}"
    async with contextlib.AsyncExitStack() as stack:
        sessions = [
            await stack.enter_async_context(_from(base, f"127.0.{network}.1"))
            for network in range(PAGES // PAGES_OF_NETWORK)
        ]
        owners = zip(businesses, itertools.cycle(sessions))
        streams = [
            (session, *found)
            for business, session in owners
            for found in [await _page(session, business)] * PAGES_OF_BUSINESS
        ]
        without = await _use(pid, minute_s)
        opened = [await stack.enter_async_context(_open(*one)) for one in streams]
        live = await _use(pid, minute_s)
        told_s = await _tell(sessions[0], businesses[0], opened[:PAGES_OF_BUSINESS])
    _report(console, without, live, told_s)


def _from(base: str, address: str) -> aiohttp.ClientSession:
    """A client at this address of the machine."""
    connector = aiohttp.TCPConnector(limit=0, local_addr=(address, 0))
    timeout = aiohttp.ClientTimeout(total=None)
    jar = aiohttp.DummyCookieJar()
    return aiohttp.ClientSession(base, connector=connector, timeout=timeout, cookie_jar=jar)


async def _page(session: aiohttp.ClientSession, business: dict[str, str]) -> tuple[str, str]:
    """The cookies of a browser that shows the test book, and the stream of its orders."""
    body = urlencode({"email": business["email"], "password": world.PASSWORD})
    headers = {
        "sec-fetch-site": "same-origin",
        "content-type": "application/x-www-form-urlencoded",
    }
    async with session.post(
        "/desk/sign-in", data=body, headers=headers, allow_redirects=False
    ) as answer:
        secret = answer.headers["set-cookie"].partition(";")[0]
    cookie = f"{secret}; tillhouse-mode=test"
    async with session.get("/desk/orders", headers={"cookie": cookie}) as answer:
        found = _STREAM.search(await answer.text())
    assert found is not None
    # One that is opened long after its page was made begins where it is opened.
    return cookie, found[1].partition("&amp;at=")[0]


@contextlib.asynccontextmanager
async def _open(
    session: aiohttp.ClientSession, cookie: str, address: str
) -> AsyncIterator[aiohttp.ClientResponse]:
    async with session.get(address, headers={"cookie": cookie}) as answer:
        assert answer.status == 200, answer.status
        assert await answer.content.readline() == b":\n"
        yield answer


async def _use(pid: int, minute_s: float) -> _Use:
    _, before_s = process_use(pid)
    await asyncio.sleep(minute_s)
    memory_mib, after_s = process_use(pid)
    return _Use(memory_mib, after_s - before_s)


async def _tell(
    session: aiohttp.ClientSession, business: dict[str, str], opened: list[aiohttp.ClientResponse]
) -> float:
    """How long it takes until each of these pages is told of an order."""
    headers = {"authorization": f"Bearer {business['token']}", "service-environment": "test"}
    began = time.perf_counter()
    async with session.post("/v1/orders", json=_SALE, headers=headers) as answer:
        assert answer.status == 201, await answer.text()
    await asyncio.gather(*map(_told, opened))
    return time.perf_counter() - began


async def _told(answer: aiohttp.ClientResponse) -> None:
    while not (await answer.content.readline()).startswith(b"data: "):
        pass


def _report(console: Console, without: _Use, live: _Use, told_s: float) -> None:
    more_mib = live.memory_mib - without.memory_mib
    more_s = live.processor_s - without.processor_s
    is_kept = (
        more_mib <= MEMORY_MIB_MAX
        and more_s <= PROCESSOR_S_MAX
        and without.memory_mib <= IDLE_MIB_MAX
    )
    console.print(
        f"{PAGES} live pages: {more_mib:.0f} MiB more than {without.memory_mib:.0f} (bars "
        f"{MEMORY_MIB_MAX:.0f} and {IDLE_MIB_MAX:.0f}); processor of the idle time "
        f"{live.processor_s:.2f} s beside {without.processor_s:.2f} s without them (bar "
        f"{PROCESSOR_S_MAX:g} s more); {PAGES_OF_BUSINESS} pages were told of an order "
        f"{told_s * 1000:.0f} ms after it was asked for. {'Kept' if is_kept else 'MISSED'}"
    )
