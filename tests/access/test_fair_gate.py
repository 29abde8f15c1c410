"""Owners take turns at the gate, and what is held of a quota comes back."""

import asyncio
import contextlib

import pytest

from tests.waiting import ended, within
from tillhouse.access.fair_gate import (
    ACTIVE_S,
    HEAVY_BYTES,
    Activity,
    FairGate,
    FilesGate,
    StrangersGate,
    TooManyAtOnce,
)
from tillhouse.access.shares import Quota
from tillhouse.kit.errors import Limited, Missing, Unavailable

REFUSED_S = 0.1


class Visitors:
    """Tasks at a gate: who is inside, in the order of entering."""

    def __init__(self, gate: FairGate) -> None:
        self.gate = gate
        self.entered: list[str] = []
        self.inside: dict[str, list[asyncio.Event]] = {}
        self.tasks: list[asyncio.Task[None]] = []

    async def come(self, owner: str, count: int = 1) -> None:
        """So many tasks of an owner come to the gate."""
        for _ in range(count):
            self.tasks.append(asyncio.create_task(self._visit(owner)))
        await settle()

    async def go(self, owner: str) -> None:
        """The owner's first inside leaves."""
        self.inside[owner].pop(0).set()
        await settle()

    async def end(self) -> None:
        """Nobody is left, inside or outside."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _visit(self, owner: str) -> None:
        async with self.gate.turn(owner):
            self.entered.append(owner)
            leave = asyncio.Event()
            self.inside.setdefault(owner, []).append(leave)
            await leave.wait()


async def settle() -> None:
    """Every task that can go on has gone on."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_an_owner_alone_leaves_room_for_another() -> None:
    """Beside another, each has its part; those who wait are let in by turns."""
    gate = Visitors(FairGate(total=6, each=2, waiting_max=10))
    await gate.come("a", 8)
    assert gate.entered == ["a"] * 4
    await gate.come("b", 3)
    assert gate.entered == [*"aaaabb"]
    for _ in range(3):
        await gate.go("a")
    # Of four, two over the part: only the third that leaves makes room for the owner itself.
    assert gate.entered == [*"aaaabba"]
    await gate.go("b")
    assert gate.entered == [*"aaaabbab"]
    await gate.end()


async def test_many_owners_are_let_in_by_turns() -> None:
    """An owner that came first, with many, has one turn in each round."""
    gate = Visitors(FairGate(total=2, each=1, waiting_max=10))
    await gate.come("a", 5)
    await gate.come("b", 5)
    await gate.come("c", 5)
    assert gate.entered == ["a", "b"]
    for owner in "abacba":
        await gate.go(owner)
    assert gate.entered == [*"ababcabc"]
    await gate.end()


@pytest.mark.proof
async def test_an_owner_at_one_gate_is_beside_one_at_another() -> None:
    """Gates that share who is active give each owner its part, and all of it once it is alone."""
    activity = Activity()
    reads = Visitors(FairGate(total=5, each=2, kept=1, waiting_max=10, activity=activity))
    writes = Visitors(FairGate(total=5, each=2, waiting_max=10, activity=activity))
    await writes.come("b")
    await reads.come("a", 8)
    assert reads.entered == ["a"] * 2
    async with within():
        while not activity.is_alone("a"):
            activity.note("a")
            await asyncio.sleep(0)
    await reads.go("a")
    assert len(reads.inside["a"]) == 4
    await reads.end()
    await writes.end()


@pytest.mark.proof
async def test_an_owner_that_waits_in_silence_is_beside_one_that_asks() -> None:
    """Neither has the turns of one alone: not the one that waits, and not the one that asks."""
    activity = Activity()
    gate = Visitors(FairGate(total=6, each=2, waiting_max=10, activity=activity))
    await gate.come("a", 8)
    assert gate.entered == ["a"] * 4
    async with within():
        while not activity.is_alone("b"):
            activity.note("b")
            await asyncio.sleep(0)
    await gate.go("a")
    await gate.go("a")
    assert len(gate.inside["a"]) == 2
    await gate.come("b", 6)
    assert len(gate.inside["b"]) == 2
    await gate.end()


