"""Lanes: works of a kind that wait at the same time go as one statement.

(Not those of the sender of webhooks, which are endpoints' own.)

A statement costs before its first row and after its last: its plan is set up and taken down, and
its commit reaches the disk. Who comes alone goes at once and alone. Who comes while others are
under way waits for them, and shares the next statement with all who wait by then.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

import asyncpg
import msgspec

from tillhouse.db.pool import Db, Pool
from tillhouse.kit.errors import Unavailable

T = TypeVar("T")
P = TypeVar("P", bound=Hashable)
R = TypeVar("R")

Work = Callable[[Db, P, Sequence[T]], Awaitable[R]]
"""One statement for all of the items, at a place that they have in common."""

# In one statement: so much that the costs are shared, and so little that nobody waits for long.
ITEMS_MAX = 16
WEIGHT_MAX = 200
# What a statement of several may say of one of them, and nothing was written.
_OWN_FAULTS = (
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.DataError,
    asyncpg.CharacterNotInRepertoireError,
)


class Apart(Exception):
    """Together it can't be had: each goes on alone, and hears whether it was its own fault."""


class Lanes:
    """The lanes of a process: one for each kind of work and place, while there is somebody."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._lanes: dict[Hashable, _Lane[Any, Any, Any]] = {}

    def __len__(self) -> int:
        return len(self._lanes)

    async def read(self, db: Db, work: Work[P, T, R], place: P, item: T, *, weight: int = 1) -> R:
        """Look up the item, by `Db.ahead`, in company: what was found for all.

        `db` is the handle of its own request. What has begun to write reads in its transaction.
        """
        if db.can_be_whole:
            # Whoever waited with a connection in hand would keep it from those under way.
            await db.release()
            with suppress(Apart):
                return await self._share(work, place, item, weight)
        return await work(db, place, [item])

    async def write(
        self, db: Db, work: Work[P, T, bool], place: P, item: T, *, weight: int = 1
    ) -> bool:
        """Write the item, by `Db.whole`, in company; `db` is the handle of its own request.

        False: it could not be had, or somebody in its company could not. Nothing was written then,
        and `db` is as it was. What any other error means for the item is as it is with `Db.whole`.
        """
        if not db.can_be_whole:
            raise RuntimeError("A transaction has begun, may go on, or is over.")
        await db.release()
        try:
            is_written = await self._share(work, place, item, weight)
        except Apart:
            return False
        if is_written:
            db.end()
        return is_written

    async def _share(self, work: Work[P, T, R], place: P, item: T, weight: int) -> R:
        key = (work, place)
        lane = self._lanes.get(key)
        if lane is None:
            lane = _Lane(self._pool, work, place, lambda: self._lanes.pop(key, None))
            self._lanes[key] = lane
        return await lane.carry(item, weight)


class _Waiting(msgspec.Struct, Generic[T, R], eq=False):
    item: T
    weight: int
    future: "asyncio.Future[R]"


class _Lane(Generic[P, T, R]):
    """Who waits for one kind of work at one place: one statement is under way at a time.

    A second one would find the rows locked that the first one holds.
    """

    def __init__(
        self, pool: Pool, work: Work[P, T, R], place: P, on_empty: Callable[[], object]
    ) -> None:
        self._pool = pool
        self._work = work
        self._place = place
        self._on_empty = on_empty
        self._waiting: deque[_Waiting[T, R]] = deque()
        self._trip: asyncio.Task[None] | None = None

    async def carry(self, item: T, weight: int) -> R:
        """Take the item along with the next statement."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(item, weight, future))
        if self._trip is None:
            self._start()
        return await future

    def _start(self) -> None:
        # Not a task of those who wait: one who gives up must not stop the others.
        self._trip = asyncio.get_running_loop().create_task(self._go())

    async def _go(self) -> None:
        """One statement after the other, while anybody waits.

        Who is told of one goes on when this task has to wait: by then the next one is sent.
        """
        try:
            while self._waiting:
                await self._carry(self._company())
        finally:
            self._trip = None
            if self._waiting:
                self._start()
            else:
                self._on_empty()

    async def _carry(self, company: "list[_Waiting[T, R]]") -> None:
        if not company:
            return
        try:
            result = await self._done([one.item for one in company])
        except Unavailable as error:
            # There is no connection to be had: nobody waits for the same once more.
            company += self._waiting
            self._waiting.clear()
            _fail(company, error)
        except asyncio.CancelledError:
            for one in company:
                one.future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - theirs to judge
            _fail(company, error)
        else:
            for one in company:
                if not one.future.done():
                    one.future.set_result(result)

    async def _done(self, items: Sequence[T]) -> R:
        db = self._pool.writer(is_brief=True, is_hasty=True)
        try:
            result = await self._work(db, self._place, items)
            await db.commit()
        except asyncpg.LockNotAvailableError as error:
            # Who goes on alone waits with more patience, and holds up nobody else.
            raise Apart from error
        except _OWN_FAULTS as error:
            if len(items) == 1:
                raise
            raise Apart from error
        finally:
            await db.rollback()
        return result

    def _company(self) -> list[_Waiting[T, R]]:
        """Who goes next: in the order in which they came, as many as one statement takes."""
        company: list[_Waiting[T, R]] = []
        weight = 0
        while self._waiting and len(company) < ITEMS_MAX:
            one = self._waiting[0]
            if company and weight + one.weight > WEIGHT_MAX:
                break
            self._waiting.popleft()
            if not one.future.done():
                company.append(one)
                weight += one.weight
        return company


def _fail(company: "list[_Waiting[T, R]]", error: Exception) -> None:
    for one in company:
        if not one.future.done():
            one.future.set_exception(error)
