"""Jobs: queued once, tried again, given up with a reason, and never overwritten by the late."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.jobs.desk import Desk
from tests.waiting import ended, within
from tillhouse.db.pool import Db
from tillhouse.jobs import store
from tillhouse.jobs.kinds import Again, Job, Kind, LocalKind, NewJob, OutsideKind, Retry
from tillhouse.jobs.runner import JobRunner, Results
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id

RETRY = Retry(attempts_max=3, base=timedelta(seconds=10), jitter=0.0)


async def _nothing(_db: Db, _job: Job) -> bool:
    return False


async def _raise(_db: Db, _job: Job) -> bool:
    raise LookupError("no\x00 such\nshelf")


def runner(desk: Desk, *kinds: Kind, results: Results | None = None) -> JobRunner:
    """Runs these kinds."""
    return JobRunner(desk.pool, kinds, results if results is not None else Counter())


class Outside:
    """Somebody outside, whose answers are held back until they are let go."""

    def __init__(self) -> None:
        self.asked: list[Job] = []
        self.answers: list[Again | Exception | None] = []
        self.late: list[str] = []
        self.reasons: list[str] = []
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    def kind(self, *, lease: timedelta = timedelta(seconds=60), at_once: int = 20) -> OutsideKind:
        """A job that asks here."""

        async def begin(_db: Db, job: Job) -> Job:
            return job

        async def ask(job: Job) -> Again | None:
            self.asked.append(job)
            self.is_asked.set()
            await self.may_answer.wait()
            answer = self.answers.pop(0) if self.answers else None
            if isinstance(answer, Exception):
                raise answer
            return answer

        async def record(db: Db, job: Job, _asked: Any, came: Again | None) -> Again | None:
            await _note(db, job, "recorded")
            return came

        async def record_late(_db: Db, _job: Job, _asked: Any, _came: Again | None) -> None:
            self.late.append("late")

        async def give_up(db: Db, job: Job, reason: str) -> None:
            self.reasons.append(reason)
            await _note(db, job, "given up")

        return OutsideKind(
            name="ask", begin=begin, run=ask, record=record, record_late=record_late,
            give_up=give_up, retry=RETRY, lease=lease, at_once=at_once,
        )  # fmt: skip


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait until it holds."""
    async with within():
        while not await condition():  # noqa: ASYNC110 - it is another's work
            await asyncio.sleep(0.01)


async def _note(db: Db, job: Job, what: str) -> None:
    await db.execute("INSERT INTO effects VALUES ($1, $2)", job.subject_id, what)


async def test_a_thing_is_queued_once(desk: Desk) -> None:
    """Until it is done; another key is another job, and what is done may be queued anew."""
    kind = LocalKind(name="once", run=_nothing)
    first = await desk.queue("once")
    await desk.queue("once", subject_id=first)
    await desk.queue("once", subject_id=first, key="other")
    assert await desk.sql.fetchval("SELECT count(*) FROM jobs") == 2
    results: Results = Counter()
    assert await runner(desk, kind, results=results).run_due(now()) == 2
    assert results == {("once", "done"): 2}
    await desk.queue("once", subject_id=first)
    assert await desk.find(first) is not None


async def test_what_was_rolled_back_was_never_queued(desk: Desk) -> None:
    """A job is queued in the transaction of what it is about."""
    db = desk.pool.writer()
    new = NewJob(book_id=desk.book_id, kind="once", subject_id=desk.book_id)
    await store.queue_job(db, new, now(), now())
    await db.rollback()
    assert await desk.find(desk.book_id) is None


async def test_a_job_that_always_raises_dies_with_its_reason(desk: Desk) -> None:
    """After so many attempts, each later than the last; others are done meanwhile."""
    bad, good = await desk.queue("bad"), await desk.queue("good")
    kinds = (
        LocalKind(name="bad", run=_raise, retry=RETRY),
        LocalKind(name="good", run=_nothing),
    )
    at = now()
    waits: list[float] = []
    for attempt in range(1, 4):
        await runner(desk, *kinds).run_due(at)
        row = await desk.find(bad)
        assert row is not None
        assert row.attempts == attempt
        assert row.reason == "LookupError: no such shelf"
        assert (row.dead_at is not None) == (attempt == 3)
        waits.append((row.due_at - now()).total_seconds())
        at = row.due_at
    assert await desk.find(good) is None
    assert [round(wait / 10) for wait in waits] == [1, 2, 4]
    await runner(desk, *kinds).run_due(at + timedelta(days=1))
    row = await desk.find(bad)
    assert row is not None
    assert row.attempts == 3, "the dead are left alone"


