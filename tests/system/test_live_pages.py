"""Live pages of the desk at running servers: told by another process, left, and ended by a stop."""

import asyncio
import re
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.make import PASSWORD, Business
from tests.system.client import Client, register
from tests.system.conftest import Start
from tests.system.serving import Serving, report
from tests.waiting import within
from tillhouse.access.vault import new_master_key
from tillhouse.db.embedded import Embedded
from tillhouse.desk.live import PAGES_OF_PERSON_MAX

_SALE = {"items": [{"product_name": "Suya", "quantity": 1, "custom_price": 900}]}


class OpenPage:
    """The page of orders in a browser, with its stream."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self.answer = answer

    async def line(self) -> str:
        """The next line that isn't empty."""
        async with within():
            while not (line := (await self.answer.content.readline()).strip()):
                assert not self.answer.content.at_eof()
            return line.decode()

    async def blocks(self) -> str:
        """The names of the blocks that are told next."""
        while not (line := await self.line()).startswith("data: "):
            pass
        return line.removeprefix("data: ")

    async def ended(self) -> None:
        """Read to a proper end: one that is cut off raises."""
        async with within():
            await self.answer.content.read()


async def sign_in(
    session: aiohttp.ClientSession, address: str, business: Business
) -> dict[str, str]:
    """The headers of a browser that shows the test book."""
    fields, own = {"email": business.email, "password": PASSWORD}, {"sec-fetch-site": "same-origin"}
    path = f"{address}/desk/sign-in"
    async with session.post(path, data=fields, headers=own, allow_redirects=False) as answer:
        cookie = answer.headers["set-cookie"].partition(";")[0]
    return {"cookie": f"{cookie}; tillhouse-mode=test"}


@asynccontextmanager
async def open_page(
    session: aiohttp.ClientSession, address: str, headers: dict[str, str]
) -> AsyncIterator[OpenPage]:
    """Open the orders, and follow them inside the block."""
    async with session.get(f"{address}/desk/orders", headers=headers) as answer:
        found = re.search(r'data-live="([^"]+)"', await answer.text())
    assert found is not None
    # An order that was just recorded isn't told as one of the time before.
    stream = address + found[1].partition("&amp;at=")[0]
    # Each wait for a line has a bound of its own.
    endless = aiohttp.ClientTimeout(total=None)
    async with session.get(stream, headers=headers, timeout=endless) as answer:
        assert answer.status == 200
        yield OpenPage(answer)


async def test_a_page_hears_of_another_process(
    session: aiohttp.ClientSession, here: Client, there: str
) -> None:
    """An order that is recorded at one server is shown by the pages of all."""
    business = await register(here)
    headers = await sign_in(session, there, business)
    async with open_page(session, there, headers) as opened:
        assert await opened.line() == ":"
        await business.made("/v1/orders", _SALE)
        assert await opened.blocks() == "figures list"


async def test_pages_that_vanish_leave_their_places(
    session: aiohttp.ClientSession, here: Client, pair: tuple[Serving, Serving]
) -> None:
    """Each of as many as a person may have is told; one more takes the place of the oldest."""
    business = await register(here)
    headers = await sign_in(session, here.address, business)
    async with AsyncExitStack() as stack:

        async def one_more() -> OpenPage:
            return await stack.enter_async_context(open_page(session, here.address, headers))

        opened = [await one_more() for _ in range(PAGES_OF_PERSON_MAX)]
        assert {await one.line() for one in opened} == {":"}
        await business.made("/v1/orders", _SALE)
        assert {await one.blocks() for one in opened} == {"figures list"}
        opened.append(await one_more())
        assert await opened[-1].line() == ":"
        assert await opened.pop(0).blocks() == "full"
        opened.pop(0).answer.close()
        async with open_page(session, here.address, headers) as more:
            assert await more.line() == ":"
        await business.made("/v1/orders", _SALE)
        told = [await one.blocks() for one in opened]
        # The server may hear of an end only after the next page has come.
        assert told.count("full") <= 1
        assert set(told) <= {"figures list", "full"}
    assert pair[0].process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_stop_ends_pages_at_once(
    start: Start, session: aiohttp.ClientSession, database_url: str, master_key: str,
    number: signal.Signals,
) -> None:  # fmt: skip
    """Each stream comes to a proper end, and the browser tries again by itself."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key}
    serving = await start("--no-work", **settings)
    business = await register(Client(session, serving.address))
    headers = await sign_in(session, serving.address, business)
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(open_page(session, serving.address, headers))
            for _ in range(5)
        ]
        assert {await one.line() for one in opened} == {":"}
        began = time.monotonic()
        serving.signal(number)
        await asyncio.gather(*(one.ended() for one in opened))
        report(f"{len(opened)} pages ended {time.monotonic() - began:.2f} s after {number.name}")
    assert await serving.ended() == 0
    serving.assert_left_in_order()


async def test_pages_end_when_the_database_is_away(
    start: Start, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    """Neither rights nor events are seen meanwhile: the browser says that it isn't live."""
    database = await asyncio.to_thread(Embedded.start, tmp_path / "data")
    settings = {"DATABASE_URL": database.url, "MASTER_KEY": new_master_key()}
    serving = await start("--no-work", **settings)
    business = await register(Client(session, serving.address))
    headers = await sign_in(session, serving.address, business)
    async with open_page(session, serving.address, headers) as opened:
        assert await opened.line() == ":"
        await asyncio.to_thread(database.release)
        await opened.ended()
