"""Forms: whose they are, what they are about, and what becomes of one that is refused."""

import asyncio
import re
from importlib.resources import files
from pathlib import Path

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.make import PASSWORD, Business, Make
from tillhouse.access.process import Services
from tillhouse.desk.fields import without_groups
from tillhouse.desk.pages import PAGES
from tillhouse.desk.session.forms import Form, is_proof, proof
from tillhouse.kit.ids import new_id

DESK = Path(str(files("tillhouse.desk")))
_NEW = "another long enough phrase"
_ID = "019b8d41-8500-71b2-97ea-77a13923edcf"
POSTS = sorted(
    re.sub(r"\{\w+\}", _ID, page.path)
    for page in PAGES
    if page.method == "POST" and not page.is_open
)


@pytest.mark.parametrize("path", POSTS)
async def test_a_form_without_its_proof_does_nothing(path: str, owner: Browser) -> None:
    """Not without one, nor with one of another session."""
    for fields in ({}, {"csrf": ""}, {"csrf": "é"}, {"csrf": "A" * 88}, {"csrf": "A" * 87}):
        page = await owner.send(path, fields, status=403)
        assert "another session" in page.alerts[0]


@pytest.mark.parametrize("path", POSTS)
async def test_a_form_of_another_site_does_nothing(path: str, owner: Browser) -> None:
    """Though it knows the proof: browsers say where a request comes from."""
    fields = owner.page.forms[0].fields
    for site in ("cross-site", "same-site", ""):
        page = await owner.send(path, fields, status=403, site=site)
        assert "another site" in page.words


@pytest.mark.parametrize("path", ["/desk/sign-in", "/desk/register", f"/desk/join/{_ID}"])
async def test_the_door_takes_no_form_of_another_site(path: str, browser: Browser) -> None:
    """Nobody is signed in to somebody else's business by a link."""
    await browser.send(path, {"email": "a@b.example"}, status=403, site="cross-site")
    assert not browser.cookies


async def test_an_old_browser_tells_its_origin(business: Business, browser: Browser) -> None:
    """Without Sec-Fetch-Site the Origin must be the host; with neither nothing is taken."""
    fields = f"email={business.email}&password={PASSWORD.replace(' ', '+')}".encode()
    for origin, status in (("http://evil.example", 403), (None, 403), ("http://shop.test", 303)):
        told = {"host": "shop.test"} | ({"origin": origin} if origin else {})
        browser.api.headers |= told
        await browser.send_raw("/desk/sign-in", fields, status, None)
        browser.api.headers.pop("origin", None)


async def test_a_form_of_the_other_mode_does_nothing(owner: Browser, business: Business) -> None:
    """Two tabs: one was switched to live meanwhile, and says so."""
    await owner.open("/desk/customers/new")
    old = next(form for form in owner.page.forms if form.action == "/desk/customers/new")
    await owner.submit("/desk/mode", mode="live")
    page = await owner.send("/desk/customers/new", old.fields | {"name": "Tunde"}, status=409)
    assert page.alerts == ["You switched to live. Nothing was done: open the page again."]
    assert "/desk/customers/new" in page.links
    for environment in ("test", "live"):
        there = {"service-environment": environment}
        assert not (await business.owner.get("/v1/customers", headers=there)).data


async def test_a_form_about_the_person_alone_is_of_every_mode(owner: Browser) -> None:
    """Signing out means it, whatever another tab shows by now."""
    await owner.open("/desk/account")
    forms = {form.action: form.fields for form in owner.page.forms}
    await owner.submit("/desk/mode", mode="live")
    await owner.send("/desk/account/theme", forms["/desk/account/theme"] | {"theme": "dark"})
    await owner.send("/desk/mode", forms["/desk/mode"] | {"mode": "live"})
    await owner.send("/desk/sign-out", forms["/desk/sign-out"])
    await owner.open("/desk", status=303)
    await owner.send("/desk/sign-out", forms["/desk/sign-out"])
    assert owner.onward == "/"


async def test_a_form_of_another_business_does_nothing(
    business: Business, make: Make, signed_in: SignsIn
) -> None:
    """The person has two, and switched in another tab."""
    member = await make.member(business, "manager")
    theirs = await signed_in(member)
    await theirs.open("/desk/customers/new")
    old = next(form for form in theirs.page.forms if form.action == "/desk/customers/new")
    await _go_home(theirs, business)
    page = await theirs.send("/desk/customers/new", old.fields | {"name": "Tunde"}, status=409)
    assert "another business" in page.alerts[0]