async def test_a_name_means_one_kind(desk: Desk) -> None:
    """Two rooms that call their jobs alike are told so at the start."""
    kind = LocalKind(name="twice", run=_nothing)
    with pytest.raises(ValueError, match="same name"):
        runner(desk, kind, kind)


async def test_what_died_may_be_queued_anew(desk: Desk) -> None:
    """With all its attempts before it."""
    subject_id = await desk.queue("bad")
    await desk.sql.execute("UPDATE jobs SET attempts = 3, dead_at = now(), reason = 'x'")
    await desk.queue("bad", subject_id=subject_id)
    row = await desk.find(subject_id)
    assert row is not None
    assert (row.attempts, row.dead_at, row.reason) == (0, None, None)


async def test_a_local_effect_goes_with_a_failure(desk: Desk) -> None:
    """All of its transaction is undone."""

    async def half(db: Db, job: Job) -> bool:
        await _note(db, job, "half")
        raise LookupError

    await desk.queue("half")
    await runner(desk, LocalKind(name="half", run=half, retry=RETRY)).run_due(now())
    assert await desk.effects() == {}


async def test_an_outside_that_asks_for_patience_is_asked_again(desk: Desk) -> None:
    """Later each time, and given up in the transaction in which the job dies."""
    outside = Outside()
    outside.answers = [Again("busy"), Again("busy"), Again("closed for good")]
    subject_id = await desk.queue("ask")
    at = now()
    for attempt in range(1, 4):
        await runner(desk, outside.kind()).run_due(at)
        row = await desk.find(subject_id)
        assert row is not None
        assert (row.attempts, row.is_leased) == (attempt, False)
        at = row.due_at + timedelta(milliseconds=1)
        assert (row.dead_at is not None) == (attempt == 3)
    assert outside.reasons == ["closed for good"]
    assert await desk.effects() == {(subject_id, "recorded"): 3, (subject_id, "given up"): 1}


@pytest.mark.parametrize("answer", [None, Again("late"), LookupError("late")], ids=str)
async def test_a_stale_worker_overwrites_nothing(
    desk: Desk, answer: Again | Exception | None
) -> None:
    """Its lease ended, another worker did the job: what it records is undone."""
    slow, quick = Outside(), Outside()
    slow.answers = [answer]
    slow.may_answer.clear()
    subject_id = await desk.queue("ask")
    late = asyncio.create_task(runner(desk, slow.kind()).run_due(now()))
    async with within():
        await slow.is_asked.wait()
    after_lease = now() + timedelta(seconds=61)
    quick.answers = [Again("busy")]
    assert await runner(desk, quick.kind()).begin_next(after_lease)

    async def is_recorded() -> bool:
        return (await desk.effects())[subject_id, "recorded"] == 1

    await until(is_recorded)
    assert [job.is_lapsed for job in quick.asked] == [True]
    before = await desk.find(subject_id)
    slow.may_answer.set()
    await ended(late)
    assert slow.late == ([] if isinstance(answer, Exception) else ["late"])
    assert await desk.find(subject_id) == before
    assert await desk.effects() == {(subject_id, "recorded"): 1}


async def test_workers_that_die_at_a_job_each_time_give_it_up(desk: Desk) -> None:
    """A lease that lapses is an attempt."""
    outside = Outside()
    subject_id = await desk.queue("ask")
    await desk.sql.execute("UPDATE jobs SET is_leased = true, attempts = 3, generation = 3")
    await runner(desk, outside.kind()).run_due(now())
    row = await desk.find(subject_id)
    assert row is not None
    assert row.dead_at is not None
    assert outside.asked == []
    assert outside.reasons == [row.reason]
    assert "died" in (row.reason or "")


async def test_asking_ends_before_the_lease_does(desk: Desk) -> None:
    """An outside that never answers costs one attempt, and nobody asks meanwhile."""
    outside = Outside()
    outside.may_answer.clear()
    subject_id = await desk.queue("ask")
    kind = outside.kind(lease=timedelta(milliseconds=100))
    await ended(runner(desk, kind).run_due(now()))
    row = await desk.find(subject_id)
    assert row is not None
    assert (row.attempts, row.is_leased, row.reason) == (1, False, "TimeoutError")


