"""People in the browser: invited, given another role, signed out, removed; and the rights."""

import secrets
from typing import Any, get_args

import pytest

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.make import PASSWORD, Business, Make
from tillhouse.access.scopes import Role
from tillhouse.app import ROOMS
from tillhouse.desk.people.rights import area_of, rights
from tillhouse.http.route import Open

PEOPLE = "/desk/people"
INVITE = f"{PEOPLE}/invite"
MANAGE = {"owner", "admin"}
# Operations of a person's own account, and answers that each role has its own of.
NO_AREA = ("/api/auth", "/v1/counts", "/v1/search")


def fresh() -> str:
    """An address that nobody has."""
    return f"{secrets.token_hex(8)}@example.com"


async def members(business: Business) -> dict[str, dict[str, Any]]:
    """The people as the API lists them, by address."""
    listed = await business.owner.get("/v1/members", status=200)
    return {one["email"]: one for one in listed.data}


async def proven(browser: Browser, action: str, **fields: str) -> None:
    """Send a form of the shown page, and give the password that is asked for next."""
    page = await browser.submit(action, 200, **fields)
    assert "Confirm it is you" in page.words
    await browser.submit(action, step_up_password=PASSWORD)


async def invited(browser: Browser, email: str, role: str = "cashier") -> str:
    """Invite somebody, with the password: the link that is shown once."""
    await browser.open(INVITE)
    await browser.submit(INVITE, 200, email=email, role=role)
    if "Confirm it is you" in browser.page.words:
        await browser.submit(INVITE, 200, step_up_password=PASSWORD)
    [button] = [found for _, found in browser.page.elements if "data-copy" in found]
    return (button["data-copy"] or "").partition("/desk/")[2]


async def test_somebody_is_invited_joins_and_is_listed(
    owner: Browser, business: Business, browser: Browser
) -> None:
    """The link is shown once, is no secret that a browser keeps, and is good once."""
    email = fresh()
    link = await invited(owner, email)
    assert owner.response.headers["cache-control"] == "no-store"
    page = await owner.open(PEOPLE)
    assert email in page.words
    assert "Invited, until" in page.words
    assert link not in owner.response.body.decode()
    one = (await members(business))[email]
    await owner.open(f"{PEOPLE}/{one['id']}")
    assert link not in owner.response.body.decode()
    await browser.open(f"/desk/{link}")
    await browser.submit(f"/desk/{link}", name="Bola Ade", password="six brown bicycles")
    page = await owner.open(PEOPLE)
    assert "Bola Ade" in page.words
    assert "Invited, until" not in page.words
    await browser.open(f"/desk/{link}", status=400)


async def test_a_form_sent_twice_is_one_invitation(owner: Browser, business: Business) -> None:
    """The second answer has no link, and says why."""
    await invited(owner, fresh())
    await owner.open(INVITE)
    form = next(form for form in owner.page.forms if form.action == INVITE)
    email = fresh()
    fields = form.fields | {"email": email, "role": "kitchen"}
    await owner.send(INVITE, fields, 200)
    link = next(found["data-copy"] for _, found in owner.page.elements if "data-copy" in found)
    page = await owner.send(INVITE, fields, 200)
    assert "This form was sent before" in page.words
    assert not [found for _, found in page.elements if "data-copy" in found]
    assert (await members(business))[email]["role"] == "kitchen"
    token = (link or "").rpartition("/")[2]
    await owner.open(f"/desk/join/{token}")


async def test_a_refused_invitation_keeps_what_was_typed(owner: Browser, make: Make) -> None:
    """A wrong address at its field; a member already above the form."""
    await invited(owner, fresh())
    await owner.open(INVITE)
    page = await owner.submit(INVITE, 422, email="nobody at all", role="manager")
    [field] = named(page, **{"aria-invalid": "true"})
    assert (field["name"], field["value"]) == ("email", "nobody at all")
    assert page.forms[-1].fields["role"] == "manager"
    page = await owner.submit(INVITE, 422, email=fresh(), role="chef")
    assert [one["name"] for one in named(page, **{"aria-invalid": "true"})] == ["role"]
    assert make