async def _go_home(browser: Browser, business: Business) -> None:
    await browser.open("/desk/account")
    home = next(
        found["value"] for _, found in browser.page.elements
        if found.get("name") == "business_id" and found["value"] != business.id
    )  # fmt: skip
    await browser.submit("/desk/business", business_id=home or "")


async def test_the_proof_is_masked_anew(owner: Browser) -> None:
    """Two pages of a session have other texts for the same proof, of the same length."""
    first = owner.page.forms[0].fields["csrf"]
    await owner.open("/desk")
    again = owner.page.forms[0].fields["csrf"]
    assert first != again
    assert len(first) == len(again)


def test_a_proof_is_of_its_session(services: Services) -> None:
    """And of this installation."""
    session_id, pepper = new_id(), services.vault.pepper
    text = proof(pepper, session_id)
    assert is_proof(pepper, session_id, text)
    assert not is_proof(pepper, new_id(), text)
    assert not is_proof(b"another pepper", session_id, text)
    assert not is_proof(pepper, session_id, text[:-4])


async def test_a_session_that_ended_loses_no_form(owner: Browser, business: Business) -> None:
    """One signs in below the form that was sent, and it is sent on, twice at the most once."""
    await owner.open("/desk/customers/new")
    fields = owner.page.forms[-1].fields | {"name": "Tunde Bakare"}
    await owner.send("/desk/sign-out", owner.page.forms[0].fields)
    page = await owner.send("/desk/customers/new", fields, status=401)
    assert "You were signed out" in page.words
    page = await owner.submit(
        "/desk/customers/new", status=401, sign_in_email=business.email, sign_in_password="wrong"
    )
    assert page.alerts == ["The e-mail address or the password is wrong."]
    again = page.forms[0].fields | {"sign_in_email": business.email, "sign_in_password": PASSWORD}
    for _ in range(2):
        await owner.send("/desk/customers/new", again)
        assert "Tunde Bakare" in (await owner.open(owner.onward)).words
    test = {"service-environment": "test"}
    assert len((await business.owner.get("/v1/customers", headers=test)).data) == 1


async def test_a_form_is_sent_on_in_its_business_and_its_mode(
    business: Business, make: Make, signed_in: SignsIn
) -> None:
    """A login opens the business that was joined first; the form is about the other one."""
    member = await make.member(business, "manager")
    theirs = await signed_in(member)
    await theirs.open("/desk/customers/new")
    fields = theirs.page.forms[-1].fields | {"name": "Tunde Bakare"}
    theirs.cookies.clear()
    await theirs.send("/desk/customers/new", fields, status=401)
    await theirs.submit(
        "/desk/customers/new", sign_in_email=member.email, sign_in_password=PASSWORD
    )
    page = await theirs.open(theirs.onward)
    assert "Tunde Bakare" in page.words
    assert page.title.startswith("[Test] ")
    test = {"service-environment": "test"}
    assert len((await business.owner.get("/v1/customers", headers=test)).data) == 1


async def test_a_form_is_sent_on_by_nobody_else(owner: Browser, make: Make) -> None:
    """At a shared till: somebody else signs in, and nothing of the other's is done."""
    other = await make.business()
    await owner.open("/desk/customers/new")
    fields = owner.page.forms[-1].fields | {"name": "Tunde"}
    del owner.cookies["tillhouse"]
    await owner.send("/desk/customers/new", fields, status=401)
    page = await owner.submit(
        "/desk/customers/new", status=409, sign_in_email=other.email, sign_in_password=PASSWORD
    )
    assert "Somebody else filled this form in" in page.alerts[0]


async def test_no_password_is_carried_along(owner: Browser) -> None:
    """Neither into the page that asks for a login, nor into the one that asks for a password."""
    await owner.open("/desk/account")
    form = next(form for form in owner.page.forms if form.action == "/desk/account/password")
    typed = form.fields | {"current_password": "SECRET-NOW", "new_password": "SECRET-NEW"}
    page = await owner.send(form.action, typed | {"step_up_password": "SECRET-WRONG"}, status=403)
    assert "Confirm it is you" in page.words
    assert b"SECRET" not in owner.response.body
    del owner.cookies["tillhouse"]
    await owner.send(form.action, typed, status=401)
    assert b"SECRET" not in owner.response.body
    assert owner.response.headers["cache-control"] == "no-store"


