"""Steps of one stay that come at once, at two processes: one outcome, and one event for it."""

import asyncio
from collections import Counter
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.api import Response
from tests.hotel.house import STAYS, House, day
from tests.make import Business

AT_ONCE = 20
ROUNDS = 3

Body = dict[str, Any]


@pytest.fixture
async def house(owned: Business) -> House:
    """A house with one room."""
    return await House.open(owned)


async def at_once(house: House, there: str, *steps: tuple[str, str, Body]) -> list[Response]:
    """The answers to twenty requests of each kind, half of them at each process."""
    other = house.api.at(there)
    calls = [
        (house.api if number % 2 else other).request(method, path, body)
        for number in range(AT_ONCE)
        for method, path, body in steps
    ]
    answers = list(await asyncio.gather(*calls))
    assert {answer.status for answer in answers} <= {200, 400}, answers
    return answers


def done(answers: list[Response], kinds: int, kind: int) -> int:
    """How many requests of one kind succeeded."""
    return sum(answer.status == 200 for answer in answers[kind::kinds])


def step(stay: Body, verb: str, **body: Any) -> tuple[str, str, Body]:
    """One step of a stay, as a request."""
    return "POST", f"{STAYS}/{stay['id']}/{verb}", body


async def told(sql: asyncpg.Connection, stay: Body) -> Counter[str]:
    """The events that tell of a stay, by what they tell."""
    rows = await sql.fetch(
        "SELECT type FROM webhook_events WHERE payload::jsonb #>> '{data,id}' = $1", stay["id"]
    )
    return Counter(row["type"].rpartition(".")[2] for row in rows)


async def moves(sql: asyncpg.Connection, house: House) -> int:
    """How many moves the audit log tells of."""
    query = "SELECT count(*) FROM audit_events WHERE business_id = $1 AND event_type = $2"
    return await sql.fetchval(query, UUID(house.business.id), "hotel_reservation.moved")


async def test_a_cancellation_against_a_check_in(
    house: House, there: str, sql: asyncpg.Connection
) -> None:
    """The guest is in the house or nobody is expected; never both."""
    for _ in range(ROUNDS):
        stay = await house.book(room_id=await house.room())
        answers = await at_once(house, there, step(stay, "check-in"), step(stay, "cancel"))
        arrived, cancelled = done(answers, 2, 0), done(answers, 2, 1)
        assert arrived + cancelled == 1
        wanted = "checked_in" if arrived else "cancelled"
        assert (await house.read(stay))["status"] == wanted
        assert await told(sql, stay) == {"created": 1, wanted: 1}
        assert (await house.room_of(stay))["reservationId"] == (stay["id"] if arrived else None)


async def test_a_move_against_a_check_in(house: House, there: str, sql: asyncpg.Connection) -> None:
    """The guest arrives once, and ends in the room of the move: clean before, or left dirty."""
    for _ in range(ROUNDS):
        before = await moves(sql, house)
        stay = await house.book(room_id=await house.room())
        to = await house.room()
        answers = await at_once(
            house, there, step(stay, "check-in"), step(stay, "move", room_id=to)
        )
        assert (done(answers, 2, 0), done(answers, 2, 1)) == (1, 1)
        after = await house.read(stay)
        assert (after["status"], after["roomId"]) == ("checked_in", to)
        assert (await house.room_of(after))["reservationId"] == stay["id"]
        assert (await house.room_of(stay))["reservationId"] is None
        assert await told(sql, stay) == {"created": 1, "checked_in": 1}
        assert await moves(sql, house) == before + 1


async def test_a_move_against_a_check_out(
    house: House, there: str, sql: asyncpg.Connection
) -> None:
    """The guest leaves once, out of either room, and each room that was slept in is dirty."""
    for _ in range(ROUNDS):
        before = await moves(sql, house)
        stay = await house.book(room_id=await house.room(), check_in=True)
        to = await house.room()
        leaving = step(stay, "check-out", leave_as_debt=True)
        answers = await at_once(house, there, step(stay, "move", room_id=to), leaving)
        moved = done(answers, 2, 0)
        assert (moved <= 1, done(answers, 2, 1)) == (True, 1)
        after = await house.read(stay)
        assert (after["status"], after["roomId"]) == (
            "checked_out", to if moved else stay["roomId"],
        )  # fmt: skip
        assert [(await house.room_of(one))["status"] for one in (stay, after)] == ["dirty"] * 2
        assert await told(sql, stay) == {"created": 1, "checked_in": 1, "checked_out": 1}
        assert await moves(sql, house) == before + moved


async def test_moves_into_one_room(house: House, there: str, sql: asyncpg.Connection) -> None:
    """Of two stays that want it at once one gets it, and the other stays where it is."""
    for is_here in (False, True, True):
        before = await moves(sql, house)
        stays = [await house.book(room_id=await house.room(), check_in=is_here) for _ in range(2)]
        to = await house.room()
        answers = await at_once(house, there, *(step(one, "move", room_id=to) for one in stays))
        assert sorted(done(answers, 2, kind) for kind in range(2)) == [0, 1]
        rooms = [(await house.read(one))["roomId"] for one in stays]
        kept = [one["roomId"] for one in stays]
        assert rooms in ([to, kept[1]], [kept[0], to])
        assert await moves(sql, house) == before + 1


async def test_other_days_against_bookings(
    house: House, there: str, sql: asyncpg.Connection
) -> None:
    """A stay that is extended and bookings of the nights after it: one has the room."""
    outcomes: Counter[str] = Counter()
    for _ in range(ROUNDS):
        room_id = await house.room()
        stay = await house.book(1, 3, room_id=room_id)
        new = house.stay(3, 5, room_id=room_id)
        longer = {"check_out_date": day(5)}
        other = house.api.at(there)
        answers = await asyncio.gather(
            *(house.api.patch(f"{STAYS}/{stay['id']}", longer) for _ in range(AT_ONCE)),
            *(other.post(STAYS, new) for _ in range(AT_ONCE)),
        )
        changed, made = answers[:AT_ONCE], answers[AT_ONCE:]
        assert {one.status for one in changed} in ({200}, {400})
        statuses = Counter(one.status for one in made)
        is_longer = changed[0].status == 200
        assert statuses == ({400: AT_ONCE} if is_longer else {201: 1, 400: AT_ONCE - 1})
        assert (await house.read(stay))["checkOutDate"] == day(5 if is_longer else 3)
        assert await told(sql, stay) == {"created": 1}
        outcomes["longer" if is_longer else "booked"] += 1
    assert outcomes.total() == ROUNDS
