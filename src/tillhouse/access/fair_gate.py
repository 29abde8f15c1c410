"""A gate at which owners (businesses, networks) take turns, so that none takes it all."""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from types import TracebackType
from uuid import UUID

import msgspec

from tillhouse.kit.errors import Limited, Problem, Unavailable

Name = UUID | str
"""An owner's name: the id of a business or of its key, or an address."""

# An owner that asked for nothing for so long is no longer active. One that rests asks for nothing.
ACTIVE_S = 5.0
# Strangers make way for callers who asked so lately.
_LATELY_S = 1.0
# Half of the bytes that an owner sent and got is forgotten in this time.
_HALF_LIFE_S = 1.0
# An owner with so many, and so many times those of the others on average, is heavy. Time would be a
# poor measure: beside a heavy owner everybody's requests take long.
HEAVY_BYTES, _HEAVY_TIMES = 2 * 1024 * 1024, 4.0
# It stays heavy for so long, or it would be as free as the others after each rest.
_HEAVY_S = 5.0
# Beside others, a heavy owner's turn rests so long at most, and not at all when it was so short.
_REST_MAX_S, _SHORT_S = 3.0, 0.01
# A turn that does not come for so long will not come in time.
TURN_WITHIN_S = 10.0


class TooManyAtOnce(
    Limited,
    message="Too many of your requests wait already: send fewer at the same time.",
):
    """An owner has its whole share, and as many waiting as may wait."""


class _Moved(msgspec.Struct):
    """Bytes that were moved, and are forgotten by and by."""

    size: float = 0.0
    at: float = 0.0

    def add(self, size: float, now: float) -> None:
        """Count more."""
        self.size = self.left(now) + size
        self.at = now

    def left(self, now: float) -> float:
        """The part that still counts."""
        return self.size * 0.5 ** ((now - self.at) / _HALF_LIFE_S)


class Activity:
    """The owners that asked a moment ago, at any of the gates that share it, and their bytes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # When each asked last, the latest at the end.
        self._seen: OrderedDict[Name, float] = OrderedDict()
        self._moved: dict[Name, _Moved] = {}
        self._total = _Moved()
        self._heavy_until: dict[Name, float] = {}

    def note(self, name: Name) -> None:
        """An owner asks for something."""
        now = self._clock()
        self._seen[name] = now
        self._seen.move_to_end(name)
        while (oldest := next(iter(self._seen))) != name and self._seen[oldest] < now - ACTIVE_S:
            del self._seen[oldest]
            self._moved.pop(oldest, None)
            self._heavy_until.pop(oldest, None)

    def move(self, name: Name, size: int) -> None:
        """An owner sent, or got, so many bytes."""
        if name in self._seen:
            now = self._clock()
            self._moved.setdefault(name, _Moved()).add(size, now)
            self._total.add(size, now)

    def is_heavy(self, name: Name) -> bool:
        """Whether this owner moves much more than the others that are active, or did lately."""
        moved, others = self._moved.get(name), len(self._seen) - 1
        if moved is None or others < 1:
            return False
        now = self._clock()
        own = moved.left(now)
        rest = max(0.0, self._total.left(now) - own)
        if own > HEAVY_BYTES and own > _HEAVY_TIMES * rest / others:
            self._heavy_until[name] = now + _HEAVY_S
        return now < self._heavy_until.get(name, 0.0)

    def is_alone(self, name: Name) -> bool:
        """Whether this owner asked, and no other."""
        return len(self._seen) == 1 and name in self._seen

    def is_any(self) -> bool:
        """Whether anybody asked lately."""
        if not self._seen:
            return False
        latest = next(reversed(self._seen.values()))
        return latest >= self._clock() - _LATELY_S


class _Owner(msgspec.Struct, eq=False):
    """One owner's turns."""

    name: Name
    held: int = 0
    # The weight with which each turn counts.
    waiting: deque[tuple[asyncio.Future[None], int]] = msgspec.field(default_factory=deque)


