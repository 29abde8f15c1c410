"""API keys in the browser: made, changed, rotated, seen again, revoked and deleted."""

import re
from typing import Any, get_args
from urllib.parse import urlencode

import pytest

from tests.desk.browser import Browser, PageParts, named
from tests.desk.conftest import SignsIn
from tests.make import PASSWORD, Business, Make
from tillhouse.access.scopes import Role
from tillhouse.kit.ids import new_id

KEYS = "/desk/developers/keys"
NEW, APPS = f"{KEYS}/new", f"{KEYS}/apps"
SECRET = re.compile(r"thsk_(?:test|live)_\w+")
BUILDS = {"owner", "admin", "developer"}


async def stepped_up(browser: Browser) -> Browser:
    """The browser once its person gave the password."""
    await browser.open(NEW)
    await browser.submit(NEW, 200, name="Starter", scopes="orders:read")
    assert "Confirm it is you" in browser.page.words
    await browser.submit(NEW, 200, step_up_password=PASSWORD)
    return browser


async def listed(business: Business) -> list[dict[str, Any]]:
    """The keys as the API lists them."""
    return (await business.owner.get("/api/developer/api-keys", status=200)).data


async def send_all(
    browser: Browser, action: str, pairs: list[tuple[str, str]], status: int = 303
) -> None:
    """Send the form of the shown page with several values of a name."""
    form = next(form for form in browser.page.forms if form.action == action)
    names = {name for name, _ in pairs}
    kept = [(name, value) for name, value in form.fields.items() if name not in names]
    await browser.send_raw(action, urlencode([*kept, *pairs]).encode(), status, "same-origin")


async def confirm(browser: Browser, action: str, status: int = 303) -> None:
    """Give the password on the page that asks for it, with every field that it carries."""
    assert "Confirm it is you" in browser.page.words
    carried = [
        (one["name"] or "", one.get("value") or "") for one in named(browser.page, type="hidden")
    ]
    await send_all(browser, action, [*carried, ("step_up_password", PASSWORD)], status)


def ticked(page: PageParts) -> set[str]:
    """The scopes that are ticked in a form."""
    boxes = named(page, name="scopes", type="checkbox")
    return {one["value"] or "" for one in boxes if "checked" in one}


