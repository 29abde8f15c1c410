"""Several rooms are booked together, or none of them."""

import asyncio
from typing import Any

import pytest

from tests.hotel.house import HOTEL, STAYS, House, day

GROUPS = f"{HOTEL}/reservation-groups"


async def total(house: House) -> int:
    """How many reservations there are."""
    return (await house.api.get(STAYS, status=200)).json["meta"]["total"]


async def test_rooms_are_booked_together(house: House) -> None:
    """Each is a reservation with its event, and they share the id of the group."""
    alone = await house.book(5, 6)
    guest = {"name": "Bola", "phone_number": "+2348030000009"}
    rooms = [house.stay(), house.stay(guest_id=None, guest=guest, check_in=True)]
    made = (await house.api.post(GROUPS, {"reservations": rooms}, status=201)).data
    assert [one["groupId"] for one in made["reservations"]] == [made["groupId"]] * 2
    assert [one["status"] for one in made["reservations"]] == ["booked", "checked_in"]
    assert sorted(one["roomNumber"] for one in made["reservations"]) == ["101", "102"]
    found = await house.api.get(f"{STAYS}?group_id={made['groupId']}", status=200)
    assert found.data == made["reservations"][::-1]
    assert alone["groupId"] is None
    assert len(await house.told("reservation.created")) == 3
    assert len(await house.told("reservation.checked_in")) == 1


async def test_all_are_booked_or_none(house: House) -> None:
    """Where the last finds no room, nobody has one, and nothing was told."""
    rooms = {"reservations": [house.stay() for _ in range(3)]}
    refused = await house.api.post(GROUPS, rooms, status=400)
    assert "reservations[2]: No room of this type is free" in refused.json["message"]
    assert "None was booked" in refused.json["message"]
    assert (await total(house), await house.told()) == (0, [])


async def test_groups_that_race_don_t_split_the_house(house: House) -> None:
    """Of ten who want both rooms, in whichever order of days, one gets them."""
    both = [house.stay(1, 3), house.stay(2, 4)]
    bodies = [{"reservations": both[:: (-1) ** index]} for index in range(10)]
    answers = await asyncio.gather(*(house.api.post(GROUPS, body) for body in bodies))
    assert sorted(answer.status for answer in answers) == [201] + [400] * 9
    assert await total(house) == 2


async def test_groups_of_the_same_people_wait_for_each_other(house: House) -> None:
    """Of twenty that name two new guests in either order one is booked; none fails."""
    people = [{"name": name, "phone_number": f"+234803000090{name}"} for name in "12"]
    both = [house.stay(1, 3, guest_id=None, guest=person) for person in people]
    bodies = [{"reservations": both[:: (-1) ** index]} for index in range(20)]
    answers = await asyncio.gather(*(house.api.post(GROUPS, body) for body in bodies))
    assert sorted(answer.status for answer in answers) == [201] + [400] * 19
    assert (await house.api.get(f"{HOTEL}/guests", status=200)).json["meta"]["total"] == 3


async def test_a_wrong_guest_is_named_with_the_room(house: House) -> None:
    """A number that the business's country doesn't have."""
    wrong = house.stay(guest_id=None, guest={"name": "Bola", "phone_number": "123"})
    body = {"reservations": [house.stay(), wrong]}
    answer = await house.api.post(GROUPS, body, status=422)
    assert answer.wrong_fields == {"reservations[1].guest.phone_number"}


async def test_every_wrong_field_is_named(house: House) -> None:
    """With the place of its room."""
    wrong = {"check_out_date": day(0), "guest_id": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"}
    body = {"reservations": [house.stay(adults=9), house.stay(**wrong)]}
    answer = await house.api.post(GROUPS, body, status=422)
    assert answer.wrong_fields == {
        "reservations[0].adults",
        "reservations[1].check_out_date",
        "reservations[1].guest_id",
    }
    assert await total(house) == 0


@pytest.mark.parametrize("count", [0, 21])
async def test_a_group_has_bounds(house: House, count: int) -> None:
    """One room at least and twenty at most."""
    rooms: list[Any] = [house.stay()] * count
    answer = await house.api.post(GROUPS, {"reservations": rooms}, status=422)
    assert answer.wrong_fields == {"reservations"}
