"""A room that is closed gives its bookings to other rooms of the type, or stays open."""

import asyncio
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.hotel.house import HOTEL, STAYS, House, day
from tests.make import Business

FREE = f"{HOTEL}/availability"

Body = dict[str, Any]


@pytest.fixture
async def sql(database_url: str) -> Any:
    """A look into the database."""
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def close(house: House, room_id: str, *, status: int) -> Any:
    """Close a room by the way of housekeeping."""
    path = f"{HOTEL}/rooms/{room_id}/status"
    return await house.api.post(path, {"status": "out_of_service"}, status=status)


async def nights(house: House, begins: int, ends: int) -> tuple[list[tuple[int, int]], int]:
    """The taken and the free rooms of each night, and the rooms that are free throughout."""
    answer = await house.api.get(f"{FREE}?from={day(begins)}&to={day(ends)}", status=200)
    (kind,) = answer.data["roomTypes"]
    return [(one["taken"], one["free"]) for one in kind["nights"]], kind["freeThroughout"]


async def test_the_stays_of_a_closed_room_have_other_rooms(
    house: House, sql: asyncpg.Connection
) -> None:
    """They stay counted as taken, so that the last room isn't promised twice."""
    stay = await house.book(0, 2)
    closed = await house.room_of(stay)
    await close(house, stay["roomId"], status=200)
    after = await house.read(stay)
    assert after["roomId"] != stay["roomId"]
    assert (await house.room_of(after))["status"] == "clean"
    changed = {name for name in stay if stay[name] != after[name]}
    assert {"roomId", "roomNumber"} <= changed <= {"roomId", "roomNumber", "updatedAt"}
    assert await nights(house, 0, 2) == ([(1, 0), (1, 0)], 0)
    assert (await house.api.post(STAYS, house.stay(0, 2))).status == 400
    assert (await house.act(after, "check-in")).status == 200
    row = await sql.fetchrow(
        "SELECT metadata FROM audit_events WHERE business_id = $1 AND event_type = $2",
        UUID(house.business.id), "hotel_reservations.reassigned",
    )  # fmt: skip
    assert row is not None
    for word in (stay["id"], closed["id"], closed["number"], after["roomNumber"]):
        assert f'"{word}"' in row["metadata"]


async def test_a_room_stays_open_whose_stay_has_no_other(house: House) -> None:
    """The refusal names the stay; once that is cancelled, the room is closed."""
    first, second = await house.book(0, 2), await house.book(1, 3)
    answer = await close(house, first["roomId"], status=400)
    for word in (first["shortCode"], first["guestName"], first["checkInDate"]):
        assert word in answer.json["message"]
    assert (await house.room_of(first))["status"] == "clean"
    assert await nights(house, 0, 2) == ([(1, 1), (2, 0)], 0)
    await house.act(first, "cancel")
    await close(house, first["roomId"], status=200)
    assert await house.read(second) == second


async def test_a_chosen_room_is_kept_open_for_its_stay(house: House) -> None:
    """A promise isn't broken by closing a room: the desk moves the stay first."""
    free = await house.book(0, 2)
    stay = await house.book(3, 5, room_id=free["roomId"])
    answer = await close(house, stay["roomId"], status=400)
    assert stay["shortCode"] in answer.json["message"]
    assert "chosen" in answer.json["message"]
    assert await house.read(free) == free
    rooms = (await house.api.get(f"{HOTEL}/rooms", status=200)).data
    (other,) = [room["id"] for room in rooms if room["id"] != stay["roomId"]]
    assert (await house.act(stay, "move", room_id=other)).status == 200
    await close(house, stay["roomId"], status=200)


async def test_a_guest_in_the_house_is_named(house: House) -> None:
    """Nobody is locked out of a room."""
    stay = await house.book(0, 2, check_in=True)
    path = f"{HOTEL}/rooms/{stay['roomId']}"
    answer = await house.api.patch(path, {"status": "out_of_service"}, status=400)
    for word in (stay["shortCode"], stay["guestName"]):
        assert word in answer.json["message"]


