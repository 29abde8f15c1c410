"""The life of a worker: rounds, rests, a heartbeat, and a clean end."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

import structlog

from tillhouse.db.connecting import DATABASE_HEALTH, FAILURES
from tillhouse.kit.errors import Unavailable
from tillhouse.kit.ids import CHANCE

# A round that is under way when the worker is stopped may take so long to end, and so long again
# when it is cut off.
DRAIN_S = 5.0
CUT_OFF_S = 1.0
# No round takes so long: its statements end within seconds, and calls outside run beside it.
STUCK_S = 120.0
WATCH_EVERY_S = 1.0
# After a failed round the worker rests this long, twice as long after each further one, and no
# longer than that: a database that comes back is noticed within seconds.
BACKOFF_S = 0.5
BACKOFF_MAX_S = 5.0
_TROUBLE = (*FAILURES, Unavailable)

Round = Callable[[], Awaitable[bool]]
Wait = Callable[[float], Awaitable[None]]

log = structlog.get_logger()


class Worker:
    """Repeats one kind of round in this process until it is stopped.

    A round returns whether there is more to do: then the next one follows at once. Otherwise the
    worker rests until `wait` returns, which a notification ends early. A round that fails is
    logged, and the rest after it is longer each time; it never ends the worker.
    """

    def __init__(  # noqa: PLR0913 - one argument a trait
        self,
        name: str,
        do_round: Round,
        *,
        poll_s: float,
        wait: Wait = asyncio.sleep,
        drain_s: float = DRAIN_S,
        under_way: Collection[asyncio.Task[None]] = (),
        stuck_s: float = STUCK_S,
    ) -> None:
        self.name = name
        self._do_round = do_round
        self._poll_s = poll_s
        self._wait = wait
        self._drain_s = drain_s
        # Tasks that rounds have begun and don't wait for.
        self._under_way = under_way
        self._task: asyncio.Task[None] | None = None
        self._stuck_s = stuck_s
        self._is_stopping = False
        self._is_resting = False
        # When the round that is under way began.
        self._began_s: float | None = None
        self._failures = 0
        self._completed_s = time.monotonic()

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._task is not None and not self._task.done()

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to stop: a round that has only waited so far begins nothing."""
        return self._is_stopping

    @property
    def age_s(self) -> float:
        """The heartbeat: how long ago the last round completed."""
        return time.monotonic() - self._completed_s

    @property
    def is_stuck(self) -> bool:
        """Whether its round takes longer than any round does."""
        began_s = self._began_s
        return began_s is not None and time.monotonic() - began_s > self._stuck_s

    def start(self) -> None:
        """Begin with a round."""
        self._completed_s = time.monotonic()
        self._began_s = None
        self._task = asyncio.create_task(self._run(), name=f"worker {self.name}")

    def replace(self) -> None:
        """Give up the round that is stuck, whether or not it can be cancelled; begin anew."""
        if self._task is None or self._is_stopping:
            return
        log.error("worker_stuck", worker=self.name, after_s=self._stuck_s)
        self._task.cancel()
        self.start()

    async def stop(self) -> None:
        """Finish the round under way, within the time for it; begin no other."""
        self._is_stopping = True
        ends_s = time.monotonic() + self._drain_s
        if self._task is not None:
            if self._is_resting:
                self._task.cancel()
            await self._end({self._task}, ends_s)
        await self._end(set(self._under_way), ends_s)

    async def _end(self, tasks: set[asyncio.Task[None]], ends_s: float) -> None:
        if not tasks:
            return
        _, pending = await asyncio.wait(tasks, timeout=max(0.0, ends_s - time.monotonic()))
        for task in pending:
            log.warning("worker_cut_off", worker=self.name, after_s=self._drain_s)
            task.cancel()
        if pending:
            await asyncio.wait(pending, timeout=CUT_OFF_S)

    async def _run(self) -> None:
        this = asyncio.current_task()
        # One that was replaced begins nothing more, should its round end after all.
        while not self._is_stopping and self._task is this:
            self._began_s = time.monotonic()
            try:
                has_more = await self._do_round()
            except Exception as error:  # noqa: BLE001 - no other code restarts it
                if self._task is not this:
                    return
                self._began_s = None
                again_s = self._note_failure(error)
                if not self._is_stopping:
                    await self._rest(asyncio.sleep, again_s)
                continue
            if self._task is not this:
                return
            self._failures = 0
            self._began_s = None
            self._completed_s = time.monotonic()
            if has_more:
                # A backlog leaves room for the rest of the process.
                await asyncio.sleep(0)
            elif not self._is_stopping:
                await self._rest(self._wait, self._poll_s)

    async def _rest(self, wait: Wait, seconds: float) -> None:
        self._is_resting = True
        try:
            await wait(seconds)
        finally:
            self._is_resting = False

    def _note_failure(self, error: Exception) -> float:
        """Log it; how long to rest."""
        again_s = min(BACKOFF_S * 2.0**self._failures, BACKOFF_MAX_S)
        # Processes that failed together come back one after another.
        again_s *= CHANCE.uniform(0.8, 1.2)
        self._failures += 1
        is_expected = isinstance(error, _TROUBLE)
        (log.debug if DATABASE_HEALTH.is_told(error) else log.warning)(
            "worker_round_failed",
            worker=self.name,
            error=type(error).__name__,
            message=str(error)[:200],
            failures=self._failures,
            again_s=round(again_s, 2),
            exc_info=None if is_expected else error,
        )
        return again_s


