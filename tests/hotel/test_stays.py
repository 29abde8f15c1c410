"""Stays: a room is promised once for a night, and somebody moves in once."""

import asyncio
from typing import Any

import pytest

from tests.hotel.house import HOTEL, STAYS, House, dated_body, day
from tests.make import Business, Make


async def test_a_stay_is_shown_as_it_was_booked(house: House) -> None:
    """With every night at its price, the taxes, and a room at once; the event says the same."""
    plan = await house.made(
        "rate-plans", room_type_id=house.room_type_id, name="Breakfast", price=120,
        taxes=[{"name": "VAT", "rate": 10}, {"name": "City", "rate": 20, "is_inclusive": True}],
    )  # fmt: skip
    body = house.stay(1, 3, rate_plan_id=plan["id"], adults=2, deposit_amount=50, notes="Late")
    stay = (await house.api.post(STAYS, body, status=201)).data
    assert stay == {
        "id": stay["id"],
        "shortCode": stay["shortCode"],
        "customerId": stay["customerId"],
        "status": "booked",
        "groupId": None,
        "guestId": house.guest_id,
        "guestName": "Chinedu Eze",
        "roomTypeId": house.room_type_id,
        "roomTypeName": "Standard",
        "roomId": stay["roomId"],
        "roomNumber": "101",
        "isRoomChosen": False,
        "ratePlanId": plan["id"],
        "adults": 2,
        "children": 0,
        "checkInDate": day(1),
        "checkOutDate": day(3),
        "nights": [{"date": day(1), "price": 120}, {"date": day(2), "price": 120}],
        "taxes": [
            {"name": "VAT", "rate": 10, "isInclusive": False},
            {"name": "City", "rate": 20, "isInclusive": True},
        ],
        # The tax on top is of the price without the one inside: 10 of 100.
        "totalAmount": 260,
        "depositAmount": 50,
        "currency": stay["currency"],
        "source": "front_desk",
        "notes": "Late",
        "confirmedAt": None,
        "checkedInAt": None,
        "checkedOutAt": None,
        "cancelledAt": None,
        "noShowAt": None,
        "cancelReason": None,
        "createdAt": stay["createdAt"],
        "updatedAt": stay["createdAt"],
    }
    assert await house.read(stay) == stay
    assert await house.told() == ["hotel.reservation.created"]


async def test_the_last_room_is_booked_once(house: House) -> None:
    """Of fifty at once who want one of two rooms, two get one each; the others read why."""
    bodies = (house.stay(5, 8) for _ in range(50))
    answers = await asyncio.gather(*(house.api.post(STAYS, body) for body in bodies))
    made = [answer.data for answer in answers if answer.status == 201]
    assert sorted(stay["roomNumber"] for stay in made) == ["101", "102"]
    refused = [answer for answer in answers if answer.status == 400]
    assert len(refused) == 48
    assert "No room of this type is free" in refused[0].json["message"]
    assert len(await house.told("reservation.created")) == 2


async def test_a_named_room_is_booked_once(house: House) -> None:
    """The stays may touch, not overlap."""
    first = await house.book(5, 8)
    body = house.stay(7, 9, room_id=first["roomId"])
    refused = await house.api.post(STAYS, body, status=400)
    assert "Room 101 is not free" in refused.json["message"]
    for begins, ends in ((8, 9), (4, 5)):
        again = await house.book(begins, ends, room_id=first["roomId"])
        assert again["roomNumber"] == "101"


async def test_the_room_that_leaves_the_smallest_gap_is_given(house: House) -> None:
    """A stay goes where another ends, so that long stays still find a room."""
    await house.book(1, 3)
    other = await house.book(1, 5)
    assert other["roomNumber"] == "102"
    assert (await house.book(5, 6))["roomNumber"] == "102"
    assert (await house.book(3, 5))["roomNumber"] == "101"


async def test_the_database_judges_last(house: House) -> None:
    """No two open stays share a room and a night, even if a program says so."""
    stay = await house.book(1, 3)
    async with house.api.app.services.pool.transaction() as db:
        with pytest.raises(Exception, match="hotel_reservations_room_taken"):
            await db.execute(
                """
                INSERT INTO hotel_reservations SELECT (jsonb_populate_record(v, jsonb_build_object(
                    'id', gen_random_uuid(), 'short_code', 'ANOTHER1'))).*
                FROM hotel_reservations v WHERE id = $1::text::uuid
                """,
                stay["id"],
            )


async def test_somebody_moves_in_once(house: House) -> None:
    """Of ten who check one guest in at once, one does; there is one event."""
    stay = await house.book()
    answers = await asyncio.gather(*(house.act(stay, "check-in") for _ in range(10)))
    assert sorted(answer.status for answer in answers) == [200] + [400] * 9
    assert (await house.read(stay))["status"] == "checked_in"
    assert len(await house.told("reservation.checked_in")) == 1
    assert (await house.room_of(stay))["reservationId"] == stay["id"]