async def test_a_link_is_made_anew_and_taken_back(owner: Browser, business: Business) -> None:
    """A new one ends the one before; one that was taken back opens nothing."""
    email = fresh()
    old = await invited(owner, email, "manager")
    one = (await members(business))[email]
    address = f"{PEOPLE}/{one['id']}"
    await owner.open(address)
    page = await owner.submit(INVITE, 200)
    new = next(found["data-copy"] for _, found in page.elements if "data-copy" in found) or ""
    renewed = (await members(business))[email]
    assert renewed["role"] == "manager"
    await owner.open(f"/desk/{old}", status=400)
    await owner.open(address, status=404)
    path = f"/desk/{new.partition('/desk/')[2]}"
    await owner.open(path)
    address = f"{PEOPLE}/{renewed['id']}"
    await owner.open(f"{address}/remove")
    await owner.submit(f"{address}/remove")
    assert "Removed." in (await owner.open(owner.onward)).words
    assert "Removed." not in (await owner.open(PEOPLE)).words
    await owner.open(path, status=400)
    assert email not in await members(business)


async def test_a_link_is_nothing_once_its_role_is_taken_away(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """An admin who may invite no more takes the invitations along."""
    admin = await make.member(business, "admin")
    theirs = await signed_in(admin)
    link = await invited(theirs, fresh())
    await owner.open(f"/desk/{link}")
    address = f"{PEOPLE}/{admin.user_id}"
    await owner.open(address)
    await proven(owner, f"{address}/role", role="cashier")
    await owner.open(f"/desk/{link}", status=400)


async def test_a_lower_role_signs_out_and_revokes(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """The keys that the person made end in the same call, where that is wished."""
    admin = await make.member(business, "admin")
    key = await admin.key("orders:read", name="Stock robot")
    theirs = await signed_in(admin)
    address = f"{PEOPLE}/{admin.user_id}"
    page = await owner.open(address)
    assert "Stock robot" in page.words
    assert "Revoke the API key" in page.words
    await proven(owner, f"{address}/role", role="cashier", revoke_keys="true")
    assert owner.onward == address
    page = await owner.open(address)
    assert "Stock robot" not in page.words
    assert page.forms[-2].fields["role"] == "cashier"
    await theirs.open("/desk", status=303)
    client = business.anybody.as_bearer(key["secret"])
    await client.get("/v1/orders", status=401)


async def test_keys_stay_unless_the_box_is_ticked(
    owner: Browser, business: Business, make: Make
) -> None:
    """Of a member who is removed, too: the box is ticked at first, and may be cleared."""
    admin = await make.member(business, "admin")
    key = await admin.key("orders:read")
    address = f"{PEOPLE}/{admin.user_id}/remove"
    page = await owner.open(address)
    form = next(form for form in page.forms if form.action == address)
    assert form.fields.pop("revoke_keys") == "true"
    await owner.send(address, form.fields, 200)
    await owner.submit(address, step_up_password=PASSWORD)
    assert admin.email not in await members(business)
    await business.anybody.as_bearer(key["secret"]).get("/v1/orders", status=200)


async def test_a_person_is_signed_out_everywhere(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Without the password, since nothing is lost by it; they sign in again."""
    member = await make.member(business, "cashier")
    theirs = await signed_in(member)
    address = f"{PEOPLE}/{member.user_id}"
    await owner.open(address)
    await owner.submit(f"{address}/end-sessions")
    await theirs.open("/desk", status=303)
    assert "Your session has ended" in (await theirs.open(theirs.onward)).words
    del theirs.cookies["tillhouse"]
    await theirs.open("/desk", status=303)
    assert "has ended" not in (await theirs.open(theirs.onward)).words
    await theirs.sign_in(member.email, PASSWORD)


async def test_the_last_owner_stays(owner: Browser, business: Business) -> None:
    """The refusal is the API's, and the form stands as it was."""
    address = f"{PEOPLE}/{business.user_id}"
    await owner.open(address)
    await owner.submit(f"{address}/role", 200, role="admin")
    page = await owner.submit(f"{address}/role", 409, step_up_password=PASSWORD)
    assert page.alerts == ["A business needs an owner: make another member an owner first."]
    await owner.open(f"{address}/remove")
    page = await owner.submit(f"{address}/remove", 409)
    assert "make another member an owner first" in page.alerts[0]
    assert (await members(business))[business.email]["role"] == "owner"


async def test_an_admin_changes_no_owner(
    business: Business, make: Make, signed_in: SignsIn
) -> None:
    """There is no form for it, and one that is sent anyway is refused."""
    admin = await signed_in(await make.member(business, "admin"))
    address = f"{PEOPLE}/{business.user_id}"
    page = await admin.open(address)
    assert "Only an owner changes or removes an owner." in page.words
    assert not [form for form in page.forms if form.action.startswith(PEOPLE)]
    fields = page.forms[0].fields | {"role": "cashier"}
    await admin.send(f"{address}/end-sessions", fields, 403)
    page = await admin.open(INVITE)
    options = [found["value"] for tag, found in page.elements if tag == "option"]
    assert "owner" not in options
    assert "admin" in options


@pytest.mark.parametrize("role", get_args(Role))
async def test_people_are_for_those_who_manage_them(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Others have no entry, and every address refuses them."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    assert (PEOPLE in browser.page.links) == (role in MANAGE)
    status = 200 if role in MANAGE else 403
    fields = browser.page.forms[0].fields
    one = f"{PEOPLE}/{person.user_id}"
    for path in (PEOPLE, INVITE, one, f"{one}/remove"):
        await browser.open(path, status=status)
    if role not in MANAGE:
        for path in (INVITE, f"{one}/role", f"{one}/end-sessions", f"{one}/remove"):
            await browser.send(path, fields | {"role": "owner", "email": fresh()}, 403)


async def test_people_of_another_business_are_not_found(owner: Browser, make: Make) -> None:
    """Neither shown nor changed."""
    other = await make.business()
    address = f"{PEOPLE}/{other.user_id}"
    await owner.open(address, status=404)
    await owner.open(f"{address}/remove", status=404)
    await owner.open(PEOPLE)
    fields = owner.page.forms[0].fields | {"role": "cashier", "step_up_password": PASSWORD}
    for end in ("role", "end-sessions", "remove"):
        await owner.send(f"{address}/{end}", fields, 404)
    await other.owner.get("/api/auth/me", status=200)


def test_every_operation_has_its_area() -> None:
    """The table of rights leaves none out."""
    paths = {
        route.path
        for room in ROOMS
        for route in room.routes
        if not isinstance(route.guard, Open) and not route.path.startswith(NO_AREA)
    }
    assert not [path for path in sorted(paths) if area_of(path) is None]


def test_rights_are_those_of_the_guards(make: Make) -> None:
    """Some that the documentation names."""
    found = {one.name: one.by_role for one in rights(make.services.declared.roles)}
    assert {by_role["owner"] for by_role in found.values()} == {"all"}
    assert found["people"]["admin"] == "all"
    assert found["people"]["manager"] == "none"
    assert found["wallet"]["manager"] == "read"
    assert found["customers"]["developer"] == "read"
    assert found["kitchen"]["kitchen"] == "read"
    assert found["orders"]["kitchen"] == "part"
    assert found["finance"]["cashier"] == "none"
    assert found["inbox"]["kitchen"] == "none"


async def test_a_narrow_page_shows_the_role_that_is_asked_for(owner: Browser) -> None:
    """Beside the owner, by the address; a role that there isn't is the usual one."""
    for asked, shown in (("kitchen", "kitchen"), ("owner", "cashier"), ("<b>", "cashier")):
        page = await owner.open(f"{PEOPLE}?role={asked}")
        form = next(form for form in page.forms if form.action == f"{PEOPLE}#rights")
        assert form.fields["role"] == shown
