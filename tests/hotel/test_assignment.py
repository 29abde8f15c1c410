"""Rooms for stays whose days are given, held against all the ways that there are."""

import itertools
import random
from collections.abc import Sequence
from datetime import date, timedelta
from uuid import UUID

import pytest

from tillhouse.hotel.assignment.rules import (
    Assignment,
    Occupancy,
    WantedDays,
    assign,
    connected,
    most,
    near_max,
    stays_max,
)

DAY = date(2026, 3, 1)
DAYS = 8
DRAWS = 300


def on(day: int) -> date:
    """A day of the calendar of these tests."""
    return DAY + timedelta(days=day)


def drawn(rng: random.Random, rooms: Sequence[UUID], kept: float) -> list[Occupancy]:
    """Stays that share no room and night; some keep their rooms."""
    stays: list[Occupancy] = []
    for room_id in rooms:
        day = rng.randrange(3)
        while day < DAYS:
            until = day + rng.randrange(1, 4)
            if rng.random() < 0.8:
                stays.append(
                    Occupancy(
                        UUID(int=rng.getrandbits(128)), room_id, on(day), on(until),
                        rng.random() >= kept,
                    )
                )  # fmt: skip
            day = until + rng.randrange(3)
    return stays


def meet(one: Occupancy | WantedDays, other: Occupancy | WantedDays) -> bool:
    """Whether two stays share a night."""
    return one.since < other.until and other.since < one.until


def check(found: Assignment, stays: list[Occupancy], wanted: list[WantedDays]) -> None:
    """Nobody shares a room and a night, and those who keep their rooms have them."""
    assert found.moves.keys() <= {stay.id for stay in stays if stay.is_movable}
    placed: list[tuple[Occupancy | WantedDays, UUID]] = [
        (stay, found.moves.get(stay.id, stay.room_id)) for stay in stays
    ]
    placed += zip(wanted, found.rooms, strict=True)
    for (one, room), (other, another) in itertools.combinations(placed, 2):
        assert room != another or not meet(one, other)


def is_possible(rooms: Sequence[UUID], stays: list[Occupancy], wanted: list[WantedDays]) -> bool:
    """Whether there is any way, by trying all."""
    taken = [(stay, stay.room_id) for stay in stays if not stay.is_movable]
    items: list[Occupancy | WantedDays] = [*wanted, *(stay for stay in stays if stay.is_movable)]

    def place(index: int, placed: list[tuple[Occupancy | WantedDays, UUID]]) -> bool:
        if index == len(items):
            return True
        item = items[index]
        return any(
            place(index + 1, [*placed, (item, room_id)])
            for room_id in rooms
            if not any(room_id == room and meet(item, other) for other, room in placed)
        )

    return place(0, list(taken))


def overlap(stays: list[Occupancy], wanted: WantedDays) -> int:
    """The most rooms that are taken on one of the nights."""
    nights = (wanted.until - wanted.since).days
    return max(
        sum(stay.since <= day < stay.until for stay in stays)
        for day in (wanted.since + timedelta(days=number) for number in range(nights))
    )


def wanted_days(rng: random.Random) -> WantedDays:
    """Days that somebody asks for."""
    since = rng.randrange(DAYS)
    return WantedDays(on(since), on(since + rng.randrange(1, 6)))


@pytest.mark.parametrize("seed", range(4))
def test_where_none_keeps_its_room_all_rooms_can_be_had(seed: int) -> None:
    """As many as there are beside the fullest night."""
    rng = random.Random(seed)  # noqa: S311 - the same draws every time
    has_moves = False
    for _ in range(DRAWS):
        rooms = [UUID(int=number) for number in range(rng.randrange(1, 6))]
        stays, wanted = drawn(rng, rooms, 0), wanted_days(rng)
        free = len(rooms) - overlap(stays, wanted)
        assert most(rooms, stays, wanted, max(free, 1)) == free
        found = assign(rooms, stays, [wanted] * free)
        assert found is not None
        check(found, stays, [wanted] * free)
        has_moves |= bool(found.moves)
        assert assign(rooms, stays, [wanted] * (free + 1)) is None
    assert has_moves


