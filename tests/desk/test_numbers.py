"""Numbers in the browser: WhatsApp's and telephones', connected, changed and taken away."""

from typing import Any, get_args

import pytest

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.desk.goods import form_of, wrong
from tests.make import Business, Make
from tests.messaging.whatsapp_business import WHATSAPP
from tillhouse.access.scopes import Role

CONNECTIONS = "/desk/connections"
MESSAGING, TELEPHONES = f"{CONNECTIONS}/messaging", f"{CONNECTIONS}/telephones"
WRITTEN, CALLED, CALLS = "/v1/messaging/numbers", "/v1/voice/numbers", "/v1/voice/calls"
TEST = {"service-environment": "test"}
SECRETS = ("access_token", "app_secret", "verify_token")
PASSWORD = "a trunk's own password"
SIP = {
    "phone_number": "+15550110002", "label": "Front desk", "settings.host": "sip.example.com",
    "settings.username": "ada", "settings.password": PASSWORD,
}  # fmt: skip


async def told(business: Business, path: str, environment: str = "live") -> list[dict[str, Any]]:
    """A list of the API."""
    headers = {"service-environment": environment}
    return (await business.owner.get(path, headers=headers, status=200)).data


async def go_live(browser: Browser) -> None:
    """Show the live book."""
    await browser.open("/desk")
    await browser.submit("/desk/mode", mode="live")


async def test_a_whatsapp_number_is_connected_and_disconnected(
    owner: Browser, business: Business
) -> None:
    """Its address for notices is there to copy; its secrets are shown by no page."""
    await go_live(owner)
    await owner.open(MESSAGING)
    assert {one["name"] for one in named(owner.page, type="password")} == set(SECRETS)
    await owner.submit(MESSAGING, **WHATSAPP)
    page = await owner.open(owner.onward)
    [number] = await told(business, WRITTEN)
    assert (number["status"], number["phoneNumber"]) == ("active", WHATSAPP["phone_number"])
    hook = f"{owner.api.app.services.settings.public_url}{number['hookPath']}"
    assert hook in [one["data-copy"] for one in named(page, type="button") if "data-copy" in one]
    assert number["phoneNumber"] in (await owner.open(CONNECTIONS)).words
    await owner.open(MESSAGING)
    assert not [name for name in SECRETS if WHATSAPP[name] in owner.response.body.decode()]
    await owner.submit(f"{MESSAGING}/{number['id']}/disconnect")
    page = await owner.open(owner.onward)
    assert (await told(business, WRITTEN))[0]["status"] == "disabled"
    assert "Disconnected" in page.words
    assert form_of(page, MESSAGING)


async def test_a_refused_number_sends_no_secret_back(owner: Browser, business: Business) -> None:
    """The other fields stay as they were typed, and each wrong one says so."""
    await go_live(owner)
    await owner.open(MESSAGING)
    typed = WHATSAPP | {"phone_number": "12", "verify_token": ""}
    page = await owner.submit(MESSAGING, 422, **typed)
    assert wrong(page) == ["phone_number", "verify_token"]
    assert named(page, name="provider_number_id")[0]["value"] == WHATSAPP["provider_number_id"]
    assert not [name for name in SECRETS[:2] if WHATSAPP[name] in owner.response.body.decode()]
    assert await told(business, WRITTEN) == []


async def test_two_forms_connect_one_number(owner: Browser, business: Business) -> None:
    """The second, of another window, is told that there is one."""
    await go_live(owner)
    await owner.open(MESSAGING)
    other = Browser(owner.api)
    other.cookies = dict(owner.cookies)
    await other.open(MESSAGING)
    await owner.submit(MESSAGING, **WHATSAPP)
    await other.submit(MESSAGING, 409, **WHATSAPP)
    assert "A number is connected already" in other.page.words
    assert len(await told(business, WRITTEN)) == 1


