"""Where no room is free throughout, bookings whose room nobody chose make one free."""

import asyncio
import random
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


async def free(house: House, begins: int, ends: int) -> int:
    """How many rooms can be had from one day to another."""
    answer = await house.api.get(f"{FREE}?from={day(begins)}&to={day(ends)}", status=200)
    (kind,) = answer.data["roomTypes"]
    return kind["freeThroughout"]


async def corner(house: House, **fields: Any) -> tuple[Body, Body]:
    """One room is taken from 1 to 3, the other from 4 to 6: none is free from 2 to 5."""
    early = await house.book(1, 3, **fields)
    between = await house.book(1, 4)
    late = await house.book(4, 6, **fields)
    await house.act(between, "cancel")
    assert early["roomId"] != late["roomId"]
    return early, late


async def test_a_booking_makes_room(house: House, sql: asyncpg.Connection) -> None:
    """The stay in its way has the other room, and all else of it is as it was."""
    before = await corner(house)
    assert await free(house, 2, 5) == 1
    new = await house.book(2, 5)
    after = [await house.read(stay) for stay in before]
    (moved,) = [stay for stay, old in zip(after, before, strict=True) if stay != old]
    (old,) = [stay for stay in before if stay["id"] == moved["id"]]
    changed = {name for name in old if old[name] != moved[name]}
    assert {"roomId", "roomNumber"} <= changed <= {"roomId", "roomNumber", "updatedAt"}
    assert new["roomId"] == old["roomId"]
    assert (await house.read(new)) == new
    row = await sql.fetchrow(
        "SELECT metadata FROM audit_events WHERE business_id = $1 AND event_type = $2",
        UUID(house.business.id), "hotel_reservations.reassigned",
    )  # fmt: skip
    assert row is not None
    for word in (new["id"], moved["id"], old["roomNumber"], moved["roomNumber"]):
        assert f'"{word}"' in row["metadata"]
    assert await free(house, 2, 5) == 0
    refused = await house.api.post(STAYS, house.stay(2, 5), status=400)
    assert "No room of this type is free" in refused.json["message"]
    assert len(await house.told()) == 5


async def test_a_room_that_was_chosen_is_kept(house: House) -> None:
    """Asked for with the booking, or given by a move: the answer says so."""
    early, late = await corner(house)
    assert (early["isRoomChosen"], late["isRoomChosen"]) == (False, False)
    for stay, other in ((early, late), (late, early)):
        await house.act(stay, "move", room_id=await house.room(status="dirty"))
        moved = (await house.act(stay, "move", room_id=stay["roomId"])).data
        assert (moved["isRoomChosen"], moved["roomId"]) == (True, stay["roomId"])
        assert other["roomId"] != moved["roomId"]
    for room in (await house.api.get(f"{HOTEL}/rooms", status=200)).data:
        if room["status"] == "dirty":
            await house.api.delete(f"{HOTEL}/rooms/{room['id']}", status=200)
    assert await free(house, 2, 5) == 0
    assert (await house.api.post(STAYS, house.stay(2, 5))).status == 400
    chosen = await house.book(3, 4, room_id=early["roomId"])
    assert chosen["isRoomChosen"] is True
    named = await house.api.post(STAYS, house.stay(2, 3, room_id=early["roomId"]), status=400)
    assert "is not free from" in named.json["message"]


async def test_a_guest_in_the_house_keeps_the_room(house: House) -> None:
    """The one who is expected gives way; a guest who is here gets a room that is clean."""
    here = await house.book(0, 3, check_in=True)
    stay = await house.book(1, 2)
    assert (await house.api.post(STAYS, house.stay(0, 4))).status == 400
    await house.act(stay, "cancel")
    late = await house.book(3, 5)
    assert late["roomId"] == here["roomId"]
    other = await house.book(0, 1)
    between = await house.book(4, 6, room_id=other["roomId"])
    assert await free(house, 1, 4) == 1
    assert (await house.book(1, 4))["roomId"] == between["roomId"]
    assert (await house.read(here)) == here


