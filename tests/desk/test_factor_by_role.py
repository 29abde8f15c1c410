"""A second factor by role in the browser: said by an owner, and set up before all else."""

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.factor import FACTOR, code, turn_on
from tests.make import PASSWORD, Business, Make

RULE = "/desk/people/second-factor"
SET_UP = "/desk/account/second-factor"


async def require(business: Business, *roles: str) -> None:
    """Say which roles need one, through the API."""
    await business.step_up()
    path = "/v1/business/second-factor"
    await business.owner.request("PUT", path, {"roles": list(roles)}, status=200)


async def test_an_owner_says_which_roles_need_one(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """After the password, whose page names the action; an admin reads it alone."""
    page = await owner.open("/desk/people")
    assert RULE in page.links
    await owner.open(RULE)
    fields = next(form for form in owner.page.forms if form.action == RULE).fields
    page = await owner.send(RULE, fields | {"roles": "cashier"}, 200)
    assert "Change which roles need a second factor" in page.words
    page = await owner.submit(RULE, 403, step_up_password="another phrase")
    assert "Change which roles need a second factor" in page.words
    await owner.submit(RULE, step_up_password=PASSWORD)
    page = await owner.open(owner.onward)
    assert "Saved." in page.words
    ticked = [one["value"] for one in named(page, name="roles") if "checked" in one]
    assert ticked == ["cashier"]
    reader = await signed_in(await make.member(business, "admin"))
    page = await reader.open(RULE)
    assert not named(page, name="roles")
    assert "Only an owner changes this." in page.words


async def test_a_role_that_needs_one_sets_it_up_first(
    business: Business, make: Make, signed_in: SignsIn
) -> None:
    """A form that was filled in does nothing; each page leads to the one that sets it up."""
    person = await make.member(business, "cashier")
    browser = await signed_in(person)
    await browser.open("/desk/customers/new")
    form = next(one for one in browser.page.forms if one.action == "/desk/customers/new")
    await require(business, "cashier")
    page = await browser.send(form.action, form.fields | {"name": "Chinedu Eze"}, 403)
    assert "Nothing was done" in page.alerts[0]
    for path in ("/desk", "/desk/orders", "/desk/account", "/desk/search", "/desk/keys"):
        await browser.open(path, 303)
        assert browser.onward == SET_UP
    page = await browser.open(SET_UP)
    assert "needs a second factor" in page.words
    assert "/desk/business" in [one.action for one in page.forms]
    await browser.submit(SET_UP, 200)
    page = await browser.submit(SET_UP, 200, step_up_password=PASSWORD)
    [button] = named(page, **{"aria-controls": "secret"})
    await browser.submit(f"{SET_UP}/confirm", 200, code=code(button["data-copy"] or ""))
    page = await browser.open(SET_UP)
    assert "so it stays on" in page.words
    assert f"{SET_UP}/off" not in [one.action for one in page.forms]
    page = await browser.send(f"{SET_UP}/off", browser.page.forms[0].fields, 409)
    assert "stays on" in page.alerts[0]
    await browser.open("/desk/orders")
    await browser.send(form.action, form.fields | {"name": "Chinedu Eze"})


async def test_a_block_of_a_page_is_refused(
    business: Business, make: Make, signed_in: SignsIn
) -> None:
    """The page that stood says that it isn't live, and brings nothing new."""
    browser = await signed_in(await make.member(business, "manager"))
    await browser.open("/desk/orders")
    shown = next(found["data-shown"] for tag, found in browser.page.elements if tag == "body")
    asked = {"tillhouse-block": "list", "tillhouse-shown": shown or ""}
    await browser.open("/desk/orders", 200, **asked)
    await require(business, "manager")
    await browser.open("/desk/orders", 403, **asked)


async def test_signing_in_and_out_is_open(business: Business, browser: Browser) -> None:
    """An owner who required it of owners gets in, sets it up, and gets out."""
    await require(business, "owner")
    await browser.sign_in(business.email, PASSWORD)
    await browser.open("/desk", 303)
    await browser.open(SET_UP)
    factor = await turn_on(business)
    assert (await business.owner.get(FACTOR, status=200)).data["isRequired"]
    await browser.sign_in_by_code(business.email, PASSWORD, factor.next)
    await browser.open("/desk/people")
    await browser.submit("/desk/sign-out")
