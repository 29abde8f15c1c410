"""The life of a worker: it rests, fails, goes on, and ends cleanly."""

import asyncio
import time

import pytest

from tests.waiting import ended, within
from tillhouse.db.notifier import Notifier
from tillhouse.jobs import worker as workers
from tillhouse.jobs.worker import BackgroundWorkers, Worker

# Far longer than a test may take: only a notifier, a backlog or a stop ends such a rest.
NEVER_S = 3600.0


class Rounds:
    """Rounds that are counted, and may be held open or made to fail."""

    def __init__(self, *, more: int = 0, failures: int = 0) -> None:
        self.begun = 0
        self.completed = 0
        self._more = more
        self._failures = failures
        self._gate = asyncio.Event()
        self._gate.set()
        self._changed = asyncio.Event()

    async def do(self) -> bool:
        """One round."""
        self.begun += 1
        self._changed.set()
        if self.begun <= self._failures:
            raise LookupError("nothing there")
        await self._gate.wait()
        self.completed += 1
        self._changed.set()
        return self.completed <= self._more

    def hold(self) -> None:
        """Let the next round take until `release`."""
        self._gate.clear()

    def release(self) -> None:
        """Let the round end that is held."""
        self._gate.set()

    async def until(self, *, begun: int = 0, completed: int = 0) -> None:
        """Wait for so many rounds."""
        async with within():
            while self.begun < begun or self.completed < completed:
                self._changed.clear()
                await self._changed.wait()


async def test_a_backlog_is_worked_off_without_a_rest() -> None:
    """As long as a round says that there is more, the next one follows at once."""
    rounds = Rounds(more=50)
    worker = Worker("test", rounds.do, poll_s=NEVER_S)
    worker.start()
    await rounds.until(completed=51)
    await ended(worker.stop())
    assert rounds.completed == 51


async def test_a_notification_ends_a_rest() -> None:
    """Work that is queued while the worker rests is looked at now."""
    notifier, rounds = Notifier(), Rounds()
    worker = Worker("test", rounds.do, poll_s=NEVER_S, wait=notifier.wait)
    worker.start()
    await rounds.until(completed=1)
    notifier.wake_here()
    await rounds.until(completed=2)
    await ended(worker.stop())


async def test_a_round_that_raises_ends_nothing() -> None:
    """The worker goes on after a rest; only a completed round counts as a heartbeat."""
    rounds = Rounds(failures=2)
    worker = Worker("test", rounds.do, poll_s=NEVER_S)
    began_s = time.monotonic()
    worker.start()
    await rounds.until(begun=2)
    assert worker.is_running
    assert worker.age_s >= workers.BACKOFF_S * 0.8, "no round has completed since the start"
    failed_s = time.monotonic()
    await rounds.until(completed=1)
    age_s = worker.age_s
    assert time.monotonic() - age_s > failed_s
    took_s = time.monotonic() - began_s
    assert took_s >= 3 * workers.BACKOFF_S * 0.8, "the second rest is twice as long"
    await ended(worker.stop())


async def test_a_stop_lets_the_round_under_way_end() -> None:
    """And begins no other, though there would be more to do."""
    rounds = Rounds(more=100)
    rounds.hold()
    worker = Worker("test", rounds.do, poll_s=NEVER_S)
    worker.start()
    await rounds.until(begun=1)
    stopping = asyncio.create_task(worker.stop())
    await asyncio.sleep(0)
    rounds.release()
    await ended(stopping)
    assert (rounds.begun, rounds.completed) == (1, 1)
    assert not worker.is_running


async def test_a_stop_waits_no_longer_than_its_time() -> None:
    """A round that hangs is cut off."""
    rounds = Rounds()
    rounds.hold()
    worker = Worker("test", rounds.do, poll_s=NEVER_S, drain_s=0.05)
    worker.start()
    await rounds.until(begun=1)
    await ended(worker.stop())
    assert (rounds.begun, rounds.completed) == (1, 0)
    assert not worker.is_running


@pytest.mark.parametrize("failures", [0, 1])
async def test_a_worker_that_rests_stops_at_once(failures: int) -> None:
    """After a good round and after a failed one."""
    rounds = Rounds(failures=failures)
    worker = Worker("test", rounds.do, poll_s=NEVER_S, drain_s=NEVER_S)
    worker.start()
    await rounds.until(begun=1)
    await ended(worker.stop())
    assert not worker.is_running
    await worker.stop()


async def test_all_are_stopped_together_and_seen_while_they_run() -> None:
    """A worker that hangs is told by the age of its last round, and holds up no other."""
    quick, stuck = Rounds(), Rounds()
    stuck.hold()
    group = BackgroundWorkers()
    group.start(
        Worker("quick", quick.do, poll_s=0.001),
        Worker("stuck", stuck.do, poll_s=0.001, drain_s=0.05),
    )
    await stuck.until(begun=1)
    await quick.until(completed=20)
    ages = group.ages()
    assert ages.keys() == {"quick", "stuck"}
    assert ages["stuck"] > ages["quick"]
    await ended(group.stop())
    assert group.ages() == {}


class Stuck:
    """Rounds of which the first never ends, not even when it is cancelled."""

    def __init__(self) -> None:
        self.begun = 0
        self.has_begun = asyncio.Event()
        self.has_gone_on = asyncio.Event()
        self.release = asyncio.Event()

    async def do(self) -> bool:
        """One round."""
        self.begun += 1
        self.has_begun.set()
        if self.begun > 1:
            self.has_gone_on.set()
            return False
        while not self.release.is_set():
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                continue
        return True


async def test_a_stuck_worker_is_replaced() -> None:
    """Whether or not its round can be cancelled; what it was stuck in begins nothing more."""
    stuck, workers = Stuck(), BackgroundWorkers()
    workers.start(Worker("test", stuck.do, poll_s=NEVER_S, stuck_s=0.05))
    try:
        async with within():
            await stuck.has_begun.wait()
        stuck_s = time.monotonic()
        async with within():
            await stuck.has_gone_on.wait()
        age_s = workers.ages()["test"]
        assert time.monotonic() - age_s > stuck_s, "it is as old as the round that went on"
    finally:
        stuck.release.set()
        await ended(workers.stop())
    assert stuck.begun == 2


async def test_a_stop_waits_for_no_worker_that_is_stuck() -> None:
    """A round that can't be cancelled is left behind."""
    stuck, workers = Stuck(), BackgroundWorkers()
    workers.start(Worker("test", stuck.do, poll_s=NEVER_S, drain_s=0.05))
    async with within():
        await stuck.has_begun.wait()
    await ended(workers.stop())
    assert not stuck.release.is_set()
    stuck.release.set()


async def test_a_worker_that_rests_is_not_stuck() -> None:
    """However long it has nothing to do."""
    rounds = Rounds()
    worker = Worker("test", rounds.do, poll_s=NEVER_S, stuck_s=0)
    worker.start()
    await rounds.until(completed=1)
    assert not worker.is_stuck
    await ended(worker.stop())