async def test_other_bookings_make_way(business: Business) -> None:
    """Where no room is free throughout, others of the type change theirs, as for a booking."""
    house = await House.open(business, rooms=3)
    rooms = (await house.api.get(f"{HOTEL}/rooms", status=200)).data
    ids = [room["id"] for room in rooms]
    holders = [await house.book(*days, room_id=ids[at]) for at, days in (
        (1, (3, 9)), (2, (0, 2)), (0, (5, 9)))]  # fmt: skip
    early = await house.book(0, 3)
    late = await house.book(2, 5)
    for one in holders:
        await house.act(one, "cancel")
    await house.act(early, "cancel")
    inner = await house.book(2, 5)
    stays = [late, inner]
    assert len({one["roomId"] for one in stays}) == 2
    await close(house, late["roomId"], status=200)
    after = [await house.read(one) for one in stays]
    assert len({one["roomId"] for one in after}) == 2
    assert late["roomId"] not in {one["roomId"] for one in after}


async def test_a_stay_that_needs_others_to_move(house: House) -> None:
    """The stay of the closed room fits nowhere until two short ones share a room."""
    rooms = (await house.api.get(f"{HOTEL}/rooms", status=200)).data
    third = await house.room("103")
    first = rooms[0]["id"]
    block = await house.book(3, 6, room_id=rooms[1]["id"])
    early = await house.book(0, 3, room_id=rooms[1]["id"])
    await house.act(early, "cancel")
    early = await house.book(0, 3)
    late = await house.book(3, 6, room_id=third)
    await house.act(block, "cancel")
    await house.act(late, "cancel")
    late = await house.book(3, 6)
    closing = await house.book(1, 5)
    assert closing["roomId"] not in {early["roomId"], late["roomId"]} or first
    await close(house, closing["roomId"], status=200)
    stays = [await house.read(one) for one in (early, late, closing)]
    assert closing["roomId"] not in {one["roomId"] for one in stays}
    assert stays[0]["roomId"] == stays[1]["roomId"] != stays[2]["roomId"]


async def test_closing_against_bookings(business: Business) -> None:
    """In any order: no stay is in a closed room, and none is promised twice."""
    house = await House.open(business, rooms=4)
    rooms = [room["id"] for room in (await house.api.get(f"{HOTEL}/rooms", status=200)).data]
    for turn in range(4):
        begins = 1 + turn * 3
        bookings = [house.api.post(STAYS, house.stay(begins, begins + 2)) for _ in range(6)]
        named = [
            house.api.post(STAYS, house.stay(begins, begins + 1, room_id=room)) for room in rooms
        ]
        path = f"{HOTEL}/rooms/{rooms[turn]}/status"
        closing = [house.api.post(path, {"status": "out_of_service"}) for _ in range(2)]
        answers = await asyncio.gather(*bookings, *closing, *named)
        assert {answer.status for answer in answers} <= {200, 201, 400, 422}
        closed = {
            room["id"]
            for room in (await house.api.get(f"{HOTEL}/rooms", status=200)).data
            if room["status"] == "out_of_service"
        }
        stays = (await house.api.get(f"{STAYS}?status=booked&limit=100", status=200)).data
        assert not closed & {stay["roomId"] for stay in stays}
        for stay in stays:
            await house.act(stay, "cancel")
        for room in closed:
            await house.api.patch(f"{HOTEL}/rooms/{room}", {"status": "clean"}, status=200)


async def test_the_database_refuses_a_closed_room_with_a_stay(
    house: House, sql: asyncpg.Connection
) -> None:
    """Also a program that asks for no lock."""
    stay = await house.book(0, 2)
    change = "UPDATE hotel_rooms SET status = 'out_of_service' WHERE id = $1::text::uuid"
    with pytest.raises(asyncpg.CheckViolationError, match="stay"):
        await sql.execute(change, stay["roomId"])
    rooms = (await house.api.get(f"{HOTEL}/rooms", status=200)).data
    (other,) = [room["id"] for room in rooms if room["id"] != stay["roomId"]]
    await sql.execute(change, other)
    give = "UPDATE hotel_reservations SET room_id = $2::text::uuid WHERE id = $1::text::uuid"
    with pytest.raises(asyncpg.CheckViolationError, match="service"):
        await sql.execute(give, stay["id"], other)
