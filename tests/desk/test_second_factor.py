"""The second factor in the browser: set up, asked for at each door, codes anew, turned off."""

import re
from urllib.parse import urlencode

from tests.desk.browser import Browser, named
from tests.factor import code, turn_on, wrong
from tests.make import PASSWORD, Business, Make

PAGE = "/desk/account/second-factor"
CONFIRM, CODES, OFF = f"{PAGE}/confirm", f"{PAGE}/codes", f"{PAGE}/off"
DOOR = "/desk/sign-in"
RECOVERY = re.compile(r"\b[2-9A-Z]{4}-[2-9A-Z]{4}-[2-9A-Z]{4}\b")


async def first_step(browser: Browser, person: Business, query: str = "") -> None:
    """Sign in by the password, which leads on to the code."""
    await browser.open(DOOR + query)
    page = await browser.submit(DOOR, 401, email=person.email, password=PASSWORD)
    assert "Your password is right" in page.words
    assert not page.alerts
    assert PASSWORD not in browser.response.body.decode()
    assert browser.response.headers["cache-control"] == "no-store"


async def test_a_factor_is_set_up_with_a_picture(owner: Browser, business: Business) -> None:
    """The secret and the recovery codes are shown once, on pages that no browser keeps."""
    await owner.open(PAGE)
    await owner.submit(PAGE, 200)
    page = await owner.submit(PAGE, 200, step_up_password=PASSWORD)
    [button] = named(page, **{"aria-controls": "secret"})
    secret = button["data-copy"] or ""
    assert len(secret) == 32
    assert secret in page.words
    assert [
        found for tag, found in page.elements if tag == "path" and found.get("class") == "qr-ink"
    ]
    assert owner.response.headers["cache-control"] == "no-store"
    page = await owner.submit(CONFIRM, 403, code=wrong(secret))
    assert "The code is wrong" in page.alerts[0]
    assert secret not in owner.response.body.decode()
    page = await owner.submit(CONFIRM, 200, code=code(secret))
    shown = RECOVERY.findall(page.words)
    assert len(set(shown)) == 10
    assert owner.response.headers["cache-control"] == "no-store"
    page = await owner.open(PAGE)
    assert not RECOVERY.findall(page.words)
    assert secret not in owner.response.body.decode()
    assert "10 recovery codes are left" in page.words
    # The sessions elsewhere gave no code.
    await business.owner.get("/api/auth/second-factor", status=401)


async def test_a_code_is_asked_for_at_the_door(
    business: Business, browser: Browser, make: Make
) -> None:
    """In a second step, which leads on to the page that was asked for before; no session before."""
    factor = await turn_on(business)
    await first_step(browser, business, "?next=/desk/orders")
    assert "tillhouse" not in browser.cookies
    page = await browser.submit(DOOR, 401, sign_in_code=wrong(factor.secret))
    assert "The code is wrong" in page.alerts[0]
    assert "tillhouse" not in browser.cookies
    await browser.submit(DOOR, sign_in_code=factor.next)
    assert browser.onward == "/desk/orders"
    other = Browser(make.elsewhere())
    await first_step(other, business)
    await other.submit(DOOR, sign_in_code=factor.recovery[0])
    page = await other.open(PAGE)
    assert "9 recovery codes are left" in page.words


async def test_a_wrong_password_is_asked_for_no_code(business: Business, browser: Browser) -> None:
    """And a ticket that nobody gave begins anew."""
    factor = await turn_on(business)
    await browser.open(DOOR)
    page = await browser.submit(DOOR, 401, email=business.email, password="another phrase")
    assert not named(page, name="sign_in_code")
    for ticket in ("", "forged", "AAAA" * 40):
        fields = {"sign_in_ticket": ticket, "sign_in_code": factor.next}
        page = await browser.send(DOOR, fields, 401)
        assert "That took too long" in page.alerts[0]
        assert named(page, name="password")


async def test_a_form_is_carried_through_both_steps(
    business: Business, owner: Browser, make: Make
) -> None:
    """A session that ended while it was filled in: nothing that was typed is lost."""
    factor = await turn_on(business)
    await owner.sign_in_by_code(business.email, PASSWORD, factor.recovery[0])
    await owner.open("/desk/customers/new")
    form = next(form for form in owner.page.forms if form.action == "/desk/customers/new")
    other = Browser(make.elsewhere())
    await other.send(form.action, form.fields | {"name": "Chinedu Eze"}, 401)
    fields = {"sign_in_email": business.email, "sign_in_password": PASSWORD}
    page = await other.submit(form.action, 401, **fields)
    assert "Your password is right" in page.words
    await other.submit(form.action, 401, sign_in_code=wrong(factor.secret))
    await other.submit(form.action, sign_in_code=factor.next)
    page = await other.open(other.onward)
    assert "Chinedu Eze" in page.words


async def test_an_invitation_asks_for_the_code(
    business: Business, browser: Browser, make: Make
) -> None:
    """Of the account that takes it."""
    person = await make.business()
    factor = await turn_on(person)
    await business.step_up()
    body = {"email": person.email, "role": "cashier"}
    token = (await business.owner.post("/v1/members", body, status=201)).data["token"]
    path = f"/desk/join/{token}"
    await browser.open(path)
    page = await browser.submit(path, 401, password=PASSWORD)
    assert "Your password is right" in page.words
    await browser.submit(path, 401, sign_in_code="000000")
    await browser.submit(path, sign_in_code=factor.next)
    await browser.open("/desk")


async def test_codes_are_made_anew_and_the_factor_goes_off(
    owner: Browser, business: Business, browser: Browser
) -> None:
    """Each after the password."""
    factor = await turn_on(business)
    await owner.sign_in_by_code(business.email, PASSWORD, factor.recovery[1])
    await owner.open(PAGE)
    await owner.submit(CODES, 200)
    page = await owner.submit(CODES, 200, step_up_password=PASSWORD)
    shown = RECOVERY.findall(page.words)
    assert not set(shown) & set(factor.recovery)
    await first_step(browser, business)
    await browser.submit(DOOR, 401, sign_in_code=factor.recovery[0])
    await browser.submit(DOOR, sign_in_code=shown[0])
    await owner.open(PAGE)
    await owner.submit(OFF)
    page = await owner.open("/desk/account")
    assert "Off: your password alone signs you in." in page.words


async def test_turning_off_asks_for_the_password(business: Business, browser: Browser) -> None:
    """A browser that somebody left open is not enough."""
    factor = await turn_on(business)
    await browser.sign_in_by_code(business.email, PASSWORD, factor.next)
    await browser.open(PAGE)
    page = await browser.submit(OFF, 200)
    assert "Confirm it is you" in page.words
    assert (await business.owner.get("/api/auth/second-factor")).data["isOn"]


async def test_no_code_becomes_code(business: Business, browser: Browser) -> None:
    """Words that are typed into the second step are text."""
    await turn_on(business)
    await first_step(browser, business)
    text = '"><img src=x onerror=alert(1)>'
    form = browser.page.forms[0].fields | {"sign_in_code": text, "next": text}
    page = await browser.send_raw(DOOR, urlencode(form).encode(), 401, "same-origin")
    assert not [found for tag, found in page.elements if tag == "img"]
