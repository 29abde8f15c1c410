"""Finds rooms for stays whose days are given, where some stays keep theirs. Pure decisions.

Stays that may change rooms are taken in the order of their first days, and each gets a room that is
free until its end. Where no stay keeps its room this finds a way whenever there is one. Where some
do, it may miss one: what can be booked is what it finds, here and in the availability of rooms.
"""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from heapq import heappop, heappush
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple
from uuid import UUID

import msgspec

STAYS_MAX = 2_000
WORK_MAX = 200_000
"""Stays times rooms: a search looks at each room for each stay at worst."""
NEAR_MAX = 100
"""How many stays before the days, and after them, may change rooms for them."""


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


class _Item(NamedTuple):
    """A stay to find a room for, with what is the same in each attempt."""

    since: int
    until: int
    first: int
    """The first gap that is long enough; gaps are in the order of their ends."""
    own: int
    """The gap that the stay is in."""
    stay: Occupancy | Wanted


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
    return _Search(rooms, stays).assign(wanted)


def most(rooms: Sequence[UUID], stays: Sequence[Occupancy], wanted: Wanted, limit: int) -> int:
    """How many rooms can be had for the same days, at most `limit`.

    One or more where `assign` finds one, else none.
    """
    if len(stays) > stays_max(len(rooms)):
        return 0
    search = _Search(rooms, stays)
    limit = min(limit, search.count_gaps(wanted))
    if not limit or search.assign([wanted]) is None:
        return 0
    return max(1, search.count_most(wanted, limit)) if limit > 1 else 1


def connected(stays: Sequence[Occupancy], since: date, until: date) -> list[Occupancy]:
    """The stays that meet the days, directly or by others that may change rooms."""
    movable = [(stay.since, stay.until) for stay in stays if stay.is_movable]
    first, last = since, until
    for begins, ends in sorted(movable):
        if begins < last and ends > since:
            last = max(last, ends)
    for begins, ends in sorted(movable, key=itemgetter(1), reverse=True):
        if ends > first and begins < last:
            first = min(first, begins)
    return [stay for stay in stays if stay.since < last and stay.until > first]


class _Search:
    """Rooms and the stays in them, prepared for one attempt after another."""

    def __init__(self, rooms: Sequence[UUID], stays: Sequence[Occupancy]) -> None:
        kept = [stay for stay in stays if not stay.is_movable]
        self._gaps = sorted(_gaps(rooms, kept), key=lambda gap: gap.until)
        self._ends = [gap.until for gap in self._gaps]
        self._begins = sorted((gap.since, index) for index, gap in enumerate(self._gaps))
        gaps_of: defaultdict[UUID, list[tuple[int, int]]] = defaultdict(list)
        for since, index in self._begins:
            gaps_of[self._gaps[index].room_id].append((since, index))
        self._movable = [
            self._item(stay, gaps_of[stay.room_id]) for stay in stays if stay.is_movable
        ]

    def count_gaps(self, wanted: Wanted) -> int:
        """How many rooms nobody keeps on any of the days."""
        since, until = wanted.since.toordinal(), wanted.until.toordinal()
        return sum(gap.since <= since and gap.until >= until for gap in self._gaps)

    def assign(self, wanted: Sequence[Wanted]) -> Assignment | None:
        """A room for each who wants one; None: no way."""
        items = self._in_order(wanted)
        return self._attempt(items, keeps_rooms=True) or self._attempt(items, keeps_rooms=False)

    def count_most(self, wanted: Wanted, limit: int) -> int:
        """How many of so many have a room, where all others of them make way."""
        items = self._in_order([wanted] * limit)
        found = self._attempt(items, keeps_rooms=False, make_way=True)
        return len(found.rooms) if found else 0

    def _in_order(self, wanted: Sequence[Wanted]) -> list[_Item]:
        """By the first day; of the same day those that are wanted come first: they may be picky."""
        items = [self._item(one, ()) for one in wanted]
        return sorted([*items, *self._movable], key=itemgetter(0))

    def _item(self, stay: Occupancy | Wanted, gaps: Sequence[tuple[int, int]]) -> _Item:
        since, until = stay.since.toordinal(), stay.until.toordinal()
        before = bisect_right(gaps, (since, len(self._gaps)))
        own = gaps[before - 1][1] if before else -1
        return _Item(since, until, bisect_left(self._ends, until), own, stay)

    def _attempt(
        self, items: Sequence[_Item], *, keeps_rooms: bool, make_way: bool = False
    ) -> Assignment | None:
        """Give each a gap; with `make_way`, one that is wanted loses its gap to a stay without."""
        waiting, free = self._begins.copy(), list[int]()
        found: list[int] = []
        moves: dict[UUID, UUID] = {}
        for since, until, first, own, stay in items:
            while waiting and waiting[0][0] <= since:
                insort(free, heappop(waiting)[1])
            at = self._chosen(free, first, stay, own if keeps_rooms else -1)
            if at < len(free):
                index = free.pop(at)
            elif make_way and (at := bisect_left(found, first)) < len(found):
                index = found.pop(at)
            else:
                return None
            heappush(waiting, (until, index))
            if isinstance(stay, Wanted):
                found.append(index)
            elif (room_id := self._gaps[index].room_id) != stay.room_id:
                moves[stay.id] = room_id
        return Assignment([self._gaps[index].room_id for index in found], moves)

    def _chosen(self, free: Sequence[int], first: int, stay: Occupancy | Wanted, own: int) -> int:
        """Where in `free` the gap stands that a stay gets: its own, else the smallest that fits."""
        if own >= 0 and (at := bisect_left(free, own)) < len(free) and free[at] == own:
            return at
        at = bisect_left(free, first)
        if isinstance(stay, Wanted) and stay.rooms is not None:
            while at < len(free) and self._gaps[free[at]].room_id not in stay.rooms:
                at += 1
        return at


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