async def test_a_customer_of_the_sandbox_writes(owner: Browser, business: Business) -> None:
    """The test of the way in: a conversation is there afterwards. Live has no such form."""
    [number] = await told(business, WRITTEN, "test")
    await owner.open(MESSAGING)
    inbound = f"{MESSAGING}/inbound"
    assert wrong(await owner.submit(inbound, 422, **{"from": "12", "text": "Hi"})) == ["from"]
    await owner.submit(inbound, **{"from": "+2348031234567", "text": "Is there any rice?"})
    assert "The message arrived" in (await owner.open(owner.onward)).words
    [talk] = await told(business, "/v1/conversations", "test")
    assert talk["lastMessage"]["text"] == "Is there any rice?"
    await owner.submit(f"{MESSAGING}/{number['id']}/disconnect")
    await owner.open(owner.onward)
    await owner.submit(MESSAGING)
    assert [one["status"] for one in await told(business, WRITTEN, "test")] == [
        "active", "disabled",
    ]  # fmt: skip
    await go_live(owner)
    page = await owner.open(MESSAGING)
    assert inbound not in [form.action for form in page.forms]


async def test_a_telephone_number_is_added_paused_changed_and_removed(
    owner: Browser, business: Business
) -> None:
    """By a trunk; its password is shown by no page, and is replaced as a whole."""
    await go_live(owner)
    await owner.open(f"{TELEPHONES}/new?provider=sip")
    await owner.submit(f"{TELEPHONES}/new", **SIP)
    page = await owner.open(owner.onward)
    [number] = await told(business, CALLED)
    address = f"{TELEPHONES}/{number['id']}"
    assert (number["provider"], number["label"]) == ("sip", "Front desk")
    assert PASSWORD not in owner.response.body.decode()
    assert number["callingHours"] == {"from": "08:00", "until": "21:00"}
    for status, word in (("paused", "Paused"), ("active", "Active")):
        fields = form_of(owner.page, f"{address}/status").fields
        await owner.send(f"{address}/status", fields | {"status": status}, 303)
        page = await owner.open(owner.onward)
        assert word in page.words
        assert (await told(business, CALLED))[0]["status"] == status
    changed = {
        "label": "Night desk", "is_default": "true", "max_concurrent_calls": "4",
        "calling_hours.from": "", "calling_hours.until": "", "allowed_prefixes": "+8816 +8817",
    }  # fmt: skip
    await owner.submit(address, **changed)
    [number] = await told(business, CALLED)
    assert (number["label"], number["maxConcurrentCalls"]) == ("Night desk", 4)
    assert (number["callingHours"], number["isDefault"]) == (None, True)
    assert number["allowedPrefixes"] == ["+8816", "+8817"]
    await owner.open(address)
    page = await owner.submit(f"{address}/settings", 422, **{"settings.username": "ada"})
    assert wrong(page) == ["settings.password"]
    settings = {name: value for name, value in SIP.items() if name.startswith("settings.")}
    await owner.submit(f"{address}/settings", **settings)
    assert number["phoneNumber"] in (await owner.open(TELEPHONES)).words
    assert address in (await owner.open(CONNECTIONS)).links
    await owner.open(address)
    await owner.submit(f"{address}/delete")
    assert await told(business, CALLED) == []
    await owner.open(address, status=404)


async def test_wrong_fields_of_a_telephone_are_named(owner: Browser, business: Business) -> None:
    """Each at its field; the password is not sent back."""
    await go_live(owner)
    await owner.open(f"{TELEPHONES}/new?provider=sip")
    bad = SIP | {"phone_number": "12", "settings.host": "not a host", "calls_per_second": "many"}
    page = await owner.submit(f"{TELEPHONES}/new", 422, **bad)
    assert set(wrong(page)) >= {"phone_number", "calls_per_second"}
    await owner.open(f"{TELEPHONES}/new?provider=sip")
    page = await owner.submit(f"{TELEPHONES}/new", 422, **SIP | {"settings.host": "not a host"})
    assert wrong(page) == ["settings.host"]
    assert named(page, name="settings.username")[0]["value"] == "ada"
    assert PASSWORD not in owner.response.body.decode()
    await owner.open(f"{TELEPHONES}/new?provider=twilio")
    account = {"phone_number": "+15550110003", "label": "Main", "settings.account_sid": "AC1"}
    page = await owner.submit(f"{TELEPHONES}/new", 422, **account)
    assert "settings.account_sid" in wrong(page)
    assert await told(business, CALLED) == []