async def test_a_periodic_job_runs_once_in_its_time(desk: Desk) -> None:
    """It runs in any process; a failure puts it off and never ends it."""
    ran: list[int] = []

    async def run(_db: Db, _job: Job) -> bool:
        ran.append(len(ran))
        if len(ran) in (3, 4, 5, 6):
            raise LookupError
        return False

    kind = LocalKind(name="sweep", run=run, every=timedelta(hours=1), retry=RETRY)
    at = now()
    for _ in range(3):
        await runner(desk, kind).run_due(at)
    assert len(ran) == 1
    await runner(desk, kind).run_due(at + timedelta(hours=1, seconds=1))
    assert len(ran) == 2
    for hours in range(2, 7):
        await runner(desk, kind).run_due(at + timedelta(hours=hours, minutes=1))
    assert len(ran) >= 7
    assert await desk.sql.fetchval("SELECT dead_at FROM jobs WHERE kind = 'sweep'") is None


async def test_a_long_job_goes_in_steps(desk: Desk) -> None:
    """Each is a transaction of its own."""
    left = [3]

    async def step(db: Db, job: Job) -> bool:
        await _note(db, job, f"step {left[0]}")
        left[0] -= 1
        return left[0] > 0

    await desk.queue("long")
    assert await runner(desk, LocalKind(name="long", run=step)).run_due(now()) == 3
    assert len(await desk.effects()) == 3
    assert await desk.sql.fetchval("SELECT count(*) FROM jobs") == 0


async def test_one_kind_that_never_ends_holds_up_no_other(desk: Desk) -> None:
    """Kinds take turns, and an outside has so many jobs at once and no more."""
    outside = Outside()
    outside.may_answer.clear()
    for _ in range(5):
        await desk.queue("ask", book_id=new_id())
    other = await desk.queue("other")
    kinds = (outside.kind(at_once=2), LocalKind(name="other", run=_nothing))
    running = asyncio.create_task(runner(desk, *kinds).run_due(now()))

    async def is_done() -> bool:
        return await desk.find(other) is None and len(outside.asked) >= 2

    await until(is_done)
    assert len(outside.asked) == 2
    outside.may_answer.set()
    assert await ended(running) == 6


async def test_a_commit_wakes_the_worker(desk: Desk) -> None:
    """A job that is due at once waits for no poll."""
    done = asyncio.Event()

    async def run(_db: Db, _job: Job) -> bool:
        done.set()
        return False

    worker = runner(desk, LocalKind(name="woken", run=run)).worker("test", poll_s=3600)
    worker.start()

    async def is_resting() -> bool:
        return worker.age_s > 0.05

    await until(is_resting)
    await desk.queue("woken")
    async with within():
        await done.wait()
    await ended(worker.stop())


async def test_a_stop_lets_the_asking_end(desk: Desk) -> None:
    """The jobs under way are recorded; nothing else begins."""
    outside = Outside()
    outside.may_answer.clear()
    first = await desk.queue("ask")
    worker = runner(desk, outside.kind(at_once=1)).worker("test")
    worker.start()
    async with within():
        await outside.is_asked.wait()
    second = await desk.queue("ask")
    stopping = asyncio.create_task(worker.stop())
    await asyncio.sleep(0)
    outside.may_answer.set()
    await ended(stopping)
    assert await desk.find(first) is None
    assert await desk.find(second) is not None
    assert len(outside.asked) == 1


async def test_a_worker_outlives_handlers_that_raise(desk: Desk) -> None:
    """Every handler, at every step."""

    class Broken:
        """Raises where it is told to."""

        def __init__(self, where: str) -> None:
            self.where = where

        def at(self, step: str) -> None:
            if step == self.where:
                raise LookupError(step)

        async def begin(self, _db: Db, job: Job) -> Job:
            self.at("begin")
            return job

        async def run(self, _job: Job) -> None:
            self.at("run")

        async def record(self, _db: Db, _job: Job, _asked: Any, _came: None) -> Again | None:
            self.at("record")
            return None

    kinds: list[Kind] = [LocalKind(name="good", run=_nothing)]
    for where in ("begin", "run", "record"):
        broken = Broken(where)
        kinds.append(
            OutsideKind(
                name=where, begin=broken.begin, run=broken.run, record=broken.record, retry=RETRY
            )
        )
        await desk.queue(where)
    worker = runner(desk, *kinds).worker("test")
    worker.start()
    good = await desk.queue("good")

    async def is_done() -> bool:
        return await desk.find(good) is None and len(await _reasons(desk)) == 2

    await until(is_done)
    assert worker.is_running
    await ended(worker.stop())
    assert await _reasons(desk) == {"begin": "LookupError: begin", "run": "LookupError: run"}


async def _reasons(desk: Desk) -> dict[str, str]:
    rows = await desk.sql.fetch("SELECT kind, reason FROM jobs WHERE reason IS NOT NULL")
    return {row["kind"]: row["reason"] for row in rows}
