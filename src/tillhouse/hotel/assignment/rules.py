"""Finds rooms for stays whose days are given, where some stays keep theirs. Pure decisions.

Stays that may change rooms are taken in the order of their first days, and each gets a room that is
free until its end. Where no stay keeps its room this finds a way whenever there is one. Where some
do, it may miss one: bookings and the availability of rooms go by the ways that it finds.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from heapq import heappop, heappush
from itertools import islice
from operator import itemgetter
from typing import NamedTuple
from uuid import UUID

import msgspec

STAYS_MAX = 2_000
WORK_MAX = 200_000
"""Stays times rooms: a search looks at each room for each stay at worst."""
_STAYS_OF_ROOM, _STAYS_OF_FEW_ROOMS = 20, 80
NEAR_MAX = 100
"""How many stays before the days, and after them, may change rooms for them."""
_NEAR_OF_ROOM, _NEAR_OF_FEW_ROOMS = 3, 20


class Occupancy(msgspec.Struct, frozen=True):
    """A stay in a room; it may change rooms if it is booked and its room wasn't chosen."""

    id: UUID
    room_id: UUID
    since: date
    until: date
    is_movable: bool


class RoomStays(msgspec.Struct, frozen=True):
    """The stays in one room: lists of one length, their days as numbers."""

    begins: Sequence[int] = ()
    ends: Sequence[int] = ()
    movable: Sequence[bool] = ()


class WantedDays(msgspec.Struct, frozen=True):
    """Days for which a room is wanted, and the rooms that it may be; None: any."""

    since: date
    until: date
    rooms: frozenset[UUID] | None = None


class Assignment(msgspec.Struct, frozen=True):
    """The rooms found for the bookings that want one, and the stays that change theirs."""

    rooms: list[UUID]
    moves: dict[UUID, UUID]


class _Asked(NamedTuple):
    """Days for which a room is wanted, and which of the rooms it may be; None: any."""

    since: int
    until: int
    rooms: frozenset[int] | None = None


class _Placed(NamedTuple):
    """The gaps, one bit each, that were found for those who want a room, and for each stay."""

    asked: list[int]
    stays: list[int]


# The first day of a stay, the day of departure, and which of the rooms it is in.
_Days = tuple[int, int, int]
# The first day, the last one, and the number of a stay; of one who wants a room a number below 0.
_Item = tuple[int, int, int]

_ALWAYS = date.max.toordinal()
_NEVER = -_ALWAYS
_FIRST_DAY, _LAST_DAY = itemgetter(0), itemgetter(1)


