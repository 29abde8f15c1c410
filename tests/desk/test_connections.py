"""Connections in the browser: payment providers are connected, chosen and disconnected."""

from typing import Any, get_args

import pytest

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.make import PASSWORD, Business, Make
from tillhouse.access.scopes import Role

CONNECTIONS = "/desk/connections"
PAYSTACK, KEYS = f"{CONNECTIONS}/paystack", f"{CONNECTIONS}/paystack/keys"
SECRET = "sk_live_5f2c1b7e9a0d4c3e8b6a7f1d2e3c4b5a"
READS = {"owner", "admin", "manager", "developer"}
CHANGES = {"owner", "admin"}


async def read(business: Business, provider: str = "paystack") -> dict[str, Any]:
    """A provider of the live book as the API tells it."""
    live = {"service-environment": "live"}
    listed = await business.owner.get("/v1/payment-providers", headers=live, status=200)
    return next(one for one in listed.data if one["provider"] == provider)


async def go_live(browser: Browser) -> None:
    """Show the live book."""
    await browser.open("/desk")
    await browser.submit("/desk/mode", mode="live")


async def connect(browser: Browser) -> None:
    """Connect Paystack without asking it, with the password that the page asks for."""
    await browser.open(PAYSTACK)
    fields = next(form for form in browser.page.forms if form.action == KEYS).fields
    del fields["check"]
    await browser.send(KEYS, fields | {"secrets.secret_key": SECRET}, 200)
    assert "Confirm it is you" in browser.page.words
    await browser.submit(KEYS, step_up_password=PASSWORD)


async def test_a_test_book_has_the_sandbox(owner: Browser) -> None:
    """Which needs no keys: there is nothing to connect."""
    page = await owner.open(CONNECTIONS)
    assert "Sandbox" in page.words
    assert PAYSTACK not in page.links
    page = await owner.open(f"{CONNECTIONS}/sandbox")
    assert not [form for form in page.forms if form.action.startswith(CONNECTIONS)]
    await owner.open(PAYSTACK, status=404)
    await owner.open(f"{CONNECTIONS}/nobody", status=404)


async def test_each_vendor_has_its_own_fields(owner: Browser, business: Business) -> None:
    """As the API asks for them, and as passwords that no browser completes."""
    await go_live(owner)
    page = await owner.open(CONNECTIONS)
    for provider in ("paystack", "flutterwave", "monnify", "stripe"):
        address = f"{CONNECTIONS}/{provider}"
        assert address in page.links
        shown = await owner.open(address)
        fields = named(shown, type="password")
        told = await read(business, provider)
        assert [field["name"] for field in fields] == [
            f"secrets.{name}" for name in told["secretNames"]
        ]
        assert {field["autocomplete"] for field in fields} == {"off"}
        assert told["hookUrl"] in shown.words


async def test_a_provider_is_connected_chosen_and_disconnected(
    owner: Browser, business: Business
) -> None:
    """With the password; the key is shown by its end alone."""
    await go_live(owner)
    await connect(owner)
    page = await owner.open(owner.onward)
    told = await read(business)
    assert (told["status"], told["selected"]) == ("connected", True)
    assert told["hint"] in page.words
    assert SECRET not in owner.response.body.decode()
    assert "New payments are collected by it." in page.words
    for is_selected in ("false", "true"):
        await owner.submit(f"{PAYSTACK}/collect", selected=is_selected)
        page = await owner.open(owner.onward)
        assert (await read(business))["selected"] == (is_selected == "true")
        button = named(page, name="selected")[0]
        assert button["value"] == ("true" if is_selected == "false" else "false")
    await owner.submit(f"{PAYSTACK}/disconnect")
    page = await owner.open(owner.onward)
    assert (await read(business))["status"] == "disconnected"
    assert not [form for form in page.forms if form.action == f"{PAYSTACK}/disconnect"]


async def test_wrong_keys_are_refused_at_their_fields(owner: Browser, business: Business) -> None:
    """A test key in live, a short one, and a missing one; no key is sent back."""
    await go_live(owner)
    await connect(owner)
    test_key = SECRET.replace("live", "test")
    for secret in (test_key, "short", ""):
        await owner.open(PAYSTACK)
        page = await owner.submit(KEYS, 422, **{"secrets.secret_key": secret, "check": ""})
        [field] = named(page, **{"aria-invalid": "true"})
        assert (field["name"], field["value"]) == ("secrets.secret_key", "")
        assert not secret or secret not in owner.response.body.decode()
        assert "check" not in page.forms[-1].fields
    assert (await read(business))["hint"].endswith(SECRET[-4:])


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Others than owner and admin read, or have no entry at all."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    assert (CONNECTIONS in browser.page.links) == (role in READS)
    await go_live(browser)
    await browser.open(CONNECTIONS, status=200 if role in READS else 403)
    page = await browser.open(PAYSTACK, status=200 if role in READS else 403)
    assert (KEYS in [form.action for form in page.forms]) == (role in CHANGES)
    fields = page.forms[0].fields
    for end in ("keys", "collect", "disconnect"):
        await browser.send(f"{PAYSTACK}/{end}", fields, status=200 if role in CHANGES else 403)
        assert ("Confirm it is you" in browser.page.words) == (role in CHANGES)


async def test_another_business_is_not_connected_by_it(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Each has keys of its own."""
    await go_live(owner)
    await connect(owner)
    other = await make.business()
    stranger = await signed_in(other)
    await go_live(stranger)
    page = await stranger.open(PAYSTACK)
    assert "Not connected" in page.words
    assert (await read(other))["status"] == "disconnected"
