"""Statement batching: items that wait at the same time share one statement.

A statement costs before its first row and after its last: its plan is set up and taken down, and
its commit reaches the disk. An item that comes alone is sent at once. Items that come while a
statement of the same kind is under way wait for it, and share the next one.
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
K = TypeVar("K", bound=Hashable)
R = TypeVar("R")

Send = Callable[[Db, K, Sequence[T]], Awaitable[R]]
"""Sends one statement for all of the items; the batch key names their common part."""

# Per statement: enough to share its costs, few enough that no caller waits for long.
ITEMS_MAX = 16
WEIGHT_MAX = 200
# Errors that may concern one item of a batch only; nothing was written.
_ITEM_ERRORS = (
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.DataError,
    asyncpg.CharacterNotInRepertoireError,
)


class BatchRejected(Exception):
    """The batch failed: retry each item alone, so that each hears of its own faults only."""


class StatementBatcher:
    """The batches of one process: a queue per statement and batch key, while it has items."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._queues: dict[Hashable, _Queue[Any, Any, Any]] = {}

    async def read(self, db: Db, send: Send[K, T, R], key: K, item: T, *, weight: int = 1) -> R:
        """Look up the item, by `Db.read_before`, in a batch: the result is that of the batch.

        `db` is the handle of the item's request. Once it has begun to write, it reads in its own
        transaction.
        """
        if db.can_write_once:
            # A request that waits with a connection in hand keeps it from those under way.
            await db.release()
            with suppress(BatchRejected):
                return await self._share(send, key, item, weight)
        return await send(db, key, [item])

    async def write(
        self, db: Db, send: Send[K, T, bool], key: K, item: T, *, weight: int = 1
    ) -> bool:
        """Write the item, by `Db.write_once`, in a batch; `db` is the handle of its request.

        False: the batch was refused because of this item or another one. Nothing is written then,
        and `db` is as it was. Any other error has the meaning that it has of `write_once`.
        """
        if not db.can_write_once:
            raise RuntimeError("A transaction has begun, may go on, or is over.")
        await db.release()
        try:
            is_written = await self._share(send, key, item, weight)
        except BatchRejected:
            return False
        if is_written:
            db.end()
        return is_written

    async def _share(self, send: Send[K, T, R], key: K, item: T, weight: int) -> R:
        name = (send, key)
        queue = self._queues.get(name)
        if queue is None:
            queue = _Queue(self._pool, send, key, lambda: self._queues.pop(name, None))
            self._queues[name] = queue
        return await queue.submit(item, weight)


class _Waiting(msgspec.Struct, Generic[T, R], eq=False):
    item: T
    weight: int
    future: "asyncio.Future[R]"


class _Queue(Generic[K, T, R]):
    """The items that wait for one kind of statement: one statement is under way at a time.

    A second one would find the rows locked that the first one holds.
    """

    def __init__(
        self, pool: Pool, send: Send[K, T, R], key: K, on_empty: Callable[[], object]
    ) -> None:
        self._pool = pool
        self._send = send
        self._key = key
        self._on_empty = on_empty
        self._waiting: deque[_Waiting[T, R]] = deque()
        self._task: asyncio.Task[None] | None = None

    async def submit(self, item: T, weight: int) -> R:
        """Send the item with the next statement, and wait for the result."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(item, weight, future))
        if self._task is None:
            self._start()
        return await future

    def _start(self) -> None:
        # Not a task of the callers: one that is cancelled must not stop the others.
        self._task = asyncio.get_running_loop().create_task(self._drain())

    async def _drain(self) -> None:
        """Send batch after batch while items wait.

        Callers whose batch is done go on when this task next waits: by then the following batch
        is sent.
        """
        try:
            while self._waiting:
                await self._run(self._next_batch())
        finally:
            self._task = None
            if self._waiting:
                self._start()
            else:
                self._on_empty()

    async def _run(self, batch: "list[_Waiting[T, R]]") -> None:
        if not batch:
            return
        try:
            result = await self._sent([one.item for one in batch])
        except (Unavailable, TimeoutError) as error:
            # Nothing answers there: the items behind would only wait for the same.
            batch += self._waiting
            self._waiting.clear()
            _fail(batch, error)
        except asyncio.CancelledError:
            for one in batch:
                one.future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - each caller judges it
            _fail(batch, error)
        else:
            for one in batch:
                if not one.future.done():
                    one.future.set_result(result)

    async def _sent(self, items: Sequence[T]) -> R:
        db = self._pool.writer(commits_next=True, fails_fast=True)
        try:
            result = await self._send(db, self._key, items)
            await db.commit()
        except asyncpg.LockNotAvailableError as error:
            # Alone, an item may wait longer for a lock: it holds up no other item.
            raise BatchRejected from error
        except _ITEM_ERRORS as error:
            if len(items) == 1:
                raise
            raise BatchRejected from error
        finally:
            await db.rollback()
        return result

    def _next_batch(self) -> list[_Waiting[T, R]]:
        """The items to send next, in the order in which they came."""
        batch: list[_Waiting[T, R]] = []
        weight = 0
        while self._waiting and len(batch) < ITEMS_MAX:
            one = self._waiting[0]
            if batch and weight + one.weight > WEIGHT_MAX:
                break
            self._waiting.popleft()
            if not one.future.done():
                batch.append(one)
                weight += one.weight
        return batch


def _fail(batch: "list[_Waiting[T, R]]", error: Exception) -> None:
    for one in batch:
        if not one.future.done():
            one.future.set_exception(error)