async def test_a_walk_in_makes_room(business: Business) -> None:
    """Only where it can be a clean room that nobody is in."""
    house = await House.open(business)
    dirty = await house.room(status="dirty")
    expected = await house.book(0, 2)
    blocked = await house.book(2, 4, room_id=dirty)
    assert expected["roomId"] != dirty
    new = await house.book(0, 1, check_in=True)
    assert new["roomId"] == expected["roomId"]
    assert (await house.read(expected))["roomId"] == dirty
    assert (await house.read(blocked))["roomId"] == dirty
    assert (await house.api.post(STAYS, house.stay(0, 1, check_in=True))).status == 400


async def test_a_group_makes_room(house: House) -> None:
    """Also by rooms of its own: the answer and the events tell where each is in the end."""
    rooms = [house.stay(1, 3), house.stay(1, 4), house.stay(4, 6), house.stay(3, 4)]
    made = await house.made("reservation-groups", reservations=rooms[:3])
    await house.act(made["reservations"][1], "cancel")
    group = await house.made(
        "reservation-groups", reservations=[house.stay(3, 4), house.stay(2, 5)]
    )
    for stay in group["reservations"]:
        assert await house.read(stay) == stay


async def test_the_last_room_that_can_be_made_free_is_booked_once(house: House) -> None:
    """Of fifty at once."""
    await corner(house)
    bodies = [house.stay(2, 5) for _ in range(50)]
    answers = await asyncio.gather(*(house.api.post(STAYS, body) for body in bodies))
    assert sorted(answer.status for answer in answers) == [201] + [400] * 49
    assert len(await house.told("reservation.created")) == 4


async def test_a_booking_against_steps_of_the_stay_in_its_way(house: House) -> None:
    """In either order nobody shares a room, and each answer is the stay as it is."""
    for verb, body in (
        ("check-in", {}), ("cancel", {}), ("no-show", {}), ("check-in", {}), ("cancel", {}),
    ):  # fmt: skip
        first = await house.book(0, 2)
        between = await house.book(0, 3)
        late = await house.book(3, 5)
        await house.act(between, "cancel")
        assert first["roomId"] != late["roomId"]
        steps = [house.act(first, verb, **body) for _ in range(10)]
        bookings = [house.api.post(STAYS, house.stay(1, 4)) for _ in range(10)]
        answers = await asyncio.gather(
            *(one for pair in zip(steps, bookings, strict=True) for one in pair)
        )
        done = [answer for answer in answers[::2] if answer.status == 200]
        made = [answer for answer in answers[1::2] if answer.status == 201]
        assert {answer.status for answer in answers} <= {200, 201, 400}
        assert (len(done), len(made)) == (1, 1)
        assert (await house.read(first))["roomId"] == done[0].data["roomId"]
        stays = [made[0].data, await house.read(late)]
        for stay in stays:
            await house.act(stay, "cancel")
        if verb == "check-in":
            assert (await house.act(first, "check-out", leave_as_debt=True)).status == 200
            path = f"{HOTEL}/rooms/{done[0].data['roomId']}"
            await house.api.patch(path, {"status": "clean"}, status=200)


@pytest.mark.parametrize("seed", range(5))
async def test_availability_tells_what_can_be_booked(business: Business, seed: int) -> None:
    """One free room or more: the booking is made; none: it is refused."""
    rng = random.Random(seed)  # noqa: S311 - the same draws every time
    house = await House.open(business, rooms=rng.randrange(2, 5))
    rooms = [one["id"] for one in (await house.api.get(f"{HOTEL}/rooms", status=200)).data]
    stays: list[Body] = []
    seen: set[bool] = set()
    for _ in range(40):
        begins = rng.randrange(8)
        ends = begins + rng.randrange(1, 5)
        count = await free(house, begins, ends)
        if rng.random() < 0.2:
            await house.api.post(STAYS, house.stay(begins, ends, room_id=rng.choice(rooms)))
            continue
        answer = await house.api.post(STAYS, house.stay(begins, ends))
        assert answer.status == (201 if count else 400), (count, answer)
        seen.add(bool(count))
        if answer.status == 201:
            assert await free(house, begins, ends) <= count
            stays.append(answer.data)
        elif stays and rng.random() < 0.5:
            await house.act(
                stays.pop(rng.randrange(len(stays))), rng.choice(["cancel", "check-in"])
            )
    assert seen == {True, False}