class Runs(Protocol):
    """A piece of background work, in this process until it is stopped."""

    def start(self) -> None:
        """Begin."""
        ...

    async def stop(self) -> None:
        """Finish the round under way, then end."""
        ...


@runtime_checkable
class HasRounds(Protocol):
    """Background work whose rounds can be watched."""

    @property
    def name(self) -> str:
        """Its name in logs and metrics."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        ...

    @property
    def age_s(self) -> float:
        """How long ago a round completed."""
        ...


@runtime_checkable
class HasCounts(Protocol):
    """Background work that counts its results."""

    def counted(self) -> Mapping[str, int]:
        """The counts by kind, since its start."""
        ...


class BackgroundWorkers:
    """The background work of one process."""

    def __init__(self) -> None:
        self._running: list[Runs] = []
        self._shown: list[HasRounds] = []
        self._watching: asyncio.Task[None] | None = None

    @property
    def running(self) -> Sequence[Runs]:
        """All that were started."""
        return self._running

    def start(self, *workers: Runs) -> None:
        """Start these, and keep them until all are stopped."""
        self.show(*(worker for worker in workers if isinstance(worker, HasRounds)))
        self._running += workers
        for worker in workers:
            worker.start()
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="watch over workers")

    def show(self, *workers: HasRounds) -> None:
        """Let these be seen; their owner starts and stops them, in an order of its own."""
        self._shown += workers

    async def stop(self) -> None:
        """Stop all at once: none begins anything while another one is still finishing."""
        if self._watching is not None:
            self._watching.cancel()
        await asyncio.gather(*(worker.stop() for worker in self._running))

    async def _watch(self) -> None:
        """Replace those that are stuck."""
        while True:
            await asyncio.sleep(WATCH_EVERY_S)
            for worker in self._shown:
                if isinstance(worker, Worker) and worker.is_stuck:
                    worker.replace()

    def counted(self) -> Mapping[str, int]:
        """Everything that they count."""
        found: Counter[str] = Counter()
        for worker in self._running:
            if isinstance(worker, HasCounts):
                found.update(worker.counted())
        return found

    def ages(self) -> dict[str, float]:
        """By name, how long ago each running worker completed a round."""
        return {worker.name: worker.age_s for worker in self._shown if worker.is_running}
