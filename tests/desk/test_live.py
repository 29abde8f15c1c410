"""Live pages: their blocks, their streams, and how many there may be."""

import asyncio
import re
from contextlib import AsyncExitStack
from datetime import datetime
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.api import Api
from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.world import TEST, World, fill_all
from tests.listening import Listening, listening
from tests.make import Business, Make
from tillhouse.app import App
from tillhouse.desk.live import (
    PAGES_OF_BUSINESS_MAX,
    PAGES_OF_NETWORK_MAX,
    PAGES_OF_PERSON_MAX,
)
from tillhouse.desk.pages import PAGES

LIVE = {page.path: page.live for page in PAGES if page.live}
BLOCKS = [
    (path, block)
    for path, live in LIVE.items()
    for block in sorted({name for names in live.blocks.values() for name in names})
]
# Secrets and keys are others in each answer.
_CHANGING = re.compile(r'value="[\w=-]{36,}"')


def headers_of(browser: Browser, *blocks: str) -> dict[str, str]:
    """The headers by which the scripts of the shown page ask for these blocks."""
    [body] = [found for tag, found in browser.page.elements if tag == "body"]
    return {"tillhouse-block": " ".join(blocks), "tillhouse-shown": body["data-shown"] or ""}


def stream_of(browser: Browser) -> str:
    """The address of the stream of the shown page."""
    [line] = [found for _, found in browser.page.elements if "data-live" in found]
    return line["data-live"] or ""


def person_at(browser: Browser) -> Api:
    """The requests of the scripts in a browser."""
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    return Api(browser.api.app, {"cookie": cookies}, browser.api.peer)


async def told(opened: Listening, count: int) -> list[tuple[str, str]]:
    """The first events of a stream: their names, and the words that they say."""
    events = await opened.events(count)
    return [(one["event"], one["data"]) for one in events]


def text_of(browser: Browser) -> str:
    """The shown page or block, without that which is another in each answer."""
    return _CHANGING.sub("", browser.response.body.decode())


@pytest.fixture(scope="module")
async def full(app: App) -> tuple[Business, World]:
    """A business with one of everything, for those tests that only look."""
    business = await Make(app, app.services).business()
    return business, await fill_all(business)


async def sell(business: Business, paid: int = 0) -> str:
    """Record a sale in the test book; its id."""
    items = [{"product_name": "Suya", "quantity": 1, "custom_price": 900}]
    body = {"items": items, "amount_paid": paid, "payment_method": "cash"}
    return (await business.made("/v1/orders", body))["id"]


async def pay(business: Business, order_id: str) -> None:
    """Let somebody else record a payment."""
    key = {**TEST, "idempotency-key": str(uuid4())}
    path = f"/v1/orders/{order_id}/payments"
    await business.owner.post(path, {"amount": 100, "method": "cash"}, headers=key, status=201)


@pytest.mark.parametrize(("path", "block"), BLOCKS)
async def test_a_block_is_a_part_of_its_page(
    path: str, block: str, full: tuple[Business, World], signed_in: SignsIn
) -> None:
    """It is asked for by itself, with the rights and the headers of the page."""
    browser = await signed_in(full[0])
    address = full[1].address(path)
    await browser.open(address)
    whole, headers = text_of(browser), dict(browser.response.headers)
    assert f'data-block="{block}"' in whole
    await browser.open(address, 200, **headers_of(browser, block))
    assert browser.response.headers["tillhouse-block"] == block
    assert text_of(browser).strip() in whole
    for name in ("content-security-policy", "cache-control", "vary"):
        assert browser.response.headers[name] == headers[name]


async def test_blocks_are_asked_for_together(
    full: tuple[Business, World], signed_in: SignsIn
) -> None:
    """One answer holds them, in the order of the question; unknown names are passed over."""
    browser = await signed_in(full[0])
    await browser.open("/desk")
    await browser.open("/desk", 200, **headers_of(browser, "latest", "figures", "nothing"))
    assert browser.response.headers["tillhouse-block"] == "latest figures"
    assert re.findall(r'data-block="(\w+)"', text_of(browser)) == ["latest", "figures"]
    assert "<!doctype" not in text_of(browser)


async def test_no_block_comes_into_a_page_of_something_else(
    business: Business, signed_in: SignsIn
) -> None:
    """Of another book, or of nobody: the page says so, and nothing is mixed."""
    browser = await signed_in(business)
    await browser.open("/desk/orders")
    asked = headers_of(browser, "list")
    await browser.submit("/desk/mode", mode="live")
    await browser.open("/desk/orders", 409, **asked)
    browser.cookies.clear()
    await browser.open("/desk/orders", 401, **asked)