class FairGate:
    """Lets `total` through at once; `each` of one owner while another is active.

    A turn of a large request counts as several. Beside others, an owner that moves much more bytes
    than they do has `heavy` turns at once, each of which rests before the next. An owner alone has
    all but `kept`, which wait for the first turns of another. Owners that wait are let in round
    robin, each owner's own turns in the order of their arrival.
    """

    # How much longer a turn that ends with a refusal counts against its owner.
    _refused_s = 0.0
    # Whether a resting turn goes to no other owner: the whole process rests then.
    _is_idle_in_rests = True
    # A turn rests so many times as long as it took.
    _rest_times = 10.0

    def __init__(
        self,
        *,
        total: int,
        each: int,
        waiting_max: int,
        kept: int | None = None,
        heavy: int | None = None,
        activity: Activity | None = None,
    ) -> None:
        self._total = total
        self._each = each
        self._alone = max(each, total - (each if kept is None else kept))
        self._waiting_max = waiting_max
        self._heavy = heavy
        self._activity = activity or Activity()
        self._held = 0
        # Those that hold turns or wait.
        self._owners: dict[Name, _Owner] = {}
        self._round: deque[_Owner] = deque()

    def turn(self, name: Name, cost: int = 1) -> "_Turn":
        """A turn of an owner, to be held with `async with`."""
        return _Turn(self, name, min(cost, self._each))

    async def enter(self, name: Name, cost: int = 1) -> _Owner:
        """Wait for a turn; it must be given back with `leave`."""
        self._activity.note(name)
        owner = self._owners.get(name)
        if owner is None:
            owner = self._owners[name] = _Owner(name)
        if not owner.waiting and self._may(owner, cost):
            self._grant(owner, cost)
            return owner
        if len(owner.waiting) >= self._waiting_max:
            await asyncio.sleep(self._refused_s)
            raise TooManyAtOnce(retry_after_s=1)
        turn = asyncio.get_running_loop().create_future()
        if not owner.waiting:
            self._round.append(owner)
        owner.waiting.append((turn, cost))
        try:
            async with asyncio.timeout(TURN_WITHIN_S):
                await turn
        except BaseException as error:
            self._give_up(owner, turn, cost)
            if isinstance(error, TimeoutError):
                raise Unavailable(retry_after_s=1) from error
            raise
        return owner

    def leave(
        self, owner: _Owner, cost: int = 1, took_s: float = 0.0, *, is_refused: bool = False
    ) -> None:
        """Give a turn back, at once or after its rest."""
        self._activity.note(owner.name)
        rest_s = 0.0
        if took_s > _SHORT_S and self._must_rest(owner):
            rest_s = min(self._rest_times * took_s, _REST_MAX_S)
        own_rest_s = max(rest_s, self._refused_s if is_refused else 0.0)
        later = asyncio.get_running_loop().call_later
        if rest_s and self._is_idle_in_rests:
            later(rest_s, self._free, cost)
        else:
            self._held -= cost
        if own_rest_s:
            later(own_rest_s, self._give_back, owner, cost)
            self._let_in()
        else:
            self._give_back(owner, cost)

    def _must_rest(self, owner: _Owner) -> bool:
        return self._is_limited(owner)

    def _free(self, cost: int) -> None:
        """Return the turn's part of the gate."""
        self._held -= cost
        self._let_in()

    def _give_back(self, owner: _Owner, cost: int) -> None:
        """Return the turn's part of its owner's share."""
        owner.held -= cost
        self._let_in()
        self._forget(owner)

    def _let_in(self) -> None:
        """Let in those whose turn it is."""
        passed = 0
        while passed < len(self._round) and self._held < self._total:
            passed = 0 if self._let_in_next() else passed + 1

    def _let_in_next(self) -> bool:
        """Let in the first that waits of the owner whose turn it is, if it may."""
        owner = self._round.popleft()
        while owner.waiting and owner.waiting[0][0].done():
            owner.waiting.popleft()
        may = bool(owner.waiting) and self._may(owner, owner.waiting[0][1])
        if may:
            turn, cost = owner.waiting.popleft()
            self._grant(owner, cost)
            turn.set_result(None)
        if owner.waiting:
            self._round.append(owner)
        self._forget(owner)
        return may

    def _may(self, owner: _Owner, cost: int) -> bool:
        # An owner without a turn has one, whatever it counts.
        fits = owner.held == 0 or owner.held + cost <= self._most(owner)
        return fits and self._held < self._total

    def _most(self, owner: _Owner) -> int:
        # Alone, an owner leaves room for the first turn of another.
        if self._activity.is_alone(owner.name) and not self._is_another_waiting(owner):
            return self._alone
        return self._heavy if self._heavy and self._is_limited(owner) else self._each

    def _is_limited(self, owner: _Owner) -> bool:
        return self._heavy is not None and self._activity.is_heavy(owner.name)

    def _is_another_waiting(self, owner: _Owner) -> bool:
        # An owner stands once in the round.
        return any(other is not owner for other in self._round)

    def _grant(self, owner: _Owner, cost: int) -> None:
        self._activity.note(owner.name)
        owner.held += cost
        self._held += cost

    def _give_up(self, owner: _Owner, turn: asyncio.Future[None], cost: int) -> None:
        if turn.done() and not turn.cancelled():
            # The turn came in the same moment.
            self.leave(owner, cost)
        elif (turn, cost) in owner.waiting:
            owner.waiting.remove((turn, cost))
            if not owner.waiting:
                self._round.remove(owner)
                self._forget(owner)

    def _forget(self, owner: _Owner) -> None:
        if not owner.held and not owner.waiting:
            self._owners.pop(owner.name, None)


class StrangersGate(FairGate):
    """A gate of those who have no key, beside `callers` who have one.

    While any of these is active, every turn that is not short rests. A turn that ends with a
    refusal counts against its owner for `refused_s` more, and one too many is refused as late: a
    stranger that asks again as soon as it is answered asks seldom.
    """

    _rest_times = 5.0

    def __init__(
        self, *, total: int, each: int, waiting_max: int, callers: Activity, refused_s: float
    ) -> None:
        super().__init__(total=total, each=each, waiting_max=waiting_max)
        self._callers = callers
        self._refused_s = refused_s

    def _must_rest(self, owner: _Owner) -> bool:
        return self._callers.is_any()


class FilesGate(FairGate):
    """A gate with one turn, which rests for owners who are heavy among `callers`, and no others."""

    _is_idle_in_rests = False
    _rest_times = 6.0

    def __init__(self, *, waiting_max: int, callers: Activity) -> None:
        super().__init__(total=1, each=1, waiting_max=waiting_max)
        self._callers = callers

    def _must_rest(self, owner: _Owner) -> bool:
        return self._callers.is_heavy(owner.name)


class _Turn:
    """A turn of one owner, given back at the end of the block."""

    __slots__ = ("_began", "_cost", "_gate", "_name", "_owner")

    def __init__(self, gate: FairGate, name: Name, cost: int) -> None:
        self._gate = gate
        self._name = name
        self._cost = cost

    async def __aenter__(self) -> None:
        self._owner = await self._gate.enter(self._name, self._cost)
        self._began = time.monotonic()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        took_s = time.monotonic() - self._began
        is_refused = isinstance(error, Problem)
        self._gate.leave(self._owner, self._cost, took_s, is_refused=is_refused)