async def test_an_owner_that_gives_up_and_comes_again_has_one_turn_in_a_round() -> None:
    """Tasks that leave the queue take their owner's turn with them."""
    gate = Visitors(FairGate(total=1, each=1, waiting_max=10))
    await gate.come("b")
    for _ in range(5):
        await gate.come("a")
        gate.tasks[-1].cancel()
        await settle()
    await gate.come("a", 3)
    await gate.come("b", 3)
    for owner in "bababa":
        await gate.go(owner)
    assert gate.entered == [*"bababab"]
    await gate.end()


async def test_a_heavy_turn_counts_as_several() -> None:
    """Beside another owner only as many as together fit, and never more than the owner's part."""
    gate = FairGate(total=20, each=4, waiting_max=10)
    other = await gate.enter("b")
    first = await gate.enter("a", 3)
    second = await gate.enter("a")
    waiting = asyncio.create_task(gate.enter("a", 2))
    await settle()
    gate.leave(second)
    await settle()
    assert not waiting.done()
    gate.leave(first, 3)
    gate.leave(await ended(waiting), 2)
    async with gate.turn("a", 100):
        assert (await gate.enter("b")) is other


def gate_of_two(*, moved: int, by_other: int = 0) -> FairGate:
    """A gate with two active owners, a and b, that moved so many bytes."""
    activity = Activity()
    for owner, size in (("a", moved), ("b", by_other)):
        activity.note(owner)
        activity.move(owner, size)
    return FairGate(total=20, each=4, heavy=1, waiting_max=10, activity=activity)


@pytest.mark.parametrize(
    ("moved", "by_other", "turns"),
    [(9, 0, 1), (9, 1, 1), (9, 4, 4), (1, 0, 4)],
    ids=["alone with it", "much more", "about as much", "not much"],
)
async def test_an_owner_that_moves_more_than_others_has_fewer_turns(
    moved: int, by_other: int, turns: int
) -> None:
    """Not one that moves about as much as they do, nor one that moves little."""
    size = HEAVY_BYTES // 2
    gate = Visitors(gate_of_two(moved=moved * size, by_other=by_other * size))
    await gate.come("a", 6)
    assert gate.entered.count("a") == turns
    await gate.come("b", 6)
    assert gate.entered.count("b") == 4
    await gate.end()


@pytest.mark.proof
async def test_a_long_turn_of_such_an_owner_rests() -> None:
    """The next begins later by more than it took; another's begins at once."""
    gate = gate_of_two(moved=1000 * HEAVY_BYTES)
    began = asyncio.get_running_loop().time()
    gate.leave(await gate.enter("a"), took_s=0.2)
    following = asyncio.create_task(gate.enter("a"))
    await settle()
    assert not following.done()
    await gate.enter("b")
    await ended(following)
    assert asyncio.get_running_loop().time() - began > 0.2


def test_a_heavy_owner_stays_so_while_it_rests() -> None:
    """All of its requests wait then: their silence makes it neither light nor gone."""
    moments = [0.0]
    activity = Activity(clock=lambda: moments[-1])
    activity.note("a")
    activity.note("b")
    activity.move("a", 2 * HEAVY_BYTES)
    assert activity.is_heavy("a")
    for moment in (1.0, 2.0, 3.0, 4.0):
        moments.append(moment)
        activity.note("b")
        assert activity.is_heavy("a")
        assert not activity.is_heavy("b")
        assert not activity.is_alone("b")
    moments.append(ACTIVE_S + 1.0)
    activity.note("b")
    assert activity.is_alone("b")
    activity.note("a")
    assert not activity.is_heavy("a")


async def test_an_owner_alone_does_not_rest() -> None:
    """Nobody has anything of it."""
    activity = Activity()
    gate = FairGate(total=1, each=1, heavy=1, waiting_max=10, activity=activity)
    owner = await gate.enter("a")
    activity.move("a", 1000 * HEAVY_BYTES)
    gate.leave(owner, took_s=5.0)
    following = asyncio.create_task(gate.enter("a"))
    await settle()
    assert following.done()


