"""Service requests: for whoever is in the room, told once, and over once."""

import asyncio
import json
from typing import Any

import pytest

from tests.hotel.house import HOTEL, House
from tests.make import Make

REQUESTS = f"{HOTEL}/service-requests"
NOBODY = "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"


async def _ask(house: House, **fields: Any) -> dict[str, Any]:
    body = {"category": "housekeeping", **fields}
    return (await house.api.post(REQUESTS, body, status=201)).data


async def _told(house: House) -> list[dict[str, Any]]:
    async with house.api.app.services.pool.reading() as db:
        rows = await db.fetch(
            """
            SELECT e.payload FROM webhook_events e JOIN books b ON b.id = e.book_id
            WHERE b.business_id = $1::text::uuid AND e.type = 'hotel.service_request.created'
            ORDER BY e.id
            """,
            house.business.id,
        )
    return [json.loads(row["payload"])["data"] for row in rows]


async def test_a_room_means_the_guest_who_is_there(house: House) -> None:
    """The stay and its guest are taken, and the event says just whose wish it is."""
    stay = await house.book(check_in=True)
    wanted = {"room_id": stay["roomId"], "description": "Two towels.", "source": "message"}
    made = await _ask(house, **wanted)
    assert made == {
        "id": made["id"],
        "category": "housekeeping",
        "status": "open",
        "description": "Two towels.",
        "source": "message",
        "guestId": house.guest_id,
        "guestName": "Chinedu Eze",
        "reservationId": stay["id"],
        "roomId": stay["roomId"],
        "roomNumber": "101",
        "assigneeId": None,
        "assigneeName": None,
        "startedAt": None,
        "endedAt": None,
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
    }
    assert (await house.api.get(f"{REQUESTS}/{made['id']}", status=200)).data == made
    told = ("id", "category", "status", "guestId", "reservationId", "roomId", "source")
    assert await _told(house) == [{name: made[name] for name in told}]


async def test_a_request_names_a_stay_a_guest_or_an_empty_room(house: House) -> None:
    """A stay brings its room and its guest before they are there; a room alone may be empty."""
    stay = await house.book(1, 3)
    of_stay = await _ask(house, reservation_id=stay["id"], category="transport")
    assert (of_stay["guestId"], of_stay["roomId"]) == (house.guest_id, stay["roomId"])
    of_room = await _ask(house, room_id=stay["roomId"], category="maintenance")
    assert (of_room["guestId"], of_room["reservationId"]) == (None, None)
    of_guest = await _ask(house, guest_id=house.guest_id, category="laundry")
    assert (of_guest["guestName"], of_guest["roomId"]) == ("Chinedu Eze", None)


async def test_a_key_asks_once(house: House) -> None:
    """A repetition gets the first answer, and nobody is told twice."""
    body = {"category": "food", "guest_id": house.guest_id}
    headers = {"Idempotency-Key": "supper"}
    first, again = [
        await house.api.post(REQUESTS, body, headers=headers, status=201) for _ in range(2)
    ]
    assert first.data == again.data
    assert len(await _told(house)) == 1


@pytest.mark.parametrize(
    ("fields", "wrong", "says"),
    [
        ({}, "reservation_id", "one of the three"),
        ({"reservation_id": NOBODY}, "reservation_id", "is no reservation"),
        ({"room_id": NOBODY}, "room_id", "is no room"),
        ({"guest_id": NOBODY}, "guest_id", "is no guest"),
        ({"category": "magic"}, "category", "housekeeping"),
        ({"source": "dream"}, "source", "guest"),
        ({"status": "done"}, "status", ""),
        ({"description": "x" * 1001}, "description", "1000"),
    ],
)
async def test_a_bad_request_is_told_what_to_do(
    house: House, fields: dict[str, Any], wrong: str, says: str
) -> None:
    """By the name of the field; nothing is noted and nobody is told."""
    body = {"category": "other", **fields}
    answer = await house.api.post(REQUESTS, body, status=422)
    assert wrong in answer.wrong_fields
    [said] = [one["message"] for one in answer.json["details"] if one["field"] == wrong]
    assert says in said
    assert await _told(house) == []
    assert (await house.api.get(REQUESTS, status=200)).data == []


async def test_room_and_guest_are_those_of_the_stay(house: House) -> None:
    """Named beside it, others are wrong, as are those of another business."""
    stay, other = await house.book(check_in=True), await house.book(1, 3)
    bola = (await house.made("guests", name="Bola Ahmed"))["id"]
    for named, wrong in (
        ({"reservation_id": stay["id"], "room_id": other["roomId"]}, "room_id"),
        ({"reservation_id": stay["id"], "guest_id": bola}, "guest_id"),
        ({"room_id": stay["roomId"], "guest_id": bola}, "guest_id"),
    ):
        answer = await house.api.post(REQUESTS, {"category": "food", **named}, status=422)
        assert answer.wrong_fields == {wrong}
        assert f"leave {wrong} out" in answer.json["details"][0]["message"]
    named = {"reservation_id": stay["id"], "room_id": stay["roomId"], "guest_id": house.guest_id}
    assert (await _ask(house, **named))["reservationId"] == stay["id"]


