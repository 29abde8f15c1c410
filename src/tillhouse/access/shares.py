"""The shares of one process: how much of it one business, key or network may have at once.

Work that can wait has its turn at a gate; quotas bound what can't: bytes of bodies and answers
under way, open streams.
"""

import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

from tillhouse.access.callers import KeyCaller, UserCaller
from tillhouse.access.fair_gate import Activity, FairGate, FilesGate, Name, StrangersGate
from tillhouse.kit.errors import Limited, Unavailable


class Quota:
    """`each` for one owner, `total` for all of them; more is refused."""

    def __init__(self, total: int, each: int, message: str) -> None:
        self._total = total
        self._each = each
        self._message = message
        self._held: dict[Name, int] = {}
        self._sum = 0

    def hold(self, owner: Name, amount: int = 0) -> "QuotaShare":
        """Begin to hold something for an owner."""
        held = QuotaShare(self, owner)
        held.take(amount)
        return held

    def check(self, owner: Name) -> None:
        """Refuse an owner who holds all that it may."""
        if self._held.get(owner, 0) >= self._each:
            raise Limited(1, self._message)
        if self._sum >= self._total:
            raise Unavailable(retry_after_s=1)

    def take(self, owner: Name, amount: int) -> None:
        """Take more for an owner, or refuse."""
        more = self._held.get(owner, 0) + amount
        if more > self._each:
            raise Limited(1, self._message)
        if self._sum + amount > self._total:
            raise Unavailable
        self.note(owner, amount)

    def note(self, owner: Name, amount: int) -> None:
        """Take more that is there already, however much it is."""
        self._held[owner] = self._held.get(owner, 0) + amount
        self._sum += amount

    def give_back(self, owner: Name, amount: int) -> None:
        """Return the taken amount."""
        self._sum -= amount
        left = self._held.get(owner, 0) - amount
        if left:
            self._held[owner] = left
        else:
            self._held.pop(owner, None)


class QuotaShare:
    """The part of a quota that one request holds."""

    __slots__ = ("_amount", "_owner", "_quota")

    def __init__(self, quota: Quota, owner: Name) -> None:
        self._quota = quota
        self._owner = owner
        self._amount = 0

    def take(self, amount: int) -> None:
        """Take more, or be refused."""
        if amount:
            self._quota.take(self._owner, amount)
            self._amount += amount

    def note(self, amount: int) -> None:
        """Take more that is there already."""
        self._quota.note(self._owner, amount)
        self._amount += amount

    def __enter__(self) -> Self:
        """Hold until the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give all of it back."""
        self.release()

    def release(self) -> None:
        """Give all of it back."""
        if self._amount:
            self._quota.give_back(self._owner, self._amount)
            self._amount = 0


MIB = 1024 * 1024
# Of a pool of the usual size.
READERS = 6
CONNECTIONS = 1000
# A body of so many bytes takes one turn more: an order of 100 lines as much as several of some.
BODY_BYTES_OF_TURN = 4096
# A larger one counts so many times when it is asked who is heavy: its lines take as much work as
# that many bytes that are read.
LARGE_BODY_TIMES = 32
# A network whose hook or page is refused waits so long for its next turn: a wrong address of one
# payer is no hardship for others behind the same router, and a flood asks seldom.
REFUSED_STRANGER_S = 0.5
STREAMS_MAX, STREAMS_OF_BUSINESS_MAX, STREAMS_OF_CALLER_MAX = 500, 60, 20
BODIES_MIB_MAX, BODIES_OF_OWNER_MIB_MAX = 128, 32
STRANGERS_MIB_MAX, STRANGERS_OF_NETWORK_MIB_MAX = 64, 16
ANSWERS_MIB_MAX, ANSWERS_OF_OWNER_MIB_MAX = 256, 32


