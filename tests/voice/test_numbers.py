"""Voice numbers: there is one to begin with, more are added, and secrets stay where they are."""

from uuid import UUID

import pytest

from tests.make import Business
from tests.voice.desk import NUMBERS, SCOPES, SETTINGS, Desk
from tillhouse.access.process import Services


async def test_a_test_book_has_a_number_and_an_agent(desk: Desk) -> None:
    """A first call needs nothing but their ids; the live book has none."""
    [number] = (await desk.api.get(NUMBERS, status=200)).data
    assert number == {
        "id": desk.number_id,
        "phoneNumber": "+15550110000",
        "label": "Sandbox",
        "provider": "simulator",
        "country": number["country"],
        "capabilities": {"outbound": True, "inbound": False},
        "status": "active",
        "isDefault": True,
        "defaultAgentId": desk.agent_id,
        "storeId": None,
        "maxConcurrentCalls": 10,
        "activeCalls": 0,
        "callsPerSecond": 10,
        "callingHours": None,
        "allowedPrefixes": [],
        "environment": "test",
        "createdAt": number["createdAt"],
        "updatedAt": number["updatedAt"],
    }
    live = await desk.business.client(*SCOPES, environment="live")
    assert (await live.get(NUMBERS, status=200)).data == []


async def test_a_number_is_changed_and_removed(desk: Desk) -> None:
    """A patch changes the fields that it names; a removed one reads as missing."""
    made = await desk.number(max_concurrent_calls=3, is_default=True)
    path = f"{NUMBERS}/{made['id']}"
    hours = {"from": "09:00", "until": "17:30"}
    body = {"label": "Day line", "calling_hours": hours, "status": "paused"}
    changed = (await desk.api.patch(path, body, status=200)).data
    assert (changed["label"], changed["callingHours"], changed["status"]) == (
        "Day line", hours, "paused",
    )  # fmt: skip
    assert (changed["maxConcurrentCalls"], changed["isDefault"]) == (3, True)
    listed = (await desk.api.get(NUMBERS, status=200)).data
    assert [(one["id"], one["isDefault"]) for one in listed] == [
        (made["id"], True), (desk.number_id, False),
    ]  # fmt: skip
    assert (await desk.api.delete(path, status=200)).data["id"] == made["id"]
    await desk.api.get(path, status=404)
    await desk.api.patch(path, {"label": "Gone"}, status=404)


async def test_a_number_is_added_once(desk: Desk) -> None:
    """Its second time is a conflict; once it is removed it may come again."""
    made = await desk.number()
    body = {"phone_number": made["phoneNumber"], "label": "Same"}
    await desk.api.post(NUMBERS, body, status=409)
    await desk.api.delete(f"{NUMBERS}/{made['id']}", status=200)
    await desk.api.post(NUMBERS, body, status=201)


async def test_a_number_with_calls_stays(desk: Desk) -> None:
    """Calls that wait would have nothing to come from."""
    made = await desk.number()
    call = await desk.place(business_voice_number_id=made["id"])
    await desk.api.delete(f"{NUMBERS}/{made['id']}", status=400)
    await desk.api.post(f"/v1/voice/calls/{call['id']}/cancel", status=200)
    await desk.api.delete(f"{NUMBERS}/{made['id']}", status=200)


async def test_settings_are_sealed(business: Business, services: Services) -> None:
    """No answer shows them, and the row holds no word of them."""
    live = await business.client(*SCOPES, environment="live")
    body = {
        "phone_number": "+2348030000000",
        "label": "Trunk",
        "provider": "sip",
        "settings": SETTINGS,
    }
    answer = await live.post(NUMBERS, body, status=201)
    assert b"pa55word" not in answer.body
    async with services.pool.reading() as db:
        sealed = await db.fetchval(
            "SELECT settings_sealed FROM voice_numbers WHERE id = $1", UUID(answer.data["id"])
        )
    assert sealed
    assert b"pa55word" not in sealed


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"provider": "sip"}, {"provider"}),
        ({"phone_number": "+1"}, {"phone_number"}),
        ({"phone_number": 7}, {"phone_number"}),
        ({"max_concurrent_calls": 0}, {"max_concurrent_calls"}),
        ({"calls_per_second": "1.5"}, {"calls_per_second"}),
        ({"calling_hours": {"from": "21:00", "until": "08:00"}}, {"calling_hours.until"}),
        ({"calling_hours": {"from": "8"}}, {"calling_hours.from"}),
        ({"default_agent_id": "00000000-0000-7000-8000-000000000000"}, {"default_agent_id"}),
        ({"store_id": "00000000-0000-7000-8000-000000000000"}, {"store_id"}),
        ({"label": "x", "is_default": 1}, {"label", "is_default"}),
        ({"settings": {"Password": "x"}}, {"settings"}),
    ],
)
async def test_wrong_fields_are_named(
    desk: Desk, fields: dict[str, object], wrong: set[str]
) -> None:
    """Each of them, and no other."""
    body = {"phone_number": "+15550104321", "label": "Line", **fields}
    answer = await desk.api.post(NUMBERS, body, status=422)
    assert {field.partition("[")[0] for field in answer.wrong_fields} == wrong


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({}, "host"),
        ({"host": "10.0.0.1"}, "host"),
        ({"host": "169.254.169.254"}, "host"),
        ({"host": "::ffff:127.0.0.1"}, "host"),
        ({"host": "sip.example.com:5070"}, "host"),
        ({"host": "ada@sip.example.com"}, "host"),
        ({"host": "sip.example.com", "port": "0"}, "port"),
        ({"host": "sip.example.com", "username": "ada"}, "password"),
        ({"host": "sip.example.com", "media_ports": "20000-10000"}, "media_ports"),
        ({"host": "sip.example.com", "user": "ada"}, "user"),
    ],
)
async def test_settings_that_make_no_call_are_refused(
    business: Business, settings: dict[str, str], wrong: str
) -> None:
    """When a number is added and when it is changed, not when somebody is to be called."""
    live = await business.client(*SCOPES, environment="live")
    body = {"phone_number": "+2348030000000", "label": "Trunk", "provider": "sip"}
    answer = await live.post(NUMBERS, {**body, "settings": settings}, status=422)
    assert set(answer.wrong_fields) == {f"settings.{wrong}"}
    made = await live.post(NUMBERS, {**body, "settings": SETTINGS}, status=201)
    path = f"{NUMBERS}/{made.data['id']}"
    answer = await live.patch(path, {"settings": settings}, status=422)
    assert set(answer.wrong_fields) == {f"settings.{wrong}"}
    await live.patch(path, {"settings": SETTINGS, "label": "Other"}, status=200)