async def test_a_step_up_gives_another_cookie(owner: Browser) -> None:
    """Three at once leave one that is good, and the browser has it; the old one lasts a moment."""
    await owner.open("/desk/account")
    form = next(form for form in owner.page.forms if form.action == "/desk/account/theme")
    before = owner.cookies["tillhouse"]
    proven = form.fields | {"theme": "dark", "step_up_password": PASSWORD}
    tabs = [_tab(owner) for _ in range(3)]
    await asyncio.gather(*(tab.send(form.action, proven) for tab in tabs))
    renewed = [tab for tab in tabs if tab.cookies["tillhouse"] != before]
    assert len(renewed) == 1
    for tab in (*tabs, owner):
        await tab.open("/desk")


def _tab(browser: Browser) -> Browser:
    found = Browser(browser.api)
    found.cookies = dict(browser.cookies)
    return found


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"csrf=%FF", 422), (b"\xff=1", 422), (b"a=%00", 422), (b"&".join([b"a=1"] * 1001), 422),
        (b"a=" + b"b" * (64 * 1024), 413), (b"a=%ED%A0%80", 422), (b"", 403),
    ],
)  # fmt: skip
async def test_no_form_breaks_a_page(raw: bytes, status: int, owner: Browser) -> None:
    """Bytes that are no text, too many fields, too long a body: refused as a page."""
    page = await owner.send_raw("/desk/account/theme", raw, status, "same-origin")
    assert page.title.startswith(("This did not work", "[Test] This did not work"))


@pytest.mark.parametrize("path", ["/desk/nothing", "/desk/account/nothing/at/all"])
async def test_an_address_that_leads_nowhere_is_a_page(path: str, owner: Browser) -> None:
    """And not the API's JSON."""
    page = await owner.open(path, status=404)
    assert "no page at this address" in page.words


@pytest.mark.parametrize("path", POSTS)
async def test_the_address_of_a_form_leads_to_its_page(path: str, owner: Browser) -> None:
    """Reloaded, or opened by a bookmark."""
    headers = {"cookie": _cookies(owner)}
    answer = await owner.api.get(path, headers=headers)
    if answer.status == 303:
        answer = await owner.api.get(answer.headers["location"], headers=headers)
    # Of an order that there isn't, the page says so.
    assert answer.status in (200, 404), path
    assert answer.headers["content-type"].startswith("text/html")


def _cookies(browser: Browser) -> str:
    return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


async def test_an_odd_origin_is_refused(business: Business, browser: Browser) -> None:
    """One that can't be read, or is no host."""
    browser.api.headers |= {"host": "shop.test"}
    for origin in ("http://[", "null", "http://", "http://shop.test@evil.example"):
        browser.api.headers |= {"origin": origin}
        await browser.send_raw("/desk/sign-in", b"email=a", 403, None)


@pytest.mark.parametrize(
    ("typed", "amount"),
    [("5,000", 5000), ("5,000.50", 5000.5), (" 1,234,567.25 ", 1234567.25), ("5000", 5000),
     ("750,50", None), ("5,00", None), ("5.000,50", None), ("1,2345", None)],
)  # fmt: skip
async def test_amounts_are_typed_as_the_desk_writes_them(
    typed: str, amount: float | None, owner: Browser, business: Business
) -> None:
    """Any other text is refused in words for people, and stays as it was typed."""
    await owner.open("/desk/finance/expenses")
    fields = {"amount": typed, "description": "5,000 bricks", "category": "5,000"}
    page = await owner.submit("/desk/finance/expenses", 303 if amount else 422, **fields)
    if amount is None:
        assert "Amount : must be a number, such as 750.50 or 1,500.50" in page.alerts[0]
        assert f'value="{typed}"' in owner.response.body.decode()
    test = {"service-environment": "test"}
    made = (await business.owner.get("/v1/finance/expenses", headers=test, status=200)).data
    assert [one["amount"] for one in made] == ([amount] if amount else [])
    assert all((one["description"], one["category"]) == ("5,000 bricks", "5,000") for one in made)


def test_every_field_of_a_number_takes_its_groups() -> None:
    """Wherever a template asks for decimals, by the beginning of the field's name."""
    asked = [
        found
        for path in DESK.rglob("*.html")
        for found in re.findall(
            r"m\.field\('(\w+)'(?:(?!m\.field).)*?inputmode='decimal'", path.read_text(), re.DOTALL
        )
    ]
    assert len(asked) > 10
    for name in [
        *asked,
        "lines.x",
        "counted.x",
        "quantity.x",
        "part.x",
        "prices.x",
        "price_delta.1",
    ]:
        assert without_groups(Form([(name, "5,000.50")]))[name] == "5000.50", name