async def test_a_test_book_calls_by_the_simulator(owner: Browser, business: Business) -> None:
    """The provider that a form names is no matter: no telephone rings."""
    await owner.open(f"{TELEPHONES}/new?provider=sip")
    assert not named(owner.page, type="password")
    fields = {"phone_number": "+15550110004", "label": "Trial", "provider": "sip"}
    await owner.submit(f"{TELEPHONES}/new", **fields)
    numbers = await told(business, CALLED, "test")
    assert {"simulator"} == {one["provider"] for one in numbers}
    assert "+15550110004" in {one["phoneNumber"] for one in numbers}


async def test_a_number_is_tried_out_by_a_call(owner: Browser, business: Business) -> None:
    """One call, however often the form is sent, and the page tells what becomes of it."""
    [number, *_] = await told(business, CALLED, "test")
    address = f"{TELEPHONES}/{number['id']}"
    page = await owner.open(address)
    form = form_of(page, f"{address}/call")
    page = await owner.submit(f"{address}/call", 422, customer_phone="12")
    assert wrong(page) == ["customer_phone"]
    assert named(page, name="customer_phone")[0]["value"] == "12"
    assert await told(business, CALLS, "test") == []
    for _ in range(2):
        await owner.send(f"{address}/call", form.fields | {"customer_phone": "+15550100101"}, 303)
    [call] = await told(business, CALLS, "test")
    assert (call["voiceNumber"]["id"], call["maxAttempts"]) == (number["id"], 1)
    shown = owner.onward
    page = await owner.open(shown)
    assert "+15550100101" in page.words
    block = next(found for _, found in page.elements if found.get("data-block") == "call")
    assert block["data-again"] == "1"
    await business.owner.post(f"{CALLS}/{call['id']}/cancel", headers=TEST, status=200)
    page = await owner.open(shown)
    assert "Cancelled" in page.words
    assert "data-again" not in next(f for _, f in page.elements if f.get("data-block") == "call")


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_with_numbers_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Pages open, and forms stand there, where the API allows the operation."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    test = {"service-environment": "test"}
    for page, path in ((MESSAGING, WRITTEN), (TELEPHONES, CALLED)):
        may_read = (await person.owner.get(path, headers=test)).status == 200
        await browser.open(page, status=200 if may_read else 403)
        assert may_read == (role in {"owner", "admin", "manager", "developer"} or (
            role == "front_desk" and page == MESSAGING
        ))  # fmt: skip
    may_write = role in {"owner", "admin", "manager"}
    fields = (await browser.open("/desk/account")).forms[0].fields
    for address, refused in ((MESSAGING, 409), (f"{MESSAGING}/inbound", 422),
                             (f"{TELEPHONES}/new", 422)):  # fmt: skip
        await browser.send(address, fields, refused if may_write else 403)


async def test_numbers_of_another_business_are_not_there(owner: Browser, make: Make) -> None:
    """Neither to look at nor to take away."""
    other = await make.business()
    number = await other.made(CALLED, {"phone_number": "+15550110005", "label": "Theirs"})
    [written] = await told(other, WRITTEN, "test")
    await owner.open(MESSAGING)
    fields = owner.page.forms[0].fields
    await owner.open(f"{TELEPHONES}/{number['id']}", status=404)
    for end in ("", "/status", "/delete", "/settings"):
        await owner.send(f"{TELEPHONES}/{number['id']}{end}", fields, 404)
    await owner.send(f"{MESSAGING}/{written['id']}/disconnect", fields, 404)
    assert (await told(other, WRITTEN, "test"))[0]["status"] == "active"