@pytest.mark.parametrize("seed", range(4))
def test_stays_that_keep_their_rooms_have_them(seed: int) -> None:
    """A way that is found is right; of those that there are, nearly all are found."""
    rng = random.Random(seed)  # noqa: S311 - the same draws every time
    possible = found_of_them = 0
    for _ in range(DRAWS):
        rooms = [UUID(int=number) for number in range(rng.randrange(1, 4))]
        stays, wanted = drawn(rng, rooms, 0.4), wanted_days(rng)
        found = assign(rooms, stays, [wanted])
        if found is not None:
            check(found, stays, [wanted])
        is_there = is_possible(rooms, stays, [wanted])
        assert is_there or found is None
        possible += is_there
        found_of_them += found is not None
    assert 0 < found_of_them <= possible
    assert found_of_them >= 0.97 * possible


@pytest.mark.parametrize("seed", range(4))
def test_what_is_counted_can_be_had(seed: int) -> None:
    """One room or more where one is found, never more than there is a way for."""
    rng = random.Random(seed)  # noqa: S311 - the same draws every time
    counts: set[int] = set()
    for _ in range(DRAWS):
        rooms = [UUID(int=number) for number in range(rng.randrange(1, 5))]
        stays, wanted = drawn(rng, rooms, 0.3), wanted_days(rng)
        count = most(rooms, stays, wanted, len(rooms))
        assert bool(count) == (assign(rooms, stays, [wanted]) is not None)
        assert most(rooms, stays, wanted, 1) == min(count, 1)
        assert count <= 1 or is_possible(rooms, stays, [wanted] * count)
        counts.add(count)
    assert counts >= {0, 1, 2, 3}


@pytest.mark.parametrize("seed", range(4))
def test_stays_that_are_not_connected_are_left_alone(seed: int) -> None:
    """Connected are stays that meet the days, or one that does and may change rooms, and so on."""
    rng = random.Random(seed)  # noqa: S311 - the same draws every time
    left = 0
    for _ in range(DRAWS):
        rooms = [UUID(int=number) for number in range(rng.randrange(1, 4))]
        stays, wanted = drawn(rng, rooms, 0.4), wanted_days(rng)
        rng.shuffle(stays)
        reached: list[Occupancy | WantedDays] = [wanted]
        while more := [
            stay
            for stay in stays
            if stay.is_movable and stay not in reached and any(meet(stay, one) for one in reached)
        ]:
            reached += more
        near = [stay for stay in stays if any(meet(stay, one) for one in reached)]
        assert connected(stays, wanted.since, wanted.until) == near
        left += len(stays) - len(near)
    assert left > DRAWS


def test_wanting_more_rooms_than_there_are_changes_nothing() -> None:
    """Three want one room: one has it, and the gaps stay in their order for the stays."""
    rooms = [UUID(int=number) for number in range(3)]
    days = [(0, 2, 4, True), (0, 4, 8, False), (1, 3, 6, True), (1, 7, 11, False), (2, 5, 9, True)]
    stays = [
        Occupancy(UUID(int=9 + number), rooms[room], on(since), on(until), is_movable)
        for number, (room, since, until, is_movable) in enumerate(days)
    ]
    assert most(rooms, stays, WantedDays(on(3), on(4)), 3) == 1


def test_a_room_that_is_wanted_is_one_that_fits() -> None:
    """A guest who is here needs a room that is ready; nobody who needn't moves."""
    rooms = [UUID(int=number) for number in range(3)]
    stay = Occupancy(UUID(int=9), rooms[1], on(0), on(2), is_movable=True)
    wanted = WantedDays(on(0), on(3), frozenset({rooms[1]}))
    found = assign(rooms, [stay], [wanted])
    assert found is not None
    assert (found.rooms, found.moves) == ([rooms[1]], {stay.id: rooms[0]})
    assert assign(rooms, [stay], [WantedDays(on(0), on(3))]) == Assignment([rooms[0]], {})
    assert assign(rooms, [stay], [WantedDays(on(0), on(3), frozenset())]) is None


def test_the_work_is_bounded() -> None:
    """More stays than are looked at are no way: so many for each room, and fewer for many rooms."""
    counts = [stays_max(rooms) for rooms in (0, 1, 4, 20, 50, 100, 200, 2_000)]
    assert counts == [80, 80, 80, 400, 1_000, 2_000, 1_000, 100]
    assert [near_max(rooms) for rooms in (1, 10, 20, 200)] == [20, 30, 60, 100]
    room, most_stays = UUID(int=1), stays_max(1)
    stays = [
        Occupancy(UUID(int=number), room, on(number), on(number + 1), is_movable=True)
        for number in range(most_stays)
    ]
    wanted = [WantedDays(on(most_stays), on(most_stays + 1))]
    assert assign([room], stays, wanted) is not None
    assert assign([room], [*stays, stays[0]], wanted) is None