def stays_max(rooms: int) -> int:
    """How many stays a search looks at; where there are more, it finds no way."""
    of_rooms = max(_STAYS_OF_ROOM * rooms, _STAYS_OF_FEW_ROOMS)
    return min(STAYS_MAX, of_rooms, WORK_MAX // max(rooms, 1))


def near_max(rooms: int) -> int:
    """How many stays before and after the days are read, of a type with so many rooms."""
    return min(NEAR_MAX, max(_NEAR_OF_ROOM * rooms, _NEAR_OF_FEW_ROOMS))


def assign(
    rooms: Sequence[UUID],
    stays: Sequence[Occupancy],
    wanted: Sequence[WantedDays],
    limit: int | None = None,
) -> Assignment | None:
    """A room for each who wants one, and other rooms for stays that are in the way; None: no way.

    Stays that needn't change rooms don't; only if that leads nowhere each stay goes where it
    leaves the smallest gap, and at last as where `count_free` counts up to `limit` rooms.
    """
    if len(stays) > stays_max(len(rooms)):
        return None
    number = {room_id: index for index, room_id in enumerate(rooms)}
    days = [
        (stay.since.toordinal(), stay.until.toordinal(), number[stay.room_id]) for stay in stays
    ]
    own: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for (since, until, room), stay in zip(days, stays, strict=True):
        if not stay.is_movable:
            own[room].append((since, until))
    movable = sorted(
        ((since, stay) for since, stay in zip(days, stays, strict=True) if stay.is_movable),
        key=_FIRST_DAY,
    )
    asked = [
        _Asked(
            one.since.toordinal(),
            one.until.toordinal(),
            None if one.rooms is None else frozenset(number[room] for room in one.rooms),
        )
        for one in wanted
    ]
    search = _Search([own[room] for room in range(len(rooms))])
    found = search.find([days for days, _ in movable], asked, limit)
    if found is None:
        return None
    moves: dict[UUID, UUID] = {}
    for (days, stay), gap in zip(movable, found.stays, strict=True):
        if (room := search.room_of(gap)) != days[2]:
            moves[stay.id] = rooms[room]
    return Assignment([rooms[search.room_of(gap)] for gap in found.asked], moves)


def count_free(rooms: Sequence[RoomStays], since: int, until: int, limit: int) -> int:
    """How many rooms can be had for the same days, at most `limit`.

    One or more where `assign` finds one, else none. Only stays that are connected with the days
    take part.
    """
    movable = sorted(
        (begins, ends, number)
        for number, room in enumerate(rooms)
        for begins, ends, may_move in zip(room.begins, room.ends, room.movable, strict=True)
        if may_move
    )
    first, last = _reach(movable, since, until)
    movable = [stay for stay in movable if stay[0] < last and stay[1] > first]
    kept = [
        [
            (begins, ends)
            for begins, ends, may_move in zip(room.begins, room.ends, room.movable, strict=True)
            if not may_move and begins < last and ends > first
        ]
        for room in rooms
    ]
    if len(movable) + sum(map(len, kept)) > stays_max(len(rooms)):
        return 0
    search = _Search(kept)
    asked = _Asked(since, until)
    limit = min(limit, search.count_gaps(asked))
    if not limit:
        return 0
    if count := search.count(movable, asked, limit):
        return count
    return int(search.find(movable, [asked], limit) is not None)


def most(rooms: Sequence[UUID], stays: Sequence[Occupancy], wanted: WantedDays, limit: int) -> int:
    """The same count of stays by their rooms."""
    of_room: defaultdict[UUID, list[tuple[int, int, bool]]] = defaultdict(list)
    for stay in stays:
        days = stay.since.toordinal(), stay.until.toordinal(), stay.is_movable
        of_room[stay.room_id].append(days)
    in_rooms = [
        RoomStays(*map(list, zip(*of_room[room_id], strict=True)))
        if room_id in of_room
        else RoomStays()
        for room_id in rooms
    ]
    since, until = wanted.since.toordinal(), wanted.until.toordinal()
    return count_free(in_rooms, since, until, limit)


def connected(stays: Sequence[Occupancy], since: date, until: date) -> list[Occupancy]:
    """The stays that meet the days, directly or by others that may change rooms."""
    movable = sorted(
        (stay.since.toordinal(), stay.until.toordinal(), 0) for stay in stays if stay.is_movable
    )
    reach = _reach(movable, since.toordinal(), until.toordinal())
    first, last = map(date.fromordinal, reach)
    return [stay for stay in stays if stay.since < last and stay.until > first]


def _reach(movable: Sequence[_Days], since: int, until: int) -> tuple[int, int]:
    """The days as far as stays, in the order of their days, connect others that may move."""
    before = bisect_left(movable, since, key=_FIRST_DAY)
    within = bisect_left(movable, until, lo=before, key=_FIRST_DAY)
    first, last = since, max(map(_LAST_DAY, movable[:within]), default=until)
    last = max(last, until)
    for begins, ends, _ in islice(movable, within, None):
        if begins >= last:
            break
        last = max(last, ends)
    for begins, ends, _ in sorted(movable[:before], key=_LAST_DAY, reverse=True):
        if ends <= first:
            break
        first = min(first, begins)
    return first, last


class _Search:
    """Rooms with the stays that keep them, prepared for one attempt after another.

    The gaps between these stays are in the order of their ends, and a set of gaps is a number with
    one bit for each: the smallest gap that fits is its lowest bit from the first that is long
    enough.
    """

    def __init__(self, kept: Iterable[Sequence[tuple[int, int]]]) -> None:
        # End, beginning and room of each gap.
        gaps: list[tuple[int, int, int]] = []
        for room, stays in enumerate(kept):
            free_from = _NEVER
            for begins, ends in sorted(stays):
                gaps.append((begins, free_from, room))
                free_from = ends
            gaps.append((_ALWAYS, free_from, room))
        gaps.sort(key=_FIRST_DAY)
        self._gaps = gaps
        self._ends = [gap[0] for gap in gaps]
        self._begins: defaultdict[int, int] = defaultdict(int)
        for index, gap in enumerate(gaps):
            self._begins[gap[1]] |= 1 << index

    def room_of(self, gap: int) -> int:
        """Which of the rooms a gap is in."""
        return self._gaps[gap.bit_length() - 1][2]

    def count_gaps(self, asked: _Asked) -> int:
        """How many rooms no stay keeps on any of the days."""
        return sum(since <= asked.since and until >= asked.until for until, since, _ in self._gaps)

    def count(self, movable: Sequence[_Days], asked: _Asked, limit: int) -> int:
        """How many of so many have a room, where all others of them make way."""
        found = self._make_way(movable, asked, limit)
        return len(found.asked) if found else 0

    def find(
        self, movable: Sequence[_Days], asked: Sequence[_Asked], limit: int | None
    ) -> _Placed | None:
        """A gap for each who wants one; None: no way. Stays are in the order of their days."""
        items = _items(movable, asked)
        found = self._attempt(items, asked, self._own(movable)) or self._attempt(items, asked, ())
        if found is None and len(asked) == 1 and asked[0].rooms is None:
            most_free = self.count_gaps(asked[0])
            limit = most_free if limit is None else min(limit, most_free)
            found = self._make_way(movable, asked[0], limit)
            found = _Placed(found.asked[:1], found.stays) if found and found.asked else None
        return found

    def _own(self, movable: Sequence[_Days]) -> list[int]:
        """The gap that each stay is in."""
        of_room: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for index, (_, begins, room) in enumerate(self._gaps):
            of_room[room].append((begins, index))
        return [
            1 << of_room[room][bisect_right(of_room[room], (since, len(self._gaps))) - 1][1]
            for since, _, room in movable
        ]

    def _attempt(
        self, items: Sequence[_Item], asked: Sequence[_Asked], own: Sequence[int]
    ) -> _Placed | None:
        """Give each a gap: a stay its own, else the smallest that fits."""
        waiting, days = self._waiting()
        free, found, stays = 0, list[int](), [0] * (len(items) - len(asked))
        for since, until, number in items:
            while days[0] <= since:
                free |= waiting.pop(heappop(days))
            first = bisect_left(self._ends, until)
            fitting = free >> first << first
            if number < 0:
                fitting &= self._mask(asked[~number].rooms)
            elif own:
                fitting = free & own[number] or fitting
            if not fitting:
                return None
            gap = fitting & -fitting
            free ^= gap
            if number < 0:
                found.append(gap)
            else:
                stays[number] = gap
            if until not in waiting:
                heappush(days, until)
            waiting[until] |= gap
        return _Placed(found, stays)

    def _make_way(self, movable: Sequence[_Days], asked: _Asked, limit: int) -> _Placed | None:
        """Give so many a room for the same days, and each stay the smallest gap that fits.

        A stay that finds none takes one of theirs; the gaps that are left to them are free again
        at the end of these days.
        """
        if not limit:
            return None
        waiting, days = self._waiting()
        free = found = 0
        stays = list[int]()
        ends, leave = self._ends, asked.until
        for since, until, number in _items(movable, [asked]):
            while days[0] <= since:
                free |= waiting.pop(heappop(days))
            first = bisect_left(ends, until)
            fitting = free >> first << first
            if number < 0:
                found = sum(islice(_bits(fitting), limit))
                free ^= found
                if not found:
                    return None
                continue
            if since >= leave:
                free |= found
                fitting, leave = free >> first << first, _ALWAYS
            if fitting:
                gap = fitting & -fitting
                free ^= gap
            elif leave < _ALWAYS and (fitting := found >> first << first):
                gap = fitting & -fitting
                found ^= gap
            else:
                return None
            stays.append(gap)
            if until not in waiting:
                heappush(days, until)
            waiting[until] |= gap
        return _Placed([*_bits(found)], stays)

    def _waiting(self) -> tuple[defaultdict[int, int], list[int]]:
        """The gaps by the days from which they are free, and these days as a heap with an end."""
        return self._begins.copy(), sorted([*self._begins, _ALWAYS])

    def _mask(self, rooms: frozenset[int] | None) -> int:
        """The gaps of some rooms; None: of all."""
        if rooms is None:
            return -1
        return sum(1 << index for index, gap in enumerate(self._gaps) if gap[2] in rooms)


def _items(movable: Sequence[_Days], asked: Sequence[_Asked]) -> list[_Item]:
    """By the first day; of the same day those that are wanted come first: they may be picky."""
    items = [(one.since, one.until, ~number) for number, one in enumerate(asked)]
    items += [(since, until, number) for number, (since, until, _) in enumerate(movable)]
    items.sort(key=_FIRST_DAY)
    return items


def _bits(gaps: int) -> Iterator[int]:
    """The gaps of a set, in their order."""
    while gaps:
        yield (gap := gaps & -gaps)
        gaps ^= gap
