"""The calls of a page as commands, with a key of the business in them on request."""

import re
from typing import get_args

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.world import fill
from tests.make import PASSWORD, Business, Make
from tillhouse.access.scopes import Role

COMMANDS = "/desk/commands"
CALLS = f"{COMMANDS}?call.1=orders:read%20/v1/orders?limit=2&call.2=%20/api/auth/me"
NO_LOGIN = f"{COMMANDS}?call.1=orders:read%20/v1/orders?limit=2"


async def filled(browser: Browser, email: str) -> str:
    """The words of the page after its button and the password that it asks for."""
    await browser.submit(COMMANDS, status=200)
    page = await browser.submit(COMMANDS, status=200, step_up_password=PASSWORD)
    assert browser.response.headers["cache-control"] == "no-store"
    assert email not in page.words
    return page.words


async def test_every_page_leads_to_its_commands(owner: Browser, business: Business) -> None:
    """With the addresses that it asked for, as they can be called again."""
    world = await fill(business)
    page = await owner.open(world.address("/desk/orders/{order_id}"))
    link = next(link for link in page.links if link.startswith(COMMANDS))
    page = await owner.open(link)
    assert world.address("/v1/orders/{order_id}") in page.words
    assert "Bearer $KEY" in page.words
    assert "thsk_" not in page.words


async def test_the_key_in_a_command_works(
    owner: Browser, business: Business, signed_in: SignsIn
) -> None:
    """A key of the test book that has the scopes; its secret is in no browser's store."""
    await business.step_up()
    await business.key("products:read")
    await business.key("orders:read", environment="live")
    await business.key("orders:read", allowed_ip_ranges=["192.0.2.0/24"])
    right = await business.key("orders:read", "products:read", name="Till at the door")
    browser = await signed_in(business)
    await browser.open(NO_LOGIN)
    words = await filled(browser, business.email)
    secret = re.search(r"Bearer (thsk_test_\w+)", words)
    assert secret is not None
    assert secret[1] == right["secret"]
    assert "Till at the door" in words
    answer = await business.anybody.as_bearer(secret[1]).get("/v1/orders?limit=2", status=200)
    assert answer.data == []
    # The audit log tells that it was looked at.
    events = (await business.owner.get("/api/developer/events", status=200)).data
    assert any("secret_viewed" in str(event) for event in events)


async def test_without_a_key_it_says_what_one_needs(owner: Browser) -> None:
    """And asks for no password."""
    await owner.open(CALLS)
    page = await owner.submit(COMMANDS, status=200)
    assert "orders:read" in page.alerts[0]


@pytest.mark.parametrize("role", get_args(Role))
async def test_only_who_may_see_keys_is_offered_one(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """The commands themselves are for everybody."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    page = await browser.open(CALLS)
    assert "/v1/orders?limit=2" in page.words
    may = role in ("owner", "admin", "developer")
    assert (COMMANDS in [form.action for form in page.forms]) == may
    fields = page.forms[0].fields | {"call.1": "orders:read /v1/orders"}
    await browser.send(COMMANDS, fields, status=200 if may else 403)


@pytest.mark.parametrize(
    "call",
    ['/v1/orders" ; rm -rf ~ #', "orders:read /v1/$(id)", "orders:read /v1/`id`", "x", " //evil",
     "orders:read https://evil.example/v1/orders", "orders:read /v1/orders\\", "a b /v1",
     "orders:read /v1/" + "a" * 700],
)  # fmt: skip
async def test_nothing_else_becomes_a_command(call: str, owner: Browser) -> None:
    """A link from elsewhere can put no other command under the name of the desk."""
    fields = owner.page.forms[0].fields
    page = await owner.send(COMMANDS, fields | {"call.1": call}, status=200)
    assert "curl" not in page.words


async def test_the_page_says_what_its_key_is(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Where one is made; or who can make it."""
    page = await owner.open(CALLS)
    assert "KEY an API key" in page.words
    assert "/desk/developers/keys/new" in page.links
    cashier = await signed_in(await make.member(business, "cashier"))
    page = await cashier.open(CALLS)
    assert "The owner of the business can make one" in page.words
    assert "/desk/developers/keys/new" not in page.links


async def test_the_question_for_the_password_leads_back_to_its_page(
    owner: Browser, business: Business
) -> None:
    """Not to the overview; and test mode is told there, too."""
    await business.client("orders:read")
    await owner.open(CALLS)
    page = await owner.submit(COMMANDS, status=200)
    assert "Confirm it is you" in page.words
    assert COMMANDS in page.links
    assert "/desk" not in page.links
    assert "Test mode" in page.words
