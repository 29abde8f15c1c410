"""Stores, tables, tags and terms in the browser: made, changed, deleted."""

import asyncio
from typing import Any, get_args

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.goods import copies, form_of, read, wrong
from tests.desk.world import TEST
from tests.make import Business, Make
from tillhouse.access.scopes import Role

SETTINGS = "/desk/settings"
# Each by its section: its API, the fields of a good form, of another one, and of a bad one.
THINGS: dict[str, tuple[str, dict[str, str], dict[str, str], dict[str, str]]] = {
    "stores": (
        "/v1/stores",
        {"name": "Yaba", "address": "14 Herbert Macaulay Way", "phone": "+2348031234567",
         "time_zone": "Africa/Lagos", "day_cutoff": "06:00", "preparation_minutes": "25"},
        {"name": "Yaba 2", "address": "", "phone": "", "time_zone": "", "day_cutoff": "04:30",
         "preparation_minutes": "0"},
        {"name": "", "phone": "12", "time_zone": "Yaba", "day_cutoff": "6",
         "preparation_minutes": "some"},
    ),
    "tables": (
        "/v1/tables",
        {"label": "T1", "area": "Terrace", "seats": "4"},
        {"label": "T2", "area": "", "seats": ""},
        {"label": "", "area": "x" * 200, "seats": "0"},
    ),
    "tags": ("/v1/tags", {"name": "Catering"}, {"name": "Catering 2"}, {"name": "!"}),
    "terms": (
        "/v1/academic-terms",
        {"name": "First term", "starts_on": "2026-09-07", "ends_on": "2026-12-11"},
        {"name": "Second term", "starts_on": "", "ends_on": "2027-04-02"},
        {"name": "", "starts_on": "soon"},
    ),
}  # fmt: skip
KINDS = tuple(THINGS)


def camel(name: str) -> str:
    """The name of a field in answers."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def told(thing: dict[str, Any], fields: dict[str, str]) -> dict[str, str]:
    """These fields of a thing, as a form writes them."""
    return {name: str(thing[camel(name)] or "") if thing[camel(name)] != 0 else "0"
            for name in fields}  # fmt: skip


async def made(browser: Browser, kind: str) -> None:
    """Make one by its form."""
    address = f"{SETTINGS}/{kind}"
    assert f"{address}/new" in (await browser.open(address)).links
    await browser.open(f"{address}/new")
    await browser.submit(f"{address}/new", **THINGS[kind][1])
    assert browser.onward == address


@pytest.mark.parametrize("kind", KINDS)
async def test_one_is_made_changed_and_deleted(
    kind: str, owner: Browser, business: Business
) -> None:
    """An emptied field says nothing any more."""
    api, first, second, _ = THINGS[kind]
    await made(owner, kind)
    [thing] = await read(business, api)
    assert told(thing, first) == first
    address = f"{SETTINGS}/{kind}/{thing['id']}"
    page = await owner.open(f"{SETTINGS}/{kind}")
    assert address in page.links
    page = await owner.open(address)
    assert form_of(page, address).fields | first == form_of(page, address).fields
    form_of(page, address).fields.pop("is_active", None)
    await owner.submit(address, **second)
    [thing] = await read(business, api)
    assert told(thing, second) == second
    assert not thing.get("isActive")
    await owner.open(address)
    await owner.submit(f"{address}/delete")
    assert await read(business, api) == []
    await owner.open(address, status=404)


@pytest.mark.parametrize("kind", KINDS)
async def test_wrong_fields_are_named_and_nothing_typed_is_lost(
    kind: str, owner: Browser, business: Business
) -> None:
    """In the form of a new one, and of one that is there."""
    api, first, _, bad = THINGS[kind]
    await made(owner, kind)
    [thing] = await read(business, api)
    for end in ("new", thing["id"]):
        address = f"{SETTINGS}/{kind}/{end}"
        await owner.open(address)
        page = await owner.submit(address, 422, **bad)
        assert {*wrong(page)} == {*bad}
        fields = form_of(page, address).fields
        assert {name: fields[name] for name in bad} == bad
    [thing] = await read(business, api)
    assert told(thing, first) == first


@pytest.mark.parametrize("kind", KINDS)
async def test_a_form_that_is_sent_twice_makes_one(
    kind: str, owner: Browser, business: Business
) -> None:
    """At the same moment."""
    address = f"{SETTINGS}/{kind}/new"
    await owner.open(address)
    fields = form_of(owner.page, address).fields | THINGS[kind][1]
    await asyncio.gather(*(one.send(address, fields) for one in copies(owner)))
    assert len(await read(business, THINGS[kind][0])) == 1


async def test_a_name_that_is_taken_is_refused_with_the_form(owner: Browser) -> None:
    """With what was typed."""
    await made(owner, "terms")
    await owner.open(f"{SETTINGS}/terms/new")
    page = await owner.submit(f"{SETTINGS}/terms/new", 409, name="First term")
    assert "already" in page.alerts[0]
    assert form_of(page, f"{SETTINGS}/terms/new").fields["name"] == "First term"


async def test_a_table_stands_in_a_store_that_then_stays(
    owner: Browser, business: Business
) -> None:
    """A store with tables isn't deleted, and its page says why."""
    store = await business.store(name="Yaba")
    await owner.open(f"{SETTINGS}/tables/new")
    await owner.submit(f"{SETTINGS}/tables/new", label="T1", store_id=store["id"])
    [table] = await read(business, "/v1/tables")
    assert table["storeId"] == store["id"]
    assert "Yaba" in (await owner.open(f"{SETTINGS}/tables")).words
    address = f"{SETTINGS}/stores/{store['id']}"
    await owner.open(address)
    page = await owner.submit(f"{address}/delete", 400)
    assert "has tables" in page.alerts[0]
    # The form shows the store as it is.
    assert form_of(page, address).fields["name"] == "Yaba"