async def test_strangers_see_and_name_nothing(house: House, make: Make) -> None:
    """Another business's stay, room, guest and request are unknown."""
    stay = await house.book(check_in=True)
    made = await _ask(house, reservation_id=stay["id"])
    stranger = await House.open(await make.business())
    for name, value in (
        ("reservation_id", stay["id"]),
        ("room_id", stay["roomId"]),
        ("guest_id", house.guest_id),
    ):
        body = {"category": "food", name: value}
        answer = await stranger.api.post(REQUESTS, body, status=422)
        assert answer.wrong_fields == {name}
    await stranger.api.get(f"{REQUESTS}/{made['id']}", status=404)
    await stranger.api.patch(f"{REQUESTS}/{made['id']}", {"status": "done"}, status=404)
    assert (await stranger.api.get(REQUESTS, status=200)).data == []


async def test_a_stay_that_is_over_asks_for_nothing(house: House) -> None:
    """The refusal says what to name instead."""
    stay = await house.book(1, 3)
    await house.act(stay, "cancel")
    body = {"category": "food", "reservation_id": stay["id"]}
    refused = await house.api.post(REQUESTS, body, status=400)
    assert refused.error == "request_failed"
    assert "is cancelled: leave reservation_id out" in refused.json["message"]


async def test_somebody_sees_to_it(house: House) -> None:
    """From open to in progress to done, with a member, and each time when."""
    made = await _ask(house, guest_id=house.guest_id)
    path = f"{REQUESTS}/{made['id']}"
    change = {"assignee_id": house.business.user_id, "description": "Now three."}
    given = (await house.api.patch(path, change, status=200)).data
    assert given["assigneeId"] == house.business.user_id
    assert given["assigneeName"]
    assert (given["status"], given["description"]) == ("open", "Now three.")
    begun = (await house.api.patch(path, {"status": "in_progress"}, status=200)).data
    assert begun["startedAt"] is not None
    assert begun["endedAt"] is None
    cleared = (await house.api.patch(path, {"assignee_id": None}, status=200)).data
    assert (cleared["assigneeName"], cleared["startedAt"]) == (None, begun["startedAt"])
    done = (await house.api.patch(path, {"status": "done"}, status=200)).data
    assert (done["status"], done["startedAt"]) == ("done", begun["startedAt"])
    assert done["endedAt"] is not None
    assert (await house.api.patch(path, {"status": "done"}, status=200)).data == done
    assert len(await _told(house)) == 1


async def test_nothing_goes_back(house: House) -> None:
    """Neither a request that was begun, nor one that is over, whatever is to change."""
    path = f"{REQUESTS}/{(await _ask(house, guest_id=house.guest_id))['id']}"
    await house.api.patch(path, {"status": "in_progress"}, status=200)
    refused = await house.api.patch(path, {"status": "open"}, status=400)
    assert "it can become done or cancelled only" in refused.json["message"]
    await house.api.patch(path, {"status": "cancelled"}, status=200)
    for change in ({"status": "in_progress"}, {"description": "Else"}):
        refused = await house.api.patch(path, change, status=400)
        assert refused.error == "request_failed"
        assert "is cancelled: nothing changes it, make another" in refused.json["message"]


async def test_a_bad_change_is_told_what_to_do(house: House) -> None:
    """An assignee is a member of the business, and a status one of the four."""
    path = f"{REQUESTS}/{(await _ask(house, guest_id=house.guest_id))['id']}"
    for change in ({"assignee_id": NOBODY}, {"status": "lost"}, {"category": "food"}):
        answer = await house.api.patch(path, change, status=422)
        assert answer.wrong_fields == set(change)
    answer = await house.api.patch(path, {"assignee_id": NOBODY}, status=422)
    assert "see GET /v1/staff" in answer.json["details"][0]["message"]


async def test_of_two_changes_at_once_one_holds(house: House) -> None:
    """Of ten who end a request in two ways at once, those of one way agree; the rest read why."""
    path = f"{REQUESTS}/{(await _ask(house, guest_id=house.guest_id))['id']}"
    ways = ["done", "cancelled"] * 5
    answers = await asyncio.gather(*(house.api.patch(path, {"status": way}) for way in ways))
    assert sorted(answer.status for answer in answers) == [200] * 5 + [400] * 5
    after = (await house.api.get(path, status=200)).data
    assert [answer.data for answer in answers if answer.status == 200] == [after] * 5


async def test_requests_are_found(house: House) -> None:
    """By status, category, room and stay, the newest first, page by page."""
    stay = await house.book(check_in=True)
    first = await _ask(house, room_id=stay["roomId"])
    other = await _ask(house, room_id=await house.room(), category="maintenance")
    last = await _ask(house, guest_id=house.guest_id, category="food")
    mine = {"assignee_id": house.business.user_id}
    await house.api.patch(f"{REQUESTS}/{other['id']}", mine, status=200)
    await house.api.patch(f"{REQUESTS}/{last['id']}", {"status": "done"}, status=200)
    for query, wanted in (
        ("", [last, other, first]),
        ("?status=open", [other, first]),
        ("?category=food", [last]),
        (f"?room_id={stay['roomId']}", [first]),
        (f"?reservation_id={stay['id']}", [first]),
        (f"?reservation_id={stay['id']}&status=done", []),
        (f"?assignee_id={house.business.user_id}", [other]),
        (f"?assignee_id={NOBODY}", []),
        ("?page=2&limit=2", [first]),
    ):
        found = (await house.api.get(REQUESTS + query, status=200)).data
        assert [one["id"] for one in found] == [one["id"] for one in wanted], query
    answer = await house.api.get(f"{REQUESTS}?status=lost", status=422)
    assert answer.wrong_fields == {"status"}
