"""A forgotten password in the browser: asking for a link, and setting another one by it."""

from collections.abc import AsyncIterator

import pytest

from tests.accounts.mails import LINK, RESET, Mails
from tests.conftest import running, settings_with
from tests.desk.browser import Browser
from tests.make import PASSWORD, Business
from tests.providers.mail.server import MailServer
from tests.webhooks.mailed import mailing_settings
from tillhouse.accounts.forgotten import rules

NEW = "seven green bicycles"


@pytest.fixture
async def mails(database_url: str, master_key: str) -> AsyncIterator[Mails]:
    """An application that sends mails, to a server of this process."""
    server = await MailServer().start()
    settings = mailing_settings(settings_with(LOG_LEVEL="info"), server.address())
    async with running(settings, database_url, master_key) as app:
        yield Mails(app, server)
    await server.stop()


async def test_a_password_is_set_in_the_browser(mails: Mails) -> None:
    """From the sign-in on by links and forms alone; then the person signs in with it."""
    person = await mails.make.business()
    browser = Browser(mails.make.elsewhere())
    page = await browser.open("/desk/sign-in")
    assert "/desk/forgot" in page.links
    await browser.open("/desk/forgot")
    page = await browser.submit("/desk/forgot", 200, email=person.email)
    assert "If this address has an account" in page.words
    await mails.work()
    (token,) = LINK.findall(mails.to(person.email)[0].text)
    path = f"/desk/reset/{token}"
    page = await browser.open(path)
    assert person.email in page.words
    for header, value in (("referrer-policy", "no-referrer"), ("cache-control", "no-store")):
        assert browser.response.headers[header] == value
    await browser.submit(path, 422, new_password="short")
    assert browser.response.headers["referrer-policy"] == "no-referrer"
    await browser.submit(path, new_password=NEW)
    assert browser.onward == "/desk/sign-in?password=set"
    page = await browser.open(browser.onward)
    assert "Your password is set" in page.words
    await browser.sign_in(person.email, NEW)
    await browser.open("/desk")
    page = await Browser(mails.make.elsewhere()).open(path, status=400)
    assert page.alerts == [rules.LinkOver.message]
    assert "/desk/forgot" in page.links


async def test_no_log_tells_the_token(mails: Mails, capfd: pytest.CaptureFixture[str]) -> None:
    """Nor the line of a request, nor that of a refusal."""
    person = await mails.make.business()
    token = await mails.link(person.email)
    browser, path = Browser(mails.make.elsewhere()), f"/desk/reset/{token}"
    await browser.open(path)
    await browser.submit(path, new_password=NEW)
    await browser.open(path, status=400)
    await browser.send(path, {"new_password": NEW}, status=400)
    logged = capfd.readouterr().err
    assert logged.count('"route":"/desk/reset/{token}"') == 4
    assert token not in logged


async def test_the_page_is_the_same_for_every_address(mails: Mails) -> None:
    """It tells nobody who has an account."""
    person = await mails.make.business()
    told = set[str]()
    for email in (person.email, "nobody.with.a.page@example.com"):
        browser = Browser(mails.make.elsewhere())
        await browser.open("/desk/forgot")
        told.add((await browser.submit("/desk/forgot", 200, email=email)).words)
    assert len(told) == 1


async def test_a_form_of_a_browser_without_a_referrer_is_taken(mails: Mails) -> None:
    """Old ones name no origin where a page tells no referrer: the link proves the form."""
    person = await mails.make.business()
    token = await mails.link(person.email)
    browser = Browser(mails.make.elsewhere())
    browser.api.headers |= {"host": "shop.test", "origin": "null"}
    body = f"new_password={NEW.replace(' ', '+')}".encode()
    await browser.send_raw(f"/desk/reset/{token}", body, 303, None)
    used = {"token": token, "new_password": NEW}
    await mails.make.elsewhere().post(RESET, used, status=400)


async def test_without_mails_the_operator_is_named(business: Business, browser: Browser) -> None:
    """There is no form that would send nothing."""
    page = await browser.open("/desk/forgot")
    assert "tillhouse user password-link EMAIL" in page.words
    assert not page.forms
    await browser.sign_in(business.email, PASSWORD)
