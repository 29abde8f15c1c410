"""The page of a link: complete, small, and telling no more than the payer needs."""

import asyncio
import re
from urllib.parse import urlencode

import asyncpg
import pytest

from tests.api import Response
from tests.checkout.conftest import Open
from tests.checkout.till import LINKS, Body, Till
from tests.sweeping import sweep
from tests.waiting import HUNG_S, ended
from tillhouse.access.process import Services
from tillhouse.checkout.live import LivePages
from tillhouse.checkout.page import ASSETS
from tillhouse.checkout.pages import image
from tillhouse.kit.errors import Limited, Unavailable

PAGE_BYTES_MAX = 30_000


async def show(till: Till, link: Body, end: str = "", status: int = 200) -> Response:
    """The page of a link, or what lies below it."""
    return await till.payer.get(f"/pay/{link['reference']}{end}", status=status)


async def act(till: Till, link: Body, what: str, status: int = 303, **fields: str) -> Response:
    """A form of the page."""
    return await till.payer.post(
        f"/pay/{link['reference']}/{what}",
        None,
        raw=urlencode(fields).encode(),
        headers={"content-type": "application/x-www-form-urlencoded"},
        status=status,
    )


async def test_a_page_is_whole_without_scripts(open_till: Open) -> None:
    """Amount, bank, account, deadline and a button; all of it below 30 KB, from this server."""
    till = await open_till(business_name="Ada's Kitchen")
    link = await till.ask_for_wallet(16460, redirect_url="https://shop.example.com/x")
    page = await show(till, link)
    text = page.body.decode()
    for part in (
        "Ada&#39;s Kitchen", "₦16,460", "Hall deposit", "Sandbox Bank", "Pay until",
        "I have paid", "Test mode", "Simulate a payment", "Cancel and go back",
    ):  # fmt: skip
        assert part in text, part
    (number,) = re.findall(r'data-copy="(\d{10})"', text)
    account = re.search(r'<span id="acc">(.*?)</span><button', text, re.DOTALL)
    assert account is not None
    assert re.sub("<[^>]+>", "", account[1]) == number
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "frame-ancestors 'none'" in policy
    assert policy.endswith("form-action 'self' https://shop.example.com")
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["x-robots-tag"] == "noindex"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert not re.search(r"\son\w+=|style=|<style|javascript:|https?://(?!testserver)", text)
    size = len(page.body) + len((await show(till, link, "/qr.svg")).body)
    for name in re.findall(rf"{ASSETS}/([\w.-]+)", text):
        file = await till.payer.get(f"{ASSETS}/{name}", status=200)
        assert "immutable" in file.headers["cache-control"]
        size += len(file.body)
    assert size < PAGE_BYTES_MAX


async def test_texts_of_a_shop_turn_no_other_text_around(open_till: Open) -> None:
    """A name or a title may hold marks of direction: amounts beside it stay as they are."""
    mark = "\u200f"
    till = await open_till(business_name=f"Ada{mark}")
    link = await till.ask_for_wallet(title=f"Hall{mark}", redirect_url="https://shop.example.com")
    for case in ("under", "over"):
        await till.pay(link, case)
        body = (await show(till, link)).body.decode().partition("<body")[2]
        body = re.sub(r'<p class="note">.*?</p>', "", body)
        assert body.count(mark) >= 3, case
        assert mark not in re.sub("<bdi>.*?</bdi>", "", body), case


async def test_an_account_is_opened_once(open_till: Open, sql: asyncpg.Connection) -> None:
    """However often and by how many the page is looked at; a new one when less is owed."""
    till = await open_till()
    order = await till.sale(1000)
    link = await till.ask(order)
    await asyncio.gather(*(show(till, link) for _ in range(4)))
    await show(till, link)
    opened = "SELECT amount::int FROM virtual_accounts WHERE book_id = $1 ORDER BY created_at"
    assert [row[0] for row in await sql.fetch(opened, till.shop.book)] == [1000]
    path = f"/v1/orders/{order['id']}"
    await till.shop.api.patch(path, {"amount_paid": 400}, status=200)
    text = (await show(till, link)).body.decode()
    assert "₦400.00 of ₦1,000.00 is paid" in text
    assert [row[0] for row in await sql.fetch(opened, till.shop.book)] == [1000, 600]