async def test_a_block_is_no_use_of_the_session(
    business: Business, owner: Browser, sql: asyncpg.Connection
) -> None:
    """A page that is left open doesn't keep somebody signed in."""
    await owner.open("/desk/orders")
    asked, stream = headers_of(owner, "list"), stream_of(owner)
    await sql.execute(
        "UPDATE sessions SET expires_at = now() + interval '1 hour' WHERE user_id = $1",
        UUID(business.user_id),
    )

    async def end() -> datetime:
        found = await sql.fetchval(
            "SELECT max(expires_at) FROM sessions WHERE user_id = $1", UUID(business.user_id)
        )
        assert found
        return found

    ends = await end()
    await owner.open("/desk/orders", 200, **asked)
    async with listening(person_at(owner), stream) as opened:
        await opened.heartbeats(1)
    assert await end() == ends
    await owner.open("/desk/orders")
    assert await end() > ends


async def test_a_stream_names_blocks_after_an_event(business: Business, owner: Browser) -> None:
    """Of the page's own book, and nothing of the event itself."""
    await owner.open("/desk/orders")
    async with listening(person_at(owner), stream_of(owner)) as opened:
        assert opened.headers["content-type"] == "text/event-stream"
        assert opened.headers["cache-control"] == "no-store"
        await opened.heartbeats(1)
        await business.made("/v1/orders", {"items": [{"product_name": "Suya", "quantity": 1,
                            "custom_price": 900}]}, "live")  # fmt: skip
        order_id = await sell(business)
        assert await told(opened, 1) == [("block", "figures list")]
        assert order_id not in opened.text


async def test_a_stream_tells_of_its_own_thing_alone(business: Business, owner: Browser) -> None:
    """Of the order that the page shows, whatever happens to others."""
    order_id = await sell(business)
    await owner.open(f"/desk/orders/{order_id}")
    async with listening(person_at(owner), stream_of(owner).partition("&at=")[0]) as opened:
        await opened.heartbeats(1)
        await pay(business, await sell(business))
        await owner.open("/desk/orders")
        async with listening(person_at(owner), stream_of(owner)) as of_list:
            # The list hears of the other one; by then the order's page would have.
            await told(of_list, 1)
            assert "data:" not in opened.text
        await pay(business, order_id)
        assert await told(opened, 1) == [("block", "head pay state told")]


async def test_a_stream_tells_what_happened_while_the_page_was_under_way(
    business: Business, owner: Browser
) -> None:
    """Between the making of the page and the opening of its stream."""
    order_id = await sell(business)
    await owner.open(f"/desk/orders/{order_id}")
    stream = stream_of(owner)
    await pay(business, order_id)
    async with listening(person_at(owner), stream) as opened:
        assert await told(opened, 1) == [("block", "head pay state told")]
    old = re.sub(r"at=\d+", "at=1", stream)
    async with listening(person_at(owner), old) as opened:
        assert await told(opened, 1) == [("block", "head pay state told")]


async def test_a_reader_who_takes_nothing_costs_nothing(business: Business, owner: Browser) -> None:
    """However much happens meanwhile, it is told once, in one line."""
    await owner.open("/desk/orders")
    person, stream = person_at(owner), stream_of(owner)
    async with listening(person, stream) as swift, listening(person, stream) as slow:
        await sell(business)
        await told(slow, 1)
        slow.pause()
        for number in range(2, 5):
            await sell(business)
            await told(swift, number)
        slow.go_on()
        await told(slow, 2)
        assert len(slow.text) < 200


@pytest.mark.parametrize(
    ("role", "path", "status"),
    [("kitchen", "/desk/live/orders", 200), ("kitchen", "/desk/live/links", 403),
     ("cashier", "/desk/live/wallet", 403), ("cashier", "/desk/live", 200),
     ("housekeeping", "/desk/live", 403), ("manager", "/desk/live/wallet", 200)],
)  # fmt: skip
async def test_a_stream_needs_the_right_to_see_its_page(
    role: str, path: str, status: int, make: Make, business: Business, signed_in: SignsIn
) -> None:
    """And no other: `events:read` isn't asked for."""
    browser = await signed_in(await make.member(business, role))
    shown = headers_of(browser)["tillhouse-shown"]
    opened = Listening(person_at(browser), f"{path}?shown={shown}")
    assert await opened.status() == status
    await opened.leave()


