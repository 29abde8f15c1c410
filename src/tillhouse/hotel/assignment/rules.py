"""Finds rooms for stays whose days are given, where some stays keep theirs. Pure decisions.

Stays that may change rooms are taken in the order of their first days, and each gets a room that is
free until its end. Where no stay keeps its room this finds a way whenever there is one. Where some
do, it may miss one: what can be booked is what it finds, here and in the availability of rooms.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby
from uuid import UUID

import msgspec

STAYS_MAX = 2_000
WORK_MAX = 200_000
"""Stays times rooms: a search looks at each room for each stay at worst."""


class Occupancy(msgspec.Struct, frozen=True):
    """A stay in a room; it may change rooms if it is booked and nobody chose its room."""

    id: UUID
    room_id: UUID
    since: date
    until: date
    is_movable: bool


class Wanted(msgspec.Struct, frozen=True):
    """Days for which a room is wanted, and the rooms that it may be; None: any."""

    since: date
    until: date
    rooms: frozenset[UUID] | None = None


class Assignment(msgspec.Struct, frozen=True):
    """The rooms that were found for those who want one, and the stays that change theirs."""

    rooms: list[UUID]
    moves: dict[UUID, UUID]


class _Gap(msgspec.Struct, frozen=True):
    """The days between two stays that keep a room."""

    room_id: UUID
    since: int
    until: int


_Item = tuple[int, int, Occupancy | Wanted]
_ALWAYS = date.max.toordinal()


def stays_max(rooms: int) -> int:
    """How many stays a search looks at; where there are more, it finds no way."""
    return min(STAYS_MAX, WORK_MAX // max(rooms, 1))


def assign(
    rooms: Sequence[UUID], stays: Sequence[Occupancy], wanted: Sequence[Wanted]
) -> Assignment | None:
    """A room for each who wants one, and other rooms for stays that are in the way; None: no way.

    Stays that needn't change rooms don't; only if that leads nowhere each stay goes where it
    leaves the smallest gap.
    """
    if len(stays) > stays_max(len(rooms)):
        return None
    return _assign(rooms, stays, wanted, keeps_rooms=True) or _assign(
        rooms, stays, wanted, keeps_rooms=False
    )


def most(rooms: Sequence[UUID], stays: Sequence[Occupancy], wanted: Wanted, limit: int) -> int:
    """How many rooms can be had for the same days, at most `limit`."""
    if assign(rooms, stays, [wanted]) is None:
        return 0
    found, refused = 1, limit + 1
    tried = limit
    while refused - found > 1:
        if assign(rooms, stays, [wanted] * tried) is None:
            refused = tried
        else:
            found = tried
        tried = (found + refused) // 2
    return found


def _assign(
    rooms: Sequence[UUID],
    stays: Sequence[Occupancy],
    wanted: Sequence[Wanted],
    *,
    keeps_rooms: bool,
) -> Assignment | None:
    kept = [stay for stay in stays if not stay.is_movable]
    gaps = sorted(_gaps(rooms, kept), key=lambda gap: gap.until)
    ends = [gap.until for gap in gaps]
    free_from = [gap.since for gap in gaps]
    found: list[UUID] = []
    moves: dict[UUID, UUID] = {}
    for since, until, item in _in_order(stays, wanted):
        long_enough = range(bisect_left(ends, until), len(gaps))
        free = {index: gaps[index].room_id for index in long_enough if free_from[index] <= since}
        index = _chosen(free, item, keeps_rooms=keeps_rooms)
        if index is None:
            return None
        free_from[index] = until
        room_id = gaps[index].room_id
        if isinstance(item, Wanted):
            found.append(room_id)
        elif room_id != item.room_id:
            moves[item.id] = room_id
    return Assignment(found, moves)


def _gaps(rooms: Iterable[UUID], kept: Iterable[Occupancy]) -> Iterator[_Gap]:
    """The days that rooms are free beside the stays that keep them."""
    in_order = sorted(kept, key=lambda stay: (stay.room_id, stay.since))
    taken = {room_id: [*stays] for room_id, stays in groupby(in_order, lambda stay: stay.room_id)}
    for room_id in rooms:
        free_from = 0
        for stay in taken.get(room_id, ()):
            yield _Gap(room_id, free_from, stay.since.toordinal())
            free_from = stay.until.toordinal()
        yield _Gap(room_id, free_from, _ALWAYS)


def _in_order(stays: Iterable[Occupancy], wanted: Iterable[Wanted]) -> list[_Item]:
    """By the first day; of the same day those that are wanted come first: they may be picky."""
    items: list[_Item] = [(one.since.toordinal(), one.until.toordinal(), one) for one in wanted]
    items += [
        (stay.since.toordinal(), stay.until.toordinal(), stay) for stay in stays if stay.is_movable
    ]
    return sorted(items, key=lambda item: item[0])


def _chosen(free: Mapping[int, UUID], item: Occupancy | Wanted, *, keeps_rooms: bool) -> int | None:
    """The gap that a stay gets: its own room's, else the one that ends first after it."""
    if isinstance(item, Wanted):
        fits = (index for index, room in free.items() if item.rooms is None or room in item.rooms)
        return next(fits, None)
    own = (index for index, room in free.items() if keeps_rooms and room == item.room_id)
    return next(own, next(iter(free), None))