async def test_an_image_is_drawn_once(open_till: Open) -> None:
    """It takes more of the processor than anything else that a stranger can ask for."""
    till = await open_till()
    link = await till.ask_for_wallet()
    before = image.cache_info().misses
    answers = await asyncio.gather(*(show(till, link, "/qr.svg") for _ in range(10)))
    assert len({one.body for one in answers}) == 1
    assert image.cache_info().misses == before + 1


async def test_each_end_has_its_own_page(open_till: Open, sql: asyncpg.Connection) -> None:
    """Paid elsewhere, cancelled, expired: no account, no form, and no money asked for."""
    till = await open_till()
    orders = [await till.sale() for _ in range(2)]
    paid, cancelled = [await till.ask(order) for order in orders]
    expired = await till.ask_for_wallet()
    path = f"/v1/orders/{orders[0]['id']}"
    await till.shop.api.patch(path, {"amount_paid": 1000}, status=200)
    await till.api.delete(f"{LINKS}/{cancelled['id']}", status=200)
    await sql.execute("UPDATE payment_links SET expires_at = now() WHERE id = $1", expired["id"])
    for link, words in (
        (paid, "Nothing left to pay"),
        (cancelled, "This link was cancelled"),
        (expired, "This link has expired"),
    ):
        text = (await show(till, link)).body.decode()
        assert words in text
        assert "Send no money here" in text
        assert "I have paid" not in text
    opened = "SELECT count(*) FROM virtual_accounts WHERE book_id = $1"
    assert await sql.fetchval(opened, till.shop.book) == 0


@pytest.mark.parametrize("end", ["", "/qr.svg", "/status", "/events", "/return"])
async def test_an_unknown_reference_is_nowhere(open_till: Open, end: str) -> None:
    """Mistyped, of another form, too long: one answer, but for the request's id."""
    till = await open_till()
    link = await till.ask_for_wallet()
    near = link["reference"][:-1] + ("a" if link["reference"][-1] != "a" else "b")
    pages: set[str] = set()
    for reference in (near, "pl_x", "%00", "x" * 5000, link["id"], link["reference"].upper()):
        path = f"/pay/{reference}{end}"
        answer = await till.payer.get(path, status=404, headers={"x-request-id": "same"})
        pages.add(answer.body.decode())
    assert len(pages) == 1
    assert "Nothing to pay here" in pages.pop()


@pytest.mark.parametrize("end", ["check", "email", "leave", "simulate"])
async def test_nothing_is_done_at_an_unknown_reference(open_till: Open, end: str) -> None:
    """A form of a page is refused as the page is, whatever stands in the address."""
    till = await open_till()
    for reference in ("pl_x", "%00", "x" * 5000):
        await till.payer.post(f"/pay/{reference}/{end}", None, raw=b"case=Exact", status=404)