async def test_nobody_moves_in_too_early_or_into_a_dirty_room(house: House) -> None:
    """Each refusal says what to do."""
    early = await house.act(await house.book(1, 3), "check-in")
    assert "change check_in_date first" in early.json["message"]
    stay = await house.book(0, 1)
    path = f"{HOTEL}/rooms/{stay['roomId']}"
    await house.api.patch(path, {"status": "dirty"}, status=200)
    assert "allow_dirty" in (await house.act(stay, "check-in")).json["message"]
    assert (await house.act(stay, "check-in", allow_dirty=True)).status == 200
    occupied = await house.api.patch(path, {"status": "out_of_service"}, status=400)
    assert "Move the stay first" in occupied.json["message"]


async def test_a_guest_who_is_here_moves_in_at_once(house: House) -> None:
    """Into a clean room that nobody is in, with both events; another day is refused."""
    await house.api.patch(
        f"{HOTEL}/rooms/{(await house.book(9, 10))['roomId']}", {"status": "dirty"}, status=200
    )
    stay = await house.book(check_in=True, source="walk_in")
    assert (stay["status"], stay["roomNumber"]) == ("checked_in", "102")
    assert stay["checkedInAt"] == stay["createdAt"]
    kinds = ["created", "created", "checked_in"]
    assert await house.told() == [f"hotel.reservation.{kind}" for kind in kinds]
    refused = await house.api.post(STAYS, house.stay(check_in=True), status=400)
    assert "No room of this type is free" in refused.json["message"]
    assert "have one cleaned, or send allow_dirty" in refused.json["message"]
    later = await house.api.post(STAYS, house.stay(1, 2, check_in=True), status=422)
    assert later.wrong_fields == {"check_in"}


async def test_a_room_that_a_guest_can_t_have_at_once_says_why(house: House) -> None:
    """It is not clean, or somebody is in it, or another has booked it."""
    room_id = await house.room("103", status="dirty")
    path = f"{HOTEL}/rooms/{room_id}"
    body = house.stay(check_in=True, room_id=room_id)
    dirty = await house.api.post(STAYS, body, status=400)
    assert "Room 103 is not clean" in dirty.json["message"]
    assert "allow_dirty" in dirty.json["message"]
    await house.api.patch(path, {"status": "clean"}, status=200)
    assert (await house.book(check_in=True, room_id=room_id))["roomNumber"] == "103"
    taken = await house.api.post(STAYS, body, status=400)
    assert "or somebody is still in it" in taken.json["message"]


async def test_what_is_cancelled_is_free_again(house: House) -> None:
    """With its reason and its event; a guest who is in the house isn't cancelled."""
    stays = [await house.book(), await house.book()]
    assert (await house.api.post(STAYS, house.stay())).status == 400
    gone = (await house.act(stays[0], "cancel", reason="Ill")).data
    assert (gone["status"], gone["cancelReason"]) == ("cancelled", "Ill")
    assert gone["cancelledAt"] is not None
    assert (await house.book())["roomNumber"] == stays[0]["roomNumber"]
    await house.act(stays[1], "check-in")
    assert "only one that is booked" in (await house.act(stays[1], "cancel")).json["message"]
    assert len(await house.told("reservation.cancelled")) == 1


async def test_a_guest_who_did_not_come_leaves_the_room_free(house: House) -> None:
    """From the day of arrival on."""
    early = await house.act(await house.book(1, 2), "no-show")
    assert "nobody is late before" in early.json["message"]
    stay = await house.book()
    gone = (await house.act(stay, "no-show")).data
    assert gone["status"] == "no_show"
    assert gone["noShowAt"] is not None
    assert "no_show" in (await house.act(stay, "cancel")).json["message"]