@pytest.mark.parametrize("role", sorted(BUILDS))
async def test_a_preset_ticks_the_scopes_that_the_role_may_grant(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """By a link: reading alone, those of a shop, or everything; an unknown one ticks nothing."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    page = await browser.open(NEW)
    offered = {one["value"] or "" for one in named(page, name="scopes", type="checkbox")}
    assert ticked(page) == set()
    assert {f"?preset={name}" for name in ("none", "read", "shop", "everything")} <= set(page.links)
    found = {
        name: ticked(await browser.open(f"{NEW}?preset={name}"))
        for name in ("none", "read", "shop", "everything", "of-nobody")
    }
    assert found["read"] == {name for name in offered if name.endswith(":read")}
    assert found["everything"] == offered
    assert {"products:read", "orders:read"} <= found["shop"] < offered
    assert not any(name.startswith(("wallet", "payouts")) for name in found["shop"])
    assert found["none"] == found["of-nobody"] == set()


async def test_a_refused_form_keeps_the_scopes_that_were_ticked(owner: Browser) -> None:
    """The preset that it began with is forgotten."""
    await stepped_up(owner)
    await owner.open(f"{NEW}?preset=read")
    pairs = [("name", ""), ("scopes", "orders:read"), ("scopes", "tables:write")]
    await send_all(owner, NEW, pairs, 422)
    assert ticked(owner.page) == {"orders:read", "tables:write"}


async def test_a_key_is_made_after_the_password_and_its_secret_shown_once(
    owner: Browser, business: Business
) -> None:
    """The form is carried over the question for the password, and sent twice it makes one key."""
    page = await owner.open(NEW)
    assert {one["name"] for one in (await business.owner.get(
        "/api/developer/scopes", status=200)).data} == {
        one["value"] for one in named(page, name="scopes")}  # fmt: skip
    wanted = [
        ("name", "Shop server"), ("scopes", "orders:read"), ("scopes", "products:read"),
        ("allowed_ip_ranges", "192.0.2.0/24\n127.0.0.1"), ("expires_at", "2099-03-31"),
        ("allowed_origins", "shop.example.com"),
        ("idempotency_key", page.forms[-1].fields["idempotency_key"]),
    ]  # fmt: skip
    await send_all(owner, NEW, wanted, 200)
    await confirm(owner, NEW, 200)
    assert owner.response.headers["cache-control"] == "no-store"
    found = SECRET.search(owner.page.words)
    assert found is not None
    [key] = await listed(business)
    assert (key["name"], key["environment"]) == ("Shop server", "test")
    assert key["scopes"] == ["orders:read", "products:read"]
    assert key["allowedIpRanges"] == ["192.0.2.0/24", "127.0.0.1/32"]
    assert key["allowedOrigins"] == ["shop.example.com"]
    assert key["expiresAt"].startswith("2099-03-31")
    # The same form once more: the same key, and no secret.
    await owner.open(NEW)
    await send_all(owner, NEW, wanted, 200)
    assert "shown once only" in owner.page.words
    assert not SECRET.search(owner.page.words)
    assert len(await listed(business)) == 1
    page = await owner.open(KEYS)
    assert "Shop server" in page.words
    assert found[0] not in owner.response.body.decode()


async def test_the_secret_that_is_shown_works(owner: Browser, business: Business) -> None:
    """It calls what its scopes allow, and nothing else."""
    await stepped_up(owner)
    found = SECRET.search(owner.page.words)
    assert found is not None
    program = business.anybody.as_bearer(found[0])
    await program.get("/v1/orders", status=200)
    await program.get("/v1/customers", status=403)
    # The command beside it is one that this key may send.
    command = re.search(r'curl -sS "[^"]*?(/v1/[^"]+)"', owner.page.words)
    assert command is not None
    await program.get(command[1], status=200)


async def test_a_key_that_reads_nothing_has_no_command(owner: Browser) -> None:
    """No call is proposed that would be refused."""
    await stepped_up(owner)
    await owner.open(NEW)
    await owner.submit(NEW, 200, name="Writer", scopes="inventory:write")
    assert SECRET.search(owner.page.words)
    assert "curl" not in owner.page.words


async def test_a_refusal_stands_at_its_field_and_nothing_is_lost(owner: Browser) -> None:
    """Of several lines, the wrong one is named."""
    await stepped_up(owner)
    await owner.open(NEW)
    wanted = [("name", "Jollof"), ("scopes", "orders:write"),
              ("allowed_ip_ranges", "192.0.2.0/24\nnowhere"), ("expires_at", "2001-01-01"),
              ("withdrawal_policy.max_per_day", "5,000")]  # fmt: skip
    await send_all(owner, NEW, wanted, 422)
    wrong = {one.get("name") for one in named(owner.page, **{"aria-invalid": "true"})}
    assert {"allowed_ip_ranges"} <= wrong
    assert "nowhere must be" in owner.page.words
    form = next(form for form in owner.page.forms if form.action == NEW)
    assert form.fields["name"] == "Jollof"
    assert form.fields["scopes"] == "orders:write"
    assert form.fields["allowed_ip_ranges"].split() == ["192.0.2.0/24", "nowhere"]
    await owner.open(NEW)
    page = await owner.submit(NEW, 422, name="Jollof")
    assert any("What it may do" in alert or "One field" in alert for alert in page.alerts)


async def test_a_withdrawing_key_has_its_bounds(owner: Browser, business: Business) -> None:
    """They are asked for, taken with their accounts, shown, and changed."""
    await stepped_up(owner)
    await owner.open(NEW)
    page = await owner.submit(NEW, 422, name="Payer", scopes="wallet:withdrawals:create")
    assert "is required with" in page.words
    await owner.submit(
        NEW, 200, name="Payer", scopes="wallet:withdrawals:create",
        **{"withdrawal_policy.max_per_transaction": "500",
           "withdrawal_policy.max_per_day": "1,500.50"},
    )  # fmt: skip
    key = (await listed(business))[0]
    assert key["withdrawalPolicy"]["maxPerDay"] == 1500.5
    address = f"{KEYS}/{key['id']}"
    await owner.open(address)
    await owner.submit(f"{address}/change", **{"withdrawal_policy.max_per_day": "900"})
    assert (await listed(business))[0]["withdrawalPolicy"]["maxPerDay"] == 900


async def test_a_change_names_what_differs_alone(owner: Browser, business: Business) -> None:
    """A new name asks for no password, and leaves the end of the key as it is to the second."""
    key = await business.key("orders:read", expires_at="2099-01-31T10:00:00Z")
    address = f"{KEYS}/{key['id']}"
    await owner.open(address)
    await owner.submit(f"{address}/change", name="Till")
    page = await owner.open(owner.onward)
    assert "The key is changed" in page.words
    [now] = await listed(business)
    assert (now["name"], now["expiresAt"]) == ("Till", key["expiresAt"])
    await owner.submit(f"{address}/change")
    # To widen it asks; a wrong field is shown with what was typed.
    await owner.open(address)
    await owner.submit(f"{address}/change", 200, scopes="orders:write")
    assert "Confirm it is you" in owner.page.words
    await owner.submit(f"{address}/change", step_up_password=PASSWORD)
    assert (await listed(business))[0]["scopes"] == ["orders:write"]
    await owner.open(address)
    page = await owner.submit(f"{address}/change", 422, name="T" * 300)
    [field] = named(page, **{"aria-invalid": "true"})
    assert (field["name"], field["value"]) == ("name", "T" * 300)


async def test_a_secret_is_rotated_seen_and_ended(owner: Browser, business: Business) -> None:
    """Each says what became of it; a revoked key has no forms but the one that deletes it."""
    key = await business.key("orders:read")
    address = f"{KEYS}/{key['id']}"
    await owner.open(address)
    await owner.submit(f"{address}/secret", 200)
    await owner.submit(f"{address}/secret", 200, step_up_password=PASSWORD)
    assert key["secret"] in owner.page.words
    assert owner.response.headers["cache-control"] == "no-store"
    await owner.open(address)
    assert key["secret"] not in owner.response.body.decode()
    form = next(form for form in owner.page.forms if form.action.endswith("/rotate"))
    for _ in range(2):
        page = await owner.send(f"{address}/rotate", form.fields, 200)
        if _ == 0:
            new = SECRET.search(page.words)
    assert new is not None
    assert "shown once only" in page.words
    await business.anybody.as_bearer(key["secret"]).get("/v1/orders", status=401)
    await business.anybody.as_bearer(new[0]).get("/v1/orders", status=200)
    await owner.open(address)
    await owner.submit(f"{address}/revoke")
    page = await owner.open(owner.onward)
    assert "Revoked" in page.words
    await business.anybody.as_bearer(new[0]).get("/v1/orders", status=401)
    assert [one.action for one in page.forms if one.action.startswith(address)] == [
        f"{address}/delete"
    ]
    for verb in ("rotate", "secret"):
        await owner.send(f"{address}/{verb}", form.fields | {"idempotency_key": str(new_id())}, 400)
        assert "is revoked" in owner.page.words
    await owner.submit(f"{address}/delete")
    assert await listed(business) == []
    await owner.open(address, status=404)


async def test_an_app_has_keys_of_its_own(owner: Browser, business: Business) -> None:
    """Chosen in the form, told in the list, and a view of it."""
    await stepped_up(owner)
    await owner.open(APPS)
    page = await owner.submit(APPS, 422, name="")
    assert named(page, **{"aria-invalid": "true"})
    await owner.submit(APPS, name="Web shop")
    page = await owner.open(APPS)
    address = next(link for link in page.links if f"{KEYS}?app=" in link)
    assert "Web shop" in page.words
    apps = (await business.owner.get("/api/developer/apps", status=200)).data
    app = next(one["id"] for one in apps if one["name"] == "Web shop")
    await owner.open(NEW)
    await owner.submit(NEW, 200, name="Cart", scopes="orders:read", developer_app_id=app)
    page = await owner.open(f"{KEYS}?app={app}")
    assert "Cart" in page.words
    assert "Starter" not in page.words
    assert address.startswith(KEYS)


async def test_each_book_shows_its_own(owner: Browser, business: Business) -> None:
    """A live key isn't in the test book, nor at an address of it."""
    live = await business.key("orders:read", environment="live", name="Real one")
    page = await owner.open(KEYS)
    assert "Real one" not in page.words
    await owner.open(f"{KEYS}/{live['id']}", status=404)
    await owner.open(KEYS)
    await owner.submit("/desk/mode", mode="live")
    assert owner.onward == KEYS
    assert "Real one" in (await owner.open(KEYS)).words


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_sees_and_offers_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """A scope that it may not grant isn't offered; a key with one it can end, and no more."""
    guarded = await business.key("payouts:write", name="Beyond")
    common = await business.key("orders:read", name="Common")
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    may = role in BUILDS
    assert (KEYS in browser.page.links) == may
    for address in (KEYS, NEW, APPS, f"{KEYS}/{common['id']}"):
        await browser.open(address, status=200 if may else 403)
    if not may:
        fields = browser.page.forms[0].fields
        for end in ("change", "rotate", "secret", "revoke", "delete"):
            await browser.send(f"{KEYS}/{common['id']}/{end}", fields, status=403)
        return
    offered = {one["value"] for one in named(await browser.open(NEW), name="scopes")}
    assert "orders:write" in offered
    assert ("payouts:write" in offered) == (role != "developer")
    address = f"{KEYS}/{guarded['id']}"
    page = await browser.open(address)
    ends = {form.action.removeprefix(address) for form in page.forms if address in form.action}
    assert {"/revoke", "/delete"} <= ends
    assert ({"/rotate", "/secret"} <= ends) == (role != "developer")
    await browser.submit(f"{address}/change", 403 if role == "developer" else 303, name="Taken")
    if role == "developer":
        assert "You may revoke it" in browser.page.words
    await browser.open(address)
    await browser.submit(f"{address}/revoke")


async def test_another_business_has_no_key_here(
    business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Its page and every form of it are not there."""
    key = await business.key("orders:read")
    stranger = await signed_in(await make.business())
    await stepped_up(stranger)
    address = f"{KEYS}/{key['id']}"
    fields = (await stranger.open(NEW)).forms[-1].fields
    await stranger.open(address, status=404)
    for end in ("change", "rotate", "secret", "revoke", "delete"):
        await stranger.send(f"{address}/{end}", fields, status=404)
    assert (await listed(business))[0]["status"] == "active"


async def test_a_developer_begins_at_the_keys(
    business: Business, browser: Browser, make: Make
) -> None:
    """On joining and on signing in; the others on the overview, or where they were going."""
    await business.step_up()
    body = {"email": f"{new_id()}@example.com", "role": "developer"}
    token = (await business.owner.post("/v1/members", body, status=201)).data["token"]
    await browser.open(f"/desk/join/{token}")
    await browser.submit(f"/desk/join/{token}", name="Dev", password=PASSWORD)
    assert browser.onward == KEYS
    await browser.open("/", status=303)
    assert browser.onward == KEYS
    other = Browser(make.elsewhere())
    await other.sign_in(body["email"], PASSWORD)
    assert other.onward == KEYS
    third = Browser(make.elsewhere())
    await third.open("/desk/orders", status=303)
    await third.open(third.onward)
    await third.submit("/desk/sign-in", email=body["email"], password=PASSWORD)
    assert third.onward == "/desk/orders"
    seller = Browser(make.elsewhere())
    await seller.sign_in(business.email, PASSWORD)
    assert seller.onward == "/desk"