async def test_a_stream_of_a_thing_of_another_business_is_not_found(
    make: Make, owner: Browser
) -> None:
    """Nor is one in the other book, nor one that isn't there."""
    stranger = await make.business()
    shown = headers_of(owner)["tillhouse-shown"]
    for order_id in (await sell(stranger), str(uuid4())):
        opened = Listening(person_at(owner), f"/desk/live/orders/{order_id}?shown={shown}")
        assert await opened.status() == 404
        await opened.leave()


async def test_a_stream_says_who_may_not_follow(make: Make, owner: Browser) -> None:
    """Nobody signed in; a page of something else than the browser shows by now."""
    await owner.open("/desk/orders")
    stream = stream_of(owner)
    async with listening(make.elsewhere(), stream) as opened:
        assert await told(opened, 1) == [("over", "signed_out")]
    await owner.submit("/desk/mode", mode="live")
    async with listening(person_at(owner), stream) as opened:
        assert await told(opened, 1) == [("over", "changed")]


async def opened_pages(stack: AsyncExitStack, browser: Browser, count: int) -> list[Listening]:
    """So many live pages of one browser."""
    await browser.open("/desk/orders")
    person, stream = person_at(browser), stream_of(browser)
    found = []
    for _ in range(count):
        opened = await stack.enter_async_context(listening(person, stream))
        await opened.heartbeats(1)
        found.append(opened)
    return found


async def test_of_many_pages_of_a_business_the_last_are_told_that_they_are_not_live(
    make: Make, business: Business, signed_in: SignsIn
) -> None:
    """One that is closed makes room for another."""
    people = [await signed_in(await make.member(business, "manager")) for _ in range(4)]
    person = person_at(people[-1])
    async with AsyncExitStack() as stack:
        for browser in people[:3]:
            await opened_pages(stack, browser, PAGES_OF_PERSON_MAX)
        assert 3 * PAGES_OF_PERSON_MAX == PAGES_OF_BUSINESS_MAX
        await people[-1].open("/desk/orders")
        async with listening(person, stream_of(people[-1])) as more:
            assert await told(more, 1) == [("over", "full")]
    async with listening(person, stream_of(people[-1])) as again:
        await again.heartbeats(1)
        await sell(business)
        assert await told(again, 1) == [("block", "figures list")]


async def test_of_many_pages_of_a_person_the_oldest_is_not_live_any_more(
    make: Make, business: Business, owner: Browser, signed_in: SignsIn
) -> None:
    """The others go on, and so do those of everybody else."""
    other = await signed_in(await make.member(business, "manager"))
    async with AsyncExitStack() as stack:
        [of_other] = await opened_pages(stack, other, 1)
        first, second, *_ = await opened_pages(stack, owner, PAGES_OF_PERSON_MAX)
        [last] = await opened_pages(stack, owner, 1)
        assert await told(first, 1) == [("over", "full")]
        await asyncio.wait({first.task})
        await sell(business)
        for opened in (second, last, of_other):
            assert await told(opened, 1) == [("block", "figures list")]


async def test_a_network_has_a_share_of_the_live_pages(
    make: Make, business: Business, signed_in: SignsIn
) -> None:
    """However many businesses are behind it; another network has its own."""
    neighbours = await make.business()
    people = [business, neighbours]
    people += [await make.member(one, "manager") for one in people for _ in range(2)]
    browsers = [await signed_in(person) for person in people]
    peer = browsers[0].api.peer
    async with AsyncExitStack() as stack:
        for browser in browsers[: PAGES_OF_NETWORK_MAX // PAGES_OF_PERSON_MAX]:
            browser.api.peer = peer
            await opened_pages(stack, browser, PAGES_OF_PERSON_MAX)
        last = browsers[-1]
        await last.open("/desk/orders")
        async with listening(person_at(last), stream_of(last)) as elsewhere:
            await elsewhere.heartbeats(1)
        last.api.peer = peer
        async with listening(person_at(last), stream_of(last)) as more:
            assert await told(more, 1) == [("over", "full")]


@pytest.mark.parametrize(
    "at", ["999999999999999", str(1 << 48), "9" * 400, "0" * 16 + "9" * 40, "-1", "", "x"]
)
async def test_a_page_of_no_moment_is_followed_from_now_on(
    at: str, business: Business, owner: Browser
) -> None:
    """No address breaks a stream."""
    await owner.open("/desk/orders")
    stream = re.sub(r"at=\d+", f"at={at}", stream_of(owner))
    async with listening(person_at(owner), stream) as opened:
        await opened.heartbeats(1)
        await sell(business)
        assert await told(opened, 1) == [("block", "figures list")]


def test_every_live_block_is_in_its_page() -> None:
    """A table that names a block which no page has would be passed over in silence."""
    assert len(BLOCKS) > 15
    assert all(live.operations for live in LIVE.values())