WRONG: list[tuple[dict[str, Any], set[str]]] = [
    ({"check_in_date": "day:-1"}, {"check_in_date"}),
    ({"check_in_date": "day:2", "check_out_date": "day:2"}, {"check_out_date"}),
    ({"check_in_date": "day:3", "check_out_date": "day:2"}, {"check_out_date"}),
    ({"check_in_date": "day:1", "check_out_date": "day:367"}, {"check_out_date"}),
    ({"check_in_date": "day:729", "check_out_date": "day:731"}, {"check_out_date"}),
    ({"check_in_date": "2026-02-30"}, {"check_in_date"}),
    ({"check_in_date": "tomorrow", "check_out_date": 7}, {"check_in_date", "check_out_date"}),
    ({"room_type_id": None}, {"room_type_id"}),
    ({"room_type_id": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"}, {"room_type_id"}),
    ({"room_id": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"}, {"room_id"}),
    ({"rate_plan_id": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"}, {"rate_plan_id"}),
    ({"guest_id": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"}, {"guest_id"}),
    ({"guest_id": None}, {"guest_id"}),
    ({"guest": {"name": "Bola"}}, {"guest_id"}),
    ({"guest_id": None, "guest": {"name": "B", "phone_number": "+1"}}, {"guest.phone_number"}),
    ({"adults": 0}, {"adults"}),
    ({"adults": 2, "children": 1}, {"adults"}),
    ({"children": -1}, {"children"}),
    ({"deposit_amount": -1}, {"deposit_amount"}),
    ({"deposit_amount": 0.001}, {"deposit_amount"}),
    ({"deposit_amount": 10**11}, {"deposit_amount"}),
    ({"source": "a friend"}, {"source"}),
    ({"notes": "x" * 1001}, {"notes"}),
    ({"check_in": "yes"}, {"check_in"}),
    ({"allow_dirty": 1}, {"allow_dirty"}),
    ({"status": "checked_in"}, {"status"}),
]


@pytest.mark.parametrize(("wrong", "fields"), WRONG, ids=[str(one[0])[:60] for one in WRONG])
async def test_a_wrong_booking_is_refused(
    house: House, wrong: dict[str, Any], fields: set[str]
) -> None:
    """Each wrong field is named."""
    answer = await house.api.post(STAYS, {**house.stay(), **dated_body(wrong)}, status=422)
    assert answer.wrong_fields == fields, answer


async def test_a_room_that_does_not_fit_is_refused(house: House) -> None:
    """One of another type, one out of service, one of another business."""
    other = await house.made("room-types", name="Suite", capacity=4, rate=300)
    suite = await house.room("201", room_type_id=other["id"])
    answer = await house.api.post(STAYS, house.stay(room_id=suite), status=422)
    assert "of another type" in answer.json["details"][0]["message"]
    stay = await house.book(room_type_id=None, room_id=suite)
    assert stay["roomTypeId"] == other["id"]
    out = await house.room("202", status="out_of_service")
    answer = await house.api.post(STAYS, house.stay(room_id=out), status=422)
    assert "out of service" in answer.json["details"][0]["message"]


async def test_another_business_has_other_rooms(house: House, make: Make) -> None:
    """Its ids read as unknown, and its reservations as not found."""
    stay = await house.book()
    stranger = await House.open(await make.business())
    answer = await stranger.api.post(STAYS, house.stay(room_id=stay["roomId"]), status=422)
    assert answer.wrong_fields == {"room_type_id", "room_id", "guest_id"}
    assert (await stranger.act(stay, "cancel")).status == 404
    await stranger.api.get(f"{STAYS}/{stay['id']}", status=404)


async def test_a_guest_is_found_by_their_number(business: Business) -> None:
    """A booking for somebody known makes nobody new; one for a stranger makes a customer."""
    house = await House.open(business, rooms=3)
    known = await house.book(guest_id=None, guest={"name": "C.", "phone_number": "+2348030000001"})
    assert (known["guestId"], known["guestName"]) == (house.guest_id, "Chinedu Eze")
    new = await house.book(guest_id=None, guest={"name": "Bola", "email": "bola@example.com"})
    assert new["guestId"] != house.guest_id
    guest = (await house.api.get(f"{HOTEL}/guests/{new['guestId']}", status=200)).data
    assert (guest["email"], guest["customerId"]) == ("bola@example.com", new["customerId"])


async def test_a_guest_who_is_known_keeps_what_is_known(business: Business) -> None:
    """A booking fills in what nobody had noted; a change of the guest changes the rest."""
    house = await House.open(business, rooms=2)
    person = {"name": "C.", "phone_number": "+2348030000001"}
    for number, notes in (("A1", None), ("B2", "Early riser")):
        guest = {**person, "document_number": number, "document_type": "passport", "notes": notes}
        await house.book(guest_id=None, guest=guest)
    known = (await house.api.get(f"{HOTEL}/guests/{house.guest_id}", status=200)).data
    assert (known["documentNumber"], known["documentType"]) == ("A1", "passport")
    assert (known["name"], known["notes"]) == ("Chinedu Eze", "Early riser")


async def test_reservations_are_found(house: House) -> None:
    """By status, day, room, guest, code and name."""
    first, second = await house.book(0, 2), await house.book(4, 6)
    await house.act(first, "check-in")

    async def found(query: str) -> list[str]:
        answer = await house.api.get(f"{STAYS}?{query}", status=200)
        assert answer.json["meta"]["total"] == len(answer.data)
        return [stay["id"] for stay in answer.data]

    both = [second["id"], first["id"]]
    assert await found("") == both
    assert await found("status=booked,checked_in") == both
    assert await found("status=checked_in") == [first["id"]]
    assert await found(f"from={day(1)}") == [second["id"]]
    assert await found(f"to={day(3)}&from={day(0)}") == [first["id"]]
    assert await found(f"departs_to={day(2)}") == [first["id"]]
    assert await found(f"departs_from={day(3)}&departs_to={day(6)}") == [second["id"]]
    assert await found(f"departs_to={day(2)}&status=booked") == []
    of_room = [one["id"] for one in (second, first) if one["roomId"] == first["roomId"]]
    assert await found(f"room_id={first['roomId']}&guest_id={house.guest_id}") == of_room
    assert await found(f"search={first['shortCode'].lower()}") == [first["id"]]
    assert await found("search=chin") == both
    assert await found("search=nobody") == []
    # Nothing that could be a word is nobody's name, and not everybody's.
    for words in ("%25", "_", "%E2%80%94", "%F0%9F%92%A5", "%5C"):
        assert await found(f"search={words}") == []
