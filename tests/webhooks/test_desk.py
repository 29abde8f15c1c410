"""From nothing to a verified delivery, by the desk's pages alone; a broken receiver is mended."""

import re
import sys
from base64 import b64encode
from html import unescape
from pathlib import Path

import pytest

from tests.desk.browser import Browser
from tests.make import PASSWORD, Make
from tests.tools import program
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop, until
from tests.webhooks.test_languages import output
from tillhouse.desk.developers.webhooks.verifying import LANGUAGES

HOOKS = "/desk/developers/webhooks"
SIGNING = f"{HOOKS}/signing"
_CODE = re.compile(r'<pre class="pre" id="code"[^>]*>(.*?)</pre>', re.DOTALL)


async def browsing(shop: Shop) -> Browser:
    """The owner of a shop at a browser, in its test book."""
    browser = Browser(Make(shop.app, shop.services).elsewhere())
    await browser.sign_in(shop.business.email, PASSWORD)
    await browser.open("/desk/account")
    await browser.submit("/desk/mode", mode="test")
    return browser


async def settled(browser: Browser, shop: Shop, count: int) -> list[str]:
    """The states of the deliveries as the API tells them, once so many are no longer queued."""

    async def look() -> list[str] | None:
        found = [one["status"] for one in await shop.deliveries()
                 if one["status"] != "pending" and one["nextAttemptAt"] is None]  # fmt: skip
        return found if len(found) >= count else None

    states = await until(look)
    await browser.open(f"{HOOKS}/deliveries")
    return states


async def make_endpoint(browser: Browser, url: str) -> str:
    """An endpoint that is told of orders; the address of its page."""
    await browser.open(f"{HOOKS}/new")
    await browser.submit(f"{HOOKS}/new", name="Shop server", url=url, events="order.created")
    return browser.onward


async def ticked(browser: Browser) -> int:
    """How many steps of the first call are done."""
    page = await browser.open("/desk/developers/begin")
    return len([one for tag, one in page.elements if tag == "li" and one.get("class") == "done"])


def code(browser: Browser) -> str:
    """The program on the page."""
    found = _CODE.search(browser.response.body.decode())
    assert found is not None
    return unescape(found[1])


async def filled(browser: Browser, language: str) -> str:
    """The program with the last delivery in it, after the password where it is asked for."""
    await browser.open(SIGNING)
    page = await browser.submit(f"{SIGNING}/view", 200, language=language)
    if "Confirm it is you" in page.words:
        await browser.submit(f"{SIGNING}/view", 200, step_up_password=PASSWORD)
    assert browser.response.headers["cache-control"] == "no-store"
    return code(browser)


async def test_from_nothing_to_a_verified_delivery(
    sender: Shop, receiver: Receiver, tmp_path: Path
) -> None:
    """An endpoint, a test event, its attempt, and the program that the page gives: it is true."""
    browser = await browsing(sender)
    assert await ticked(browser) == 0
    key = await sender.business.key("voice:read")
    assert await ticked(browser) == 1
    await sender.business.anybody.as_bearer(key["secret"]).get("/v1/voice/health", status=200)
    address = await make_endpoint(browser, receiver.url)
    await browser.open(address)
    await browser.submit(f"{address}/test")
    [got] = await receiver.until(1)
    assert await settled(browser, sender, 1) == ["delivered"]

    async def is_all_ticked() -> bool:
        return await ticked(browser) == 4

    # The last use of a key is written some time after it.
    await until(is_all_ticked)
    await browser.open(f"{HOOKS}/deliveries")
    page = await browser.open(next(link for link in browser.page.links
                                   if link.startswith(f"{HOOKS}/deliveries/")))  # fmt: skip
    for text in ("200 in", "webhook.test", got.event_id, "Delivered", "ok", "connected in"):
        assert text in page.words
    text = await filled(browser, "python")
    (tmp_path / "verify.py").write_text(text, "utf-8")
    assert output([sys.executable, tmp_path / "verify.py"]).strip() == "True"
    # A byte of the body that is another is believed no more.
    body = re.search(r'b64decode\("(\w{9})', text)
    assert body is not None
    changed = text.replace(body[1], body[1][:-1] + ("A" if body[1][-1] != "A" else "B"))
    (tmp_path / "verify.py").write_text(changed, "utf-8")
    assert output([sys.executable, tmp_path / "verify.py"]).strip() == "False"


