"""Bookings, changes and moves with the connection cut at each of their statements."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from tests.api import Response
from tests.folios.lodge import Lodge
from tests.hotel.house import HOTEL, STAYS, day
from tests.make import Make
from tests.money.crashing import Crash, assert_cut, at_points
from tests.money.world import World, standing_idle

# Fewer would not be what these steps need.
STATEMENTS_MIN = 3

Body = dict[str, Any]
Ask = Callable[[], Awaitable[Response]]


@pytest.fixture
async def world(server_url: str) -> AsyncIterator[World]:
    """An application whose connections can be cut."""
    async with standing_idle(server_url) as opened:
        yield opened


async def _lodge(world: World) -> Lodge:
    make = Make(world.app, world.app.services)
    lodge = await Lodge.begin(await make.business(time_zone="UTC"), world.sql, rooms=0)
    await lodge.api.get("/v1/hotel/settings", status=200)
    return lodge


async def _cut(world: World, crash: Crash, ask: Ask) -> bool:
    """Ask for something that dies at a statement; whether there was such a statement."""
    async with world.proxy.dying(crash) as death:
        answer = await ask()
    assert death is not None
    assert death.is_dead or answer.status in (200, 201), answer
    assert not death.is_dead or answer.status == 503, answer
    return death.is_dead


@at_points
async def test_a_change_that_is_cut(world: World, is_after: bool, points: Sequence[int]) -> None:
    """Days, nights and sum are all old or all new; asked again, they are new."""
    lodge = await _lodge(world)
    hits = 0
    for number in points:
        stay = await lodge.book(1, 3, room_id=await lodge.room())
        body = {"check_out_date": day(5), "notes": "Late"}
        path = f"{STAYS}/{stay['id']}"
        is_cut = await _cut(
            world, Crash(number, is_after), lambda path=path, body=body: lodge.api.patch(path, body)
        )
        after = await lodge.read(stay)
        seen = (after["checkOutDate"], len(after["nights"]), after["totalAmount"], after["notes"])
        assert seen in ((day(3), 2, 200, None), (day(5), 4, 400, "Late"))
        again = (await lodge.api.patch(path, body, status=200)).data
        assert (again["checkOutDate"], again["totalAmount"]) == (day(5), 400)
        hits += is_cut
        if not is_cut:
            break
    assert_cut(points, hits, STATEMENTS_MIN)


@at_points
async def test_a_move_that_is_cut(world: World, is_after: bool, points: Sequence[int]) -> None:
    """The guest is in one room, the other one is empty, and the audit log tells of it once."""
    lodge = await _lodge(world)
    hits = 0
    for number in points:
        stay = await lodge.arrive(3, room_id=await lodge.room())
        to = await lodge.room()
        is_cut = await _cut(
            world, Crash(number, is_after),
            lambda stay=stay, to=to: lodge.act(stay, "move", room_id=to),
        )  # fmt: skip
        after = await lodge.read(stay)
        has_moved = after["roomId"] == to
        assert has_moved or after["roomId"] == stay["roomId"]
        assert (await lodge.room_of(stay))["status"] == ("dirty" if has_moved else "clean")
        assert await _moves(lodge, stay) == has_moved
        again = await lodge.act(stay, "move", room_id=to)
        assert again.status == (400 if has_moved else 200)
        assert await _moves(lodge, stay) == 1
        hits += is_cut
        if not is_cut:
            break
    assert_cut(points, hits, STATEMENTS_MIN)


@at_points
async def test_a_group_that_is_cut(world: World, is_after: bool, points: Sequence[int]) -> None:
    """All of its rooms are booked and told of, or none; asked again with its key, once."""
    lodge = await _lodge(world)
    hits = 0
    for number in points:
        rooms = [await lodge.room() for _ in range(3)]
        guest = {"name": "Bola", "phone_number": f"+23480311{number:05}"}
        stays = [lodge.stay(1, 3, room_id=room_id) for room_id in rooms]
        stays[1] = {**stays[1], "guest_id": None, "guest": guest}
        key = {"idempotency-key": f"group-{number}-{is_after}"}
        body = {"reservations": stays}

        def ask(body: Body = body, key: dict[str, str] = key) -> Awaitable[Response]:
            return lodge.api.post(f"{HOTEL}/reservation-groups", body, headers=key)

        is_cut = await _cut(world, Crash(number, is_after), ask)
        assert await _booked(lodge, rooms) in (0, 3)
        assert (await ask()).status == 201
        assert await _booked(lodge, rooms) == 3
        hits += is_cut
        if not is_cut:
            break
    assert (await lodge.events())["hotel.reservation.created"] == 3 * (hits + (not is_cut))
    assert_cut(points, hits, STATEMENTS_MIN)


async def _moves(lodge: Lodge, stay: Body) -> int:
    """How many moves of a stay the audit log tells of."""
    query = """
        SELECT count(*) FROM audit_events
        WHERE event_type = 'hotel_reservation.moved' AND metadata ->> 'reservation_id' = $1
    """
    return await lodge.sql.fetchval(query, stay["id"])


async def _booked(lodge: Lodge, rooms: list[str]) -> int:
    """How many of some rooms are booked."""
    query = "SELECT count(*) FROM hotel_reservations WHERE room_id = ANY($1::text[]::uuid[])"
    return await lodge.sql.fetchval(query, rooms)


@at_points
async def test_a_booking_that_makes_room_is_cut(
    world: World, is_after: bool, points: Sequence[int]
) -> None:
    """The others are moved and the room is booked, or neither; asked again, it is booked."""
    lodge = await _lodge(world)
    for _ in range(2):
        await lodge.room()
    hits = 0
    for number in points:
        early = await lodge.book(1, 3)
        between = await lodge.book(1, 4)
        late = await lodge.book(4, 6)
        await lodge.act(between, "cancel")
        assert early["roomId"] != late["roomId"]
        body, key = lodge.stay(2, 5), {"idempotency-key": f"booking-{number}-{is_after}"}

        def ask(body: Body = body, key: dict[str, str] = key) -> Awaitable[Response]:
            return lodge.api.post(STAYS, body, headers=key)

        is_cut = await _cut(world, Crash(number, is_after), ask)
        rooms = {(await lodge.read(stay))["roomId"] for stay in (early, late)}
        listed = (await lodge.api.get(f"{STAYS}?status=booked", status=200)).data
        assert (len(listed), len(rooms)) in ((2, 2), (3, 1))
        new = (await ask()).data
        assert new["roomId"] != (await lodge.read(early))["roomId"]
        for stay in (early, late, new):
            await lodge.act(stay, "cancel")
        hits += is_cut
        if not is_cut:
            break
    assert_cut(points, hits, STATEMENTS_MIN)
