"""Stores, staff and academic terms."""

import asyncio
from typing import Any

import pytest

from tests.api import Api
from tests.make import Business, Make

STORES = "/v1/stores"
TERMS = "/v1/academic-terms"
STAFF = "/v1/staff"


@pytest.fixture
async def business(make: Make) -> Business:
    """A business whose national numbers are Nigerian."""
    return await make.business(country="NG", currency="NGN", time_zone="Africa/Lagos")


@pytest.fixture
async def client(business: Business) -> Api:
    """A key of the test book."""
    return await business.client("stores:read", "stores:write", "tables:write")


async def test_a_store_has_what_it_was_given(client: Api) -> None:
    """And for the rest what most stores have."""
    plain = (await client.post(STORES, {"name": "Main shop"}, status=201)).data
    assert plain == {
        "id": plain["id"],
        "name": "Main shop",
        "address": None,
        "phone": None,
        "timeZone": None,
        "dayCutoff": "00:00",
        "preparationMinutes": 20,
        "isActive": True,
        "createdAt": plain["createdAt"],
        "updatedAt": plain["createdAt"],
    }
    body: dict[str, Any] = {
        "name": "Bar",
        "address": " 12 Marina Road ",
        "phone": "0803 000 0000",
        "time_zone": "Africa/Accra",
        "day_cutoff": "04:30",
        "preparation_minutes": 0,
        "is_active": False,
    }
    bar = (await client.post(STORES, body, status=201)).data
    assert bar["address"] == "12 Marina Road"
    assert bar["phone"] == "+2348030000000"
    assert (bar["timeZone"], bar["dayCutoff"]) == ("Africa/Accra", "04:30")
    assert (bar["preparationMinutes"], bar["isActive"]) == (0, False)
    listed = await client.get(STORES, status=200)
    assert listed.data == [bar, plain]
    assert listed.json["meta"]["total"] == 2


async def test_every_wrong_field_of_a_store_is_named(client: Api) -> None:
    """Together with a number that only the country shows to be none."""
    body: dict[str, Any] = {
        "name": "x",
        "phone": "0803",
        "time_zone": "Lagos",
        "day_cutoff": "24:00",
        "preparation_minutes": 1441,
        "is_active": 1,
    }
    answer = await client.post(STORES, body, status=422)
    assert answer.wrong_fields == body.keys()
    store = (await client.post(STORES, {"name": "Main shop"}, status=201)).data
    answer = await client.patch(f"{STORES}/{store['id']}", body, status=422)
    assert answer.wrong_fields == body.keys()


async def test_a_store_changes_as_asked(client: Api) -> None:
    """Null clears, what is absent stays, the last minute of the day is one."""
    body = {"name": "Bar", "address": "Here", "time_zone": "Africa/Accra", "phone": "08030000000"}
    store = (await client.post(STORES, body, status=201)).data
    path = f"{STORES}/{store['id']}"
    assert (await client.patch(path, {"phone": "+234 803 000 0000"}, status=200)).data == store
    patch = {"address": None, "time_zone": None, "phone": None, "day_cutoff": "23:59"}
    changed = (await client.patch(path, patch, status=200)).data
    assert changed == {
        **store,
        "address": None,
        "timeZone": None,
        "phone": None,
        "dayCutoff": "23:59",
        "updatedAt": changed["updatedAt"],
    }
    assert (await client.get(path, status=200)).data == changed


async def test_store_names_are_taken_once(client: Api) -> None:
    """Of many at once one is made; a deleted store's name is free again."""
    answers = await asyncio.gather(
        *(client.post(STORES, {"name": name}) for name in ["Bar", "BAR"] * 4)
    )
    assert sorted(answer.status for answer in answers) == [201] + [409] * 7
    store = next(answer.data for answer in answers if answer.status == 201)
    other = (await client.post(STORES, {"name": "Other"}, status=201)).data
    answer = await client.patch(f"{STORES}/{other['id']}", {"name": "bar"}, status=409)
    assert "store of this name" in answer.json["message"]
    await client.delete(f"{STORES}/{store['id']}", status=200)
    await client.patch(f"{STORES}/{other['id']}", {"name": "bar"}, status=200)


async def test_a_store_with_tables_is_not_deleted(client: Api) -> None:
    """It goes when its last table has gone; nothing is set up in it afterwards."""
    store = (await client.post(STORES, {"name": "Bar"}, status=201)).data
    body = {"label": "T1", "store_id": store["id"]}
    table = (await client.post("/v1/tables", body, status=201)).data
    await client.delete(f"{STORES}/{store['id']}", status=400)
    await client.delete(f"/v1/tables/{table['id']}", status=200)
    await client.delete(f"{STORES}/{store['id']}", status=200)
    answer = await client.post("/v1/tables", body, status=422)
    assert answer.wrong_fields == {"store_id"}