async def test_the_program_has_the_body_that_was_sent(sender: Shop, receiver: Receiver) -> None:
    """Byte by byte; without a delivery it says what to do, and replaced it is another secret."""
    browser = await browsing(sender)
    text = await filled(browser, "javascript")
    assert "send a test event" in browser.page.words
    assert "base64" not in text
    address = await make_endpoint(browser, receiver.url)
    event_id = await sender.emit()
    [got] = await receiver.until(1)
    await sender.settled(event_id)
    text = await filled(browser, "javascript")
    assert b64encode(got.body).decode() in text
    secret = re.search(r"whsec_[\w+/=]+", text)
    assert secret is not None
    await browser.open(SIGNING)
    assert secret[0] not in browser.response.body.decode()
    form = next(form for form in browser.page.forms if form.action == f"{SIGNING}/rotate")
    page = await browser.send(f"{SIGNING}/rotate", form.fields, 200)
    assert "The secret is replaced" in page.words
    assert secret[0] not in page.words
    assert (await sender.secret()) in page.words
    page = await browser.send(f"{SIGNING}/rotate", form.fields, 200)
    assert "shown once only" in page.words
    assert address.startswith(HOOKS)


@pytest.mark.proof
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
async def test_the_program_of_each_language_runs(
    sender: Shop, receiver: Receiver, tmp_path: Path, language: object
) -> None:
    """As it stands on the page."""
    [one] = [each for each in LANGUAGES if each is language]
    browser = await browsing(sender)
    address = await make_endpoint(browser, receiver.url)
    await browser.open(address)
    await browser.submit(f"{address}/test")
    await settled(browser, sender, 1)
    text = await filled(browser, one.name)
    (tmp_path / one.file).write_text(text, "utf-8")
    command = one.run.split()
    program(command[0])
    said = output([*command[:-1], tmp_path / command[-1]])
    assert said.strip().lower() == "true"


async def test_a_broken_receiver_is_found_and_mended(sender: Shop, receiver: Receiver) -> None:
    """The list says that it fails, a delivery how, and what it missed comes once it is mended."""
    browser = await browsing(sender)
    address = await make_endpoint(browser, receiver.url)
    receiver.status = 503
    events = {await sender.emit() for _ in range(2)}
    states = await settled(browser, sender, 2)
    assert states == ["failed", "failed"]
    page = await browser.open(HOOKS)
    assert "Failing" in page.words
    page = await browser.open(address)
    assert "failures in a row, since" in page.words
    assert "0 delivered, 2 failed" in page.words
    link = next(link for link in page.links if link.startswith(f"{HOOKS}/deliveries/"))
    page = await browser.open(link)
    assert page.words.count("503 in") == 5
    receiver.status, receiver.received = 200, []
    await browser.open(address)
    page = await browser.submit(f"{address}/recover", 200, preview="true", since="2026-01-01T00:00")
    assert "2 deliveries would be queued" in page.words
    assert receiver.received == []
    form = next(form for form in page.forms if form.action == f"{address}/recover")
    fields = form.fields | {"since": "2026-01-01T00:00"}
    await browser.send(f"{address}/recover", fields)
    assert "2 deliveries are queued again" in (await browser.open(browser.onward)).words
    # Sent twice it is one recovery.
    await browser.send(f"{address}/recover", fields)
    assert {one.event_id for one in await receiver.until(2)} == events
    assert await settled(browser, sender, 2) == ["delivered", "delivered"]
    assert len(receiver.received) == 2
    page = await browser.open(address)
    assert "Active" in page.words
    assert "failures in a row" not in page.words