async def test_a_guess_takes_the_same_work_however_near_it_is(
    open_till: Open, services: Services
) -> None:
    """One look at the index of references, and nothing that depends on what was guessed."""
    till = await open_till()
    reference = (await till.ask_for_wallet())["reference"]
    size = len(reference)

    async def statements(path: str) -> int:
        before = services.pool.statements
        await till.payer.get(path, status=404)
        return services.pool.statements - before

    spent: set[int] = set()
    for right in (len("pl_"), size // 2, size - 1):
        wrong = "".join("b" if one == "a" else "a" for one in reference[right:])
        # Workers may send statements meanwhile: the least of some tries is the page's own.
        tries = [await statements(f"/pay/{reference[:right]}{wrong}") for _ in range(3)]
        spent.add(min(tries))
    assert len(spent) == 1, spent


async def test_the_receipt_says_on_which_day(open_till: Open) -> None:
    """Also on the day itself: it is kept, and looked at later."""
    till = await open_till()
    link = await till.ask_for_wallet(250)
    await show(till, link)
    await till.pay(link)
    text = (await show(till, link)).body.decode()
    assert re.search(r"Date</dt>\s*<dd[^>]*><bdi>\d{1,2} \w{3} \d{4}, \d\d:\d\d \(", text), text


async def test_a_page_tells_nothing_of_the_customer(open_till: Open) -> None:
    """Neither name nor address nor number, on no page and in no state."""
    till = await open_till()
    customer = {"name": "Zebulon Q", "email": "zeb@example.com", "phone_number": "+2348035550101"}
    link = await till.ask(await till.sale(), customer=customer)
    for end in ("", "/status", "/qr.svg"):
        text = (await show(till, link, end)).body.decode()
        for part in ("Zebulon", "zeb@", "5550101", link["id"], link["customerId"]):
            assert part not in text


async def test_a_payer_leaves_and_comes_back(open_till: Open) -> None:
    """With an honest word to the shop; without an address the page itself says so."""
    till = await open_till()
    link = await till.ask_for_wallet(redirect_url="https://shop.example.com/x?a=1#b")
    left = await act(till, link, "leave")
    wanted = f"payment_status=cancelled&payment_reference={link['reference']}"
    assert left.headers["location"] == f"https://shop.example.com/x?a=1&{wanted}#b"
    assert (await show(till, link, "/return", 303)).headers["location"] == (
        f"/pay/{link['reference']}"
    )
    await till.api.delete(f"{LINKS}/{link['id']}", status=200)
    back = await show(till, link, "/return", 303)
    assert back.headers["location"] == f"https://shop.example.com/x?a=1&{wanted}#b"
    other = await till.ask_for_wallet()
    location = (await act(till, other, "leave")).headers["location"]
    assert "You left without paying" in (await till.payer.get(location)).body.decode()


async def test_a_form_of_another_site_is_refused(open_till: Open) -> None:
    """Browsers say where a form comes from; a GET changes nothing."""
    till = await open_till()
    link = await till.ask_for_wallet()
    for what in ("check", "leave", "simulate"):
        path = f"/pay/{link['reference']}/{what}"
        await till.payer.post(path, headers={"sec-fetch-site": "cross-site"}, status=403)
        await till.payer.get(path, status=405)


async def test_a_change_wakes_an_open_page(open_till: Open, services: Services) -> None:
    """At once for a page that shows an older version, else when the link changes."""
    till = await open_till()
    link = await till.ask_for_wallet()
    await show(till, link)
    version = (await show(till, link, "/status")).json["version"]
    live = LivePages()
    old = live.follow(services.pool, "192.0.2.1", link["reference"], "older")
    assert [piece async for piece in old][-1].startswith(b"event: status")
    now = live.follow(services.pool, "192.0.2.1", link["reference"], version)
    assert await anext(now) == b":\n\n"
    coming = asyncio.ensure_future(anext(now))
    await till.api.delete(f"{LINKS}/{link['id']}", status=200)
    assert (await ended(coming)).startswith(b"event: status")
    await now.aclose()


async def test_the_end_of_its_time_wakes_an_open_page(
    open_till: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """The sweep that writes down that links have expired tells those who look at them."""
    till = await open_till()
    # A few wakes come of the connection that begins to listen, and of what happened before.
    links = [await till.ask_for_wallet() for _ in range(8)]
    with services.pool.notifier.following(till.shop.book) as follower:
        for link in links:
            expire = "UPDATE payment_links SET expires_at = now() WHERE id = $1"
            await sql.execute(expire, link["id"])
            await sweep(services, "payment_links_expire")
            await ended(follower.wait(2 * HUNG_S))


async def test_open_pages_leave_connections_to_others(services: Services) -> None:
    """A network has an eighth of them, all networks together a quarter; the next page polls."""
    live = LivePages(connections=32)
    opened = []
    for network, most in (("192.0.2", 4), ("198.51.100", 4)):
        for number in range(most):
            ip = f"{network}.{number}"
            live.check(ip)
            page = live.follow(services.pool, ip, "unknown", "1")
            await anext(page)
            opened.append(page)
        if len(opened) == most:
            with pytest.raises(Limited):
                live.check(f"{network}.77")
    with pytest.raises(Unavailable):
        live.check("203.0.113.1")
    for page in opened:
        await page.aclose()
    live.check("203.0.113.1")