def connections_max() -> int:
    """Half of the descriptors of this process; the rest is for files, the database and webhooks."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, soft // 2) if soft != resource.RLIM_INFINITY else 1 << 20


class Shares:
    """The gates and quotas of one process."""

    def __init__(self, readers: int = READERS, connections: int = CONNECTIONS) -> None:
        # Callers who are in, and the bytes that they moved.
        self.activity = activity = Activity()
        # A read takes a connection: one is left for the checks of keys, which come before turns.
        total = max(1, readers - 1)
        self.reads = FairGate(
            total=total,
            each=min(total, 4),
            kept=1,
            # Each takes a connection, and a core of the database.
            heavy=1,
            waiting_max=256,
            activity=activity,
        )
        # Statements that write are batched: alone, a business may have most of a process.
        # Beside others it has enough for some that wait for a lock, and for the rest.
        self.writes = FairGate(total=64, each=8, heavy=4, waiting_max=256, activity=activity)
        # Pages that anybody may open, and the hooks of providers: by networks, and apart, so that
        # no flood of one holds back the other. Callers who are in go first.
        self.pages = self._strangers(total=16, each=4)
        self.hooks = self._strangers(total=16, each=4)
        # Receipts wait for the printer, one at a time: a rest would say nothing of their cost.
        self.receipts = FairGate(total=32, each=4, waiting_max=64)
        # Bodies of strangers that are more than a hook usually has, while they are read and judged.
        self.large_hooks = self._strangers(total=16, each=2)
        # A file takes a fifth of a second of a single thread.
        self.files = FilesGate(waiting_max=12, callers=self.activity)
        self._bodies = _bodies(BODIES_MIB_MAX, BODIES_OF_OWNER_MIB_MAX)
        # Of those who have no key: they take no room of those who have.
        self._bodies_of_strangers = _bodies(STRANGERS_MIB_MAX, STRANGERS_OF_NETWORK_MIB_MAX)
        # Large answers, until they are taken. The last one may go beyond.
        self.answers = Quota(
            ANSWERS_MIB_MAX * MIB,
            ANSWERS_OF_OWNER_MIB_MAX * MIB,
            f"Answers of {ANSWERS_OF_OWNER_MIB_MAX} MiB wait for you to read them: do that first.",
        )
        # Streams keep their connections: half of them are for other requests.
        streams = min(STREAMS_MAX, connections // 2)
        self._streams_of_callers = Quota(
            streams, STREAMS_OF_CALLER_MAX, _too_many_streams("caller", STREAMS_OF_CALLER_MAX)
        )
        self._streams_of_businesses = Quota(
            streams,
            STREAMS_OF_BUSINESS_MAX,
            _too_many_streams("business", STREAMS_OF_BUSINESS_MAX),
        )

    def _strangers(self, *, total: int, each: int) -> FairGate:
        """A gate of those who have no key, by networks."""
        return StrangersGate(
            total=total,
            each=each,
            waiting_max=64,
            callers=self.activity,
            refused_s=REFUSED_STRANGER_S,
        )

    @asynccontextmanager
    async def turn(self, owner: Name, size: int, *, is_read: bool) -> AsyncIterator[None]:
        """The turn of a request with a body of so many bytes; none while answers wait for it."""
        gate, cost = (self.reads, 1) if is_read else (self.writes, 1 + size // BODY_BYTES_OF_TURN)
        async with gate.turn(owner, cost):
            self.activity.move(owner, size * (LARGE_BODY_TIMES if cost > 1 else 1))
            self.answers.check(owner)
            yield

    def body(self, owner: Name, *, is_stranger: bool) -> QuotaShare:
        """The part of a quota that a body holds, to be taken as it comes."""
        return (self._bodies_of_strangers if is_stranger else self._bodies).hold(owner)

    def hold_stream(self, caller: KeyCaller | UserCaller) -> list[QuotaShare]:
        """One more stream of a caller and its business, or a refusal."""
        caller_id = caller.key_id if isinstance(caller, KeyCaller) else caller.session_id
        own = self._streams_of_callers.hold(caller_id, 1)
        try:
            return [own, self._streams_of_businesses.hold(caller.business_id, 1)]
        except BaseException:
            own.release()
            raise


def _too_many_streams(whose: str, most: int) -> str:
    return f"This {whose} has {most} streams open: close one, or follow several events in one."


def _bodies(total_mib: int, each_mib: int) -> Quota:
    message = f"Bodies of {each_mib} MiB are under way: send fewer at the same time."
    return Quota(total_mib * MIB, each_mib * MIB, message)
