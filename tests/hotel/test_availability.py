"""Free rooms are counted night by night, and what is counted free can be booked."""

from typing import Any

import pytest

from tests.hotel.house import HOTEL, STAYS, House, dated, day
from tests.make import Make

FREE = f"{HOTEL}/availability"


async def nights(house: House, query: str) -> list[tuple[int, int]]:
    """The taken and the free rooms of the one type, each night."""
    answer = await house.api.get(f"{FREE}?{dated(query)}", status=200)
    (kind,) = answer.data["roomTypes"]
    return [(one["taken"], one["free"]) for one in kind["nights"]]


async def test_free_rooms_are_counted_by_night(house: House) -> None:
    """The night of departure is free again; stays across the edges count inside."""
    await house.book(0, 3)
    await house.book(2, 6)
    answer = await house.api.get(f"{FREE}?from={day(1)}&to={day(5)}", status=200)
    assert answer.data == {
        "checkInDate": day(1),
        "checkOutDate": day(5),
        "roomTypes": [{
            "roomTypeId": house.room_type_id,
            "name": "Standard",
            "capacity": 2,
            "rate": 100,
            "roomsCount": 2,
            "outOfService": 0,
            "freeThroughout": 0,
            "nights": [
                {"date": day(1), "taken": 1, "free": 1},
                {"date": day(2), "taken": 2, "free": 0},
                {"date": day(3), "taken": 1, "free": 1},
                {"date": day(4), "taken": 1, "free": 1},
            ],
        }],
    }  # fmt: skip
    refused = await house.api.post(STAYS, house.stay(2, 3), status=400)
    assert "GET /v1/hotel/availability" in refused.json["message"]


async def test_what_is_over_takes_no_room(house: House) -> None:
    """A stay that is cancelled; one whose room is closed takes another."""
    first, second = await house.book(0, 2), await house.book(0, 2)
    assert await nights(house, f"to={day(2)}") == [(2, 0), (2, 0)]
    await house.act(first, "cancel")
    assert await nights(house, f"to={day(2)}") == [(1, 1), (1, 1)]
    path = f"{HOTEL}/rooms/{second['roomId']}"
    await house.api.patch(path, {"status": "out_of_service"}, status=200)
    assert await nights(house, f"to={day(2)}") == [(1, 0), (1, 0)]


async def test_each_type_is_shown_by_itself(house: House) -> None:
    """Also one without rooms; fourteen nights from today, where no days are asked for."""
    suite = await house.made("room-types", name="Suite", capacity=4, rate=300)
    await house.book(0, 2)
    kinds = (await house.api.get(FREE, status=200)).data["roomTypes"]
    assert [(kind["name"], kind["roomsCount"]) for kind in kinds] == [("Standard", 2), ("Suite", 0)]
    assert [len(kind["nights"]) for kind in kinds] == [14, 14]
    assert kinds[0]["nights"][0] == {"date": day(0), "taken": 1, "free": 1}
    found = await house.api.get(f"{FREE}?room_type_id={suite['id']}", status=200)
    assert [kind["name"] for kind in found.data["roomTypes"]] == ["Suite"]


WRONG: list[tuple[str, set[str]]] = [
    ("from=day:-1", {"from"}),
    ("from=day:3&to=day:3", {"to"}),
    ("from=day:3&to=day:2", {"to"}),
    ("from=day:0&to=day:367", {"to"}),
    ("to=2200-12-31", {"to"}),
    ("from=2026-02-30", {"from"}),
    ("room_type_id=7", {"room_type_id"}),
]


@pytest.mark.parametrize(("query", "fields"), WRONG, ids=[one[0] for one in WRONG])
async def test_wrong_days_are_refused(house: House, query: str, fields: set[str]) -> None:
    """Each is named; a year is shown."""
    answer = await house.api.get(f"{FREE}?{dated(query)}", status=422)
    assert answer.wrong_fields == fields
    assert len(await nights(house, f"from={day(0)}&to={day(366)}")) == 366


async def test_another_business_sees_its_own_rooms(house: House, make: Make) -> None:
    """Not those of others, nor their stays."""
    await house.book(0, 2)
    stranger = await House.open(await make.business())
    kinds: list[Any] = (await stranger.api.get(FREE, status=200)).data["roomTypes"]
    assert [kind["roomTypeId"] for kind in kinds] == [stranger.room_type_id]
    assert kinds[0]["nights"][0]["taken"] == 0
