"""Stays get other days and other rooms, and no room is promised twice by it."""

import asyncio
from typing import Any

import pytest

from tests.hotel.house import HOTEL, STAYS, House, dated_body, day
from tests.make import Make

_ID = "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"


async def change(house: House, stay: dict[str, Any], expect: int = 200, **body: Any) -> Any:
    """The answer to a change of a stay."""
    return await house.api.patch(f"{STAYS}/{stay['id']}", body, status=expect)


async def test_new_nights_cost_what_they_cost_now(house: House) -> None:
    """Those that were booked keep their price, and the taxes stay; some nights may go."""
    plan = await house.made(
        "rate-plans", room_type_id=house.room_type_id, name="Breakfast", price=100,
        taxes=[{"name": "VAT", "rate": 10}],
    )  # fmt: skip
    stay = await house.book(1, 3, rate_plan_id=plan["id"])
    path = f"{HOTEL}/rate-plans/{plan['id']}"
    await house.api.patch(path, {"price": 150, "taxes": []}, status=200)
    longer = (await change(house, stay, check_in_date=day(2), check_out_date=day(5))).data
    assert [night["price"] for night in longer["nights"]] == [100, 150, 150]
    assert [night["date"] for night in longer["nights"]] == [day(2), day(3), day(4)]
    assert longer["totalAmount"] == 440
    shorter = (await change(house, stay, check_out_date=day(3), notes="Late", adults=2)).data
    assert (shorter["totalAmount"], shorter["notes"], shorter["adults"]) == (110, "Late", 2)
    assert (await change(house, stay, notes=None)).data["notes"] is None


async def test_other_days_are_to_be_confirmed_anew(house: House) -> None:
    """A stay that only gets other heads or notes stays confirmed."""
    stay = await house.book(1, 3)
    async with house.api.app.services.pool.transaction() as db:
        await db.execute(
            "UPDATE hotel_reservations SET confirmed_at = now() WHERE id = $1::text::uuid",
            stay["id"],
        )
    assert (await change(house, stay, adults=2, notes="Late")).data["confirmedAt"] is not None
    assert (await change(house, stay, check_out_date=day(4))).data["confirmedAt"] is None


async def test_a_stay_is_not_extended_into_another(house: House) -> None:
    """The refusal says what to do; the move that it names makes the way free."""
    first = await house.book(1, 3)
    await house.book(3, 5, room_id=first["roomId"])
    refused = await change(house, first, 400, check_out_date=day(4))
    assert "move the reservation to another room first" in refused.json["message"]
    other = await house.room("103")
    assert (await house.act(first, "move", room_id=other)).status == 200
    assert (await change(house, first, check_out_date=day(4))).data["checkOutDate"] == day(4)


async def test_a_guest_who_is_here_may_stay_longer_or_leave_today(house: House) -> None:
    """The days of arrival and of nights that have begun stay as they are."""
    stay = await house.book(0, 3, check_in=True)
    moved = await change(house, stay, 422, check_in_date=day(1))
    assert moved.wrong_fields == {"check_in_date"}
    assert (await change(house, stay, check_out_date=day(5))).data["checkOutDate"] == day(5)
    assert (await change(house, stay, check_out_date=day(1))).data["totalAmount"] == 100
    before = await change(house, stay, 422, check_out_date=day(-1))
    assert before.wrong_fields == {"check_out_date"}


async def test_a_stay_that_is_over_is_not_changed(house: House) -> None:
    """Nor moved."""
    stay = await house.book(1, 3)
    await house.act(stay, "cancel")
    assert "is cancelled" in (await change(house, stay, 400, notes="x")).json["message"]
    answer = await house.act(stay, "move", room_id=stay["roomId"])
    assert answer.status == 400
    assert "is cancelled" in answer.json["message"]


WRONG: list[tuple[dict[str, Any], set[str]]] = [
    ({"check_in_date": "day:-1"}, {"check_in_date"}),
    ({"check_in_date": "day:3"}, {"check_out_date"}),
    ({"check_out_date": "day:1"}, {"check_out_date"}),
    ({"check_out_date": "day:367"}, {"check_out_date"}),
    ({"check_in_date": "day:729", "check_out_date": "day:731"}, {"check_out_date"}),
    ({"check_out_date": "2026-02-30"}, {"check_out_date"}),
    ({"check_out_date": None}, {"check_out_date"}),
    ({"adults": 3}, {"adults"}),
    ({"adults": 0}, {"adults"}),
    ({"children": 2}, {"adults"}),
    ({"notes": "x" * 1001}, {"notes"}),
    ({"room_id": _ID}, {"room_id"}),
    ({"status": "checked_out"}, {"status"}),
]


@pytest.mark.parametrize(("wrong", "fields"), WRONG, ids=[str(one[0])[:60] for one in WRONG])
async def test_a_wrong_change_is_refused(
    house: House, wrong: dict[str, Any], fields: set[str]
) -> None:
    """Each wrong field is named, and nothing has changed."""
    stay = await house.book(1, 3)
    assert (await change(house, stay, 422, **dated_body(wrong))).wrong_fields == fields
    assert await house.read(stay) == stay