async def test_a_long_list_has_pages(owner: Browser, business: Business) -> None:
    """Of twenty-five each."""
    for number in range(26):
        await business.table(label=f"T{number:02}")
    page = await owner.open(f"{SETTINGS}/tables")
    assert "1 to 25 of" in page.words
    page = await owner.open(f"{SETTINGS}/tables?page=2")
    assert "26 to 26 of" in page.words


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Its forms are there or not, and what is sent all the same is refused."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    allowed = {
        "stores": ({"owner", "admin", "manager", "developer", "cashier", "front_desk"},
                   {"owner", "admin", "manager"}),
        "tables": ({"owner", "admin", "manager", "developer", "cashier", "front_desk"},
                   {"owner", "admin", "manager", "cashier", "front_desk"}),
        "tags": ({"owner", "admin", "manager", "developer", "cashier", "front_desk"},
                 {"owner", "admin", "manager", "cashier", "front_desk"}),
    }  # fmt: skip
    for kind, (reads, writes) in allowed.items():
        address = f"{SETTINGS}/{kind}"
        thing = await business.made(*_first(kind))
        page = await browser.open(address, status=200 if role in reads else 403)
        assert (f"{address}/new" in page.links) == (role in writes)
        one = f"{address}/{thing['id']}"
        assert (one in page.links) == (role in writes)
        await browser.open(f"{address}/new", status=200 if role in writes else 403)
        page = await browser.open(one, status=200 if role in writes else 403)
        fields = page.forms[0].fields
        status = 303 if role in writes else 403
        await browser.send(one, {**fields, **THINGS[kind][2]}, status=status)
        await browser.send(f"{one}/delete", fields, status=status)
        left = (await business.owner.get(f"{THINGS[kind][0]}/{thing['id']}", headers=TEST)).status
        assert left == (404 if role in writes else 200)


def _first(kind: str) -> tuple[str, dict[str, Any]]:
    api, fields, _, _ = THINGS[kind]
    return api, {name: int(text) if text.isdigit() else text for name, text in fields.items()}


@pytest.mark.parametrize("kind", KINDS)
async def test_those_of_another_business_are_not_there(
    kind: str, owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Nor those of the other book."""
    await made(owner, kind)
    [thing] = await read(business, THINGS[kind][0])
    address = f"{SETTINGS}/{kind}/{thing['id']}"
    stranger = await signed_in(await make.business())
    await stranger.open(address, status=404)
    await stranger.open(f"{SETTINGS}/{kind}")
    fields = stranger.page.forms[0].fields
    await stranger.send(address, fields | THINGS[kind][2], 404)
    await stranger.send(f"{address}/delete", fields, 404)
    await owner.open("/desk")
    await owner.submit("/desk/mode", mode="live")
    await owner.open(address, status=404)
    assert told((await read(business, THINGS[kind][0]))[0], THINGS[kind][1])