async def test_tables_elsewhere_keep_no_store(client: Api) -> None:
    """Neither those of another store nor those that stand in none."""
    store = (await client.post(STORES, {"name": "Bar"}, status=201)).data
    other = (await client.post(STORES, {"name": "Terrace"}, status=201)).data
    await client.post("/v1/tables", {"label": "T1"}, status=201)
    await client.post("/v1/tables", {"label": "T1", "store_id": other["id"]}, status=201)
    await client.delete(f"{STORES}/{store['id']}", status=200)
    await client.delete(f"{STORES}/{other['id']}", status=400)


async def test_a_store_goes_or_its_table_comes(client: Api) -> None:
    """At once, never both."""
    for _ in range(5):
        store = (await client.post(STORES, {"name": "Bar"}, status=201)).data
        body = {"label": "T1", "store_id": store["id"]}
        gone, made = await asyncio.gather(
            client.delete(f"{STORES}/{store['id']}"), client.post("/v1/tables", body)
        )
        assert (gone.status, made.status) in {(200, 422), (400, 201)}
        if made.status == 201:
            await client.delete(f"/v1/tables/{made.data['id']}", status=200)
            await client.delete(f"{STORES}/{store['id']}", status=200)


async def test_staff_are_the_members(business: Business, client: Api, make: Make) -> None:
    """Name, address and role; nobody of another business."""
    stranger = await make.business()
    [owner] = (await client.get(STAFF, status=200)).data
    assert owner == {
        "id": business.user_id,
        "name": "Ada Owner",
        "email": business.email,
        "role": "owner",
    }
    assert (await client.get(f"{STAFF}/{business.user_id}", status=200)).data == owner
    await client.get(f"{STAFF}/{stranger.user_id}", status=404)
    live = await business.client("stores:read", environment="live")
    assert (await live.get(STAFF, status=200)).data == [owner]


async def test_staff_are_listed_as_they_joined(business: Business, client: Api, make: Make) -> None:
    """The owner first, who was there before anybody else, on whichever page."""
    joined = [business.user_id]
    joined += [(await make.member(business, role)).user_id for role in ("kitchen", "cashier")]
    listed = await client.get(STAFF, status=200)
    assert [one["id"] for one in listed.data] == joined
    pages = [(await client.get(f"{STAFF}?limit=1&page={n}", status=200)).data for n in (1, 2, 3)]
    assert [one["id"] for (one,) in pages] == joined


async def test_a_term_lasts_from_a_day_to_a_later_one(client: Api) -> None:
    """Also when only one of them changes; the one that was sent is named."""
    body = {"name": "First term", "starts_on": "2026-09-14", "ends_on": "2026-12-18"}
    term = (await client.post(TERMS, body, status=201)).data
    assert (term["startsOn"], term["endsOn"]) == ("2026-09-14", "2026-12-18")
    path = f"{TERMS}/{term['id']}"
    for patch, field in (
        ({"ends_on": "2026-09-13"}, "ends_on"),
        ({"starts_on": "2026-12-19"}, "starts_on"),
        ({"starts_on": "2027-01-02", "ends_on": "2027-01-01"}, "ends_on"),
        ({"starts_on": "2026-02-30"}, "starts_on"),
    ):
        answer = await client.patch(path, patch, status=422)
        assert answer.wrong_fields == {field}, patch
    answer = await client.post(TERMS, {**body, "name": "", "ends_on": "2026-01-01"}, status=422)
    assert answer.wrong_fields == {"name", "ends_on"}
    patch = {"starts_on": None, "ends_on": "2026-09-01"}
    changed = (await client.patch(path, patch, status=200)).data
    assert (changed["startsOn"], changed["endsOn"]) == (None, "2026-09-01")


async def test_terms_are_listed_by_their_beginning(client: Api) -> None:
    """The last first, those without one at the end; a name is taken once, and free again."""
    for name, day in (("A1", None), ("A2", "2026-01-05"), ("A3", "2026-09-14")):
        await client.post(TERMS, {"name": name, "starts_on": day}, status=201)
    listed = (await client.get(TERMS, status=200)).data
    assert [term["name"] for term in listed] == ["A3", "A2", "A1"]
    await client.post(TERMS, {"name": "a3"}, status=409)
    await client.delete(f"{TERMS}/{listed[0]['id']}", status=200)
    await client.post(TERMS, {"name": "a3"}, status=201)
    assert (await client.get(TERMS, status=200)).json["meta"]["total"] == 3