async def test_files_of_a_heavy_owner_rest_and_those_of_others_do_not() -> None:
    """The only turn is another owner's at once; those who are no callers are not heavy."""
    activity = Activity()
    activity.note("a")
    activity.note("b")
    activity.move("a", 2 * HEAVY_BYTES)
    gate = FilesGate(waiting_max=10, callers=activity)
    began = asyncio.get_running_loop().time()
    gate.leave(await gate.enter("a"), took_s=0.1)
    following = asyncio.create_task(gate.enter("a"))
    await settle()
    assert not following.done()
    for name in ("b", "c", "b"):
        gate.leave(await gate.enter(name), took_s=0.1)
    assert not following.done()
    gate.leave(await ended(following))
    assert asyncio.get_running_loop().time() - began > 0.1


def gate_of_strangers(*callers: str) -> StrangersGate:
    """A gate with one turn for each network, while these callers are active."""
    activity = Activity()
    for name in callers:
        activity.note(name)
    return StrangersGate(total=2, each=1, waiting_max=1, callers=activity, refused_s=REFUSED_S)


async def test_a_refused_stranger_waits_before_it_is_heard_again() -> None:
    """Its own turn counts for longer; the gate has room for others at once."""
    gate = gate_of_strangers()
    began = asyncio.get_running_loop().time()
    with contextlib.suppress(Missing):
        async with gate.turn("a"):
            raise Missing
    following = asyncio.create_task(gate.enter("a"))
    await settle()
    assert not following.done()
    async with gate.turn("b"), gate.turn("c"):
        pass
    gate.leave(await ended(following))
    assert asyncio.get_running_loop().time() - began >= REFUSED_S


async def test_one_stranger_too_many_is_refused_as_late() -> None:
    """It would come again at once."""
    gate = gate_of_strangers()
    visitors = Visitors(gate)
    await visitors.come("a", 2)
    began = asyncio.get_running_loop().time()
    with pytest.raises(TooManyAtOnce):
        await gate.enter("a")
    assert asyncio.get_running_loop().time() - began >= REFUSED_S
    await visitors.end()


@pytest.mark.parametrize(("callers", "rests"), [((), False), (("c",), True)])
async def test_a_long_turn_of_a_stranger_rests_beside_callers(
    callers: tuple[str, ...], *, rests: bool
) -> None:
    """Whichever network asks next: while nobody is in, none waits."""
    gate = gate_of_strangers(*callers)
    first, second = await gate.enter("a"), await gate.enter("b")
    gate.leave(first, took_s=0.1)
    gate.leave(second, took_s=0.1)
    following = asyncio.create_task(gate.enter("d"))
    await settle()
    assert following.done() != rests
    gate.leave(await ended(following))


async def test_more_than_may_wait_are_refused() -> None:
    """The refusal says when to come again; nothing is taken by it."""
    gate = FairGate(total=2, each=1, waiting_max=3)
    visitors = Visitors(gate)
    await visitors.come("a", 4)
    with pytest.raises(TooManyAtOnce):
        await gate.enter("a")
    async with gate.turn("b"):
        pass
    await visitors.end()
    async with gate.turn("a"), gate.turn("b"):
        pass


async def test_a_turn_that_is_given_up_is_nobodys() -> None:
    """Tasks that are cancelled while they wait, and in the moment of their turn, keep nothing."""
    gate = FairGate(total=1, each=1, waiting_max=10)
    for late in (False, True):
        owner = await gate.enter("a")
        waiting = asyncio.create_task(gate.enter("a"))
        await settle()
        if late:
            gate.leave(owner)
            waiting.cancel()
        else:
            waiting.cancel()
            gate.leave(owner)
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
        again = await ended(gate.enter("b"))
        gate.leave(again)


def test_a_quota_is_kept_per_owner_and_in_all() -> None:
    """The amounts held come back; a refused one takes nothing."""
    quota = Quota(total=10, each=6, message="Too much.")
    with quota.hold("a") as first, quota.hold("b") as second:
        first.take(6)
        with pytest.raises(Limited, match="Too much"):
            first.take(1)
        second.take(4)
        with pytest.raises(Unavailable):
            second.take(1)
    with quota.hold("a") as first:
        first.take(6)