async def test_a_stay_moves_at_the_price_that_was_booked(house: House) -> None:
    """Also to a room of another type; a room that was only booked stays clean."""
    suites = await house.made("room-types", name="Suite", capacity=4, rate=300)
    suite = await house.room("201", room_type_id=suites["id"])
    stay = await house.book(1, 3)
    moved = (await house.act(stay, "move", room_id=suite, reason="Upgrade")).data
    assert (moved["roomNumber"], moved["roomTypeId"]) == ("201", suites["id"])
    assert (moved["nights"], moved["totalAmount"]) == (stay["nights"], 200)
    assert (await house.room_of(stay))["status"] == "clean"
    assert (await house.book(1, 3))["roomNumber"] == stay["roomNumber"]


async def test_a_guest_who_moves_leaves_a_dirty_room(house: House) -> None:
    """And finds a clean one, unless that may be otherwise."""
    stay = await house.book(check_in=True)
    other = await house.room("103", status="dirty")
    refused = await house.act(stay, "move", room_id=other)
    assert refused.status == 400
    assert "allow_dirty" in refused.json["message"]
    moved = (await house.act(stay, "move", room_id=other, allow_dirty=True)).data
    assert (moved["status"], moved["roomNumber"]) == ("checked_in", "103")
    assert (await house.room_of(stay))["status"] == "dirty"
    assert (await house.room_of(moved))["reservationId"] == stay["id"]


async def test_a_room_that_is_not_to_be_had_is_refused(house: House, make: Make) -> None:
    """One that is taken, out of service, too small, the same, unknown, or of another business."""
    stay, other = await house.book(1, 3, adults=2), await house.book(2, 4)
    small = await house.made("room-types", name="Single", capacity=1, rate=50)
    stranger = await House.open(await make.business())
    said = {
        other["roomId"]: "is not free from",
        await house.room("301", status="out_of_service"): "is out of service",
        await house.room("302", room_type_id=small["id"]): "is for 1 at most",
        stay["roomId"]: "has room 101 already",
    }
    for room_id, words in said.items():
        answer = await house.act(stay, "move", room_id=room_id)
        assert answer.status == 400
        assert words in answer.json["message"]
    for room_id in (_ID, await stranger.room(), "7", None):
        answer = await house.act(stay, "move", room_id=room_id)
        assert (answer.status, answer.wrong_fields) == (422, {"room_id"})
    assert await house.read(stay) == stay


async def test_a_move_and_bookings_don_t_share_a_room(house: House) -> None:
    """Of one move and twenty bookings of a room that race, one gets it."""
    stay = await house.book(1, 3)
    room_id = await house.room("103")
    body = house.stay(2, 4, room_id=room_id)
    answers = await asyncio.gather(
        house.act(stay, "move", room_id=room_id),
        *(house.api.post(STAYS, body) for _ in range(20)),
    )
    assert sorted(answer.status for answer in answers)[1:] == [400] * 20
    assert min(answer.status for answer in answers) in {200, 201}


async def test_stays_that_move_into_one_room_don_t_share_it(house: House) -> None:
    """Nor do those that are extended into one another, from both sides."""
    stays = [await house.book(1, 3), await house.book(1, 3)]
    room_id = await house.room("103")
    moves = await asyncio.gather(*(house.act(one, "move", room_id=room_id) for one in stays))
    assert sorted(answer.status for answer in moves) == [200, 400]
    early = await house.book(5, 6, room_id=room_id)
    late = await house.book(8, 9, room_id=room_id)
    answers = await asyncio.gather(
        house.api.patch(f"{STAYS}/{early['id']}", {"check_out_date": day(8)}),
        house.api.patch(f"{STAYS}/{late['id']}", {"check_in_date": day(6)}),
    )
    assert sorted(answer.status for answer in answers) == [200, 400]


async def test_guests_who_swap_rooms_end_in_an_answer(house: House) -> None:
    """Two who move into each other's room are both refused: no room is empty."""
    stays = [await house.book(1, 3), await house.book(1, 3)]
    answers = await asyncio.gather(
        *(
            house.act(one, "move", room_id=other["roomId"])
            for one, other in zip(stays, reversed(stays), strict=True)
        )
    )
    assert [answer.status for answer in answers] == [400, 400]


async def test_a_wrong_form_and_a_broken_rule_are_told_together(house: House) -> None:
    """Of a change, a move and a group alike."""
    stay = await house.book(1, 3)
    wrong = {"adults": 9, "notes": "x" * 1001}
    assert (await change(house, stay, 422, **wrong)).wrong_fields == {"adults", "notes"}
    wrong = {"check_out_date": day(1), "children": -1}
    assert (await change(house, stay, 422, **wrong)).wrong_fields == {"check_out_date", "children"}
    moved = await house.act(stay, "move", room_id=_ID, allow_dirty="yes")
    assert moved.wrong_fields == {"room_id", "allow_dirty"}
    rooms = [house.stay(1, 3, adults=9), house.stay(1, 3, notes="x" * 1001)]
    path = f"{HOTEL}/reservation-groups"
    group = await house.api.post(path, {"reservations": rooms}, status=422)
    assert group.wrong_fields == {"reservations[0].adults", "reservations[1].notes"}
