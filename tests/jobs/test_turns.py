"""Turns of books: however much one has to do, the next one waits for a single turn of it."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.explaining import pages_read, plan_of
from tests.jobs.desk import Desk
from tests.waiting import ended, within
from tillhouse.db.pool import Db
from tillhouse.jobs import store
from tillhouse.jobs.kinds import Again, Job, Kind, LocalKind, OutsideKind, Retry
from tillhouse.jobs.runner import JobRunner
from tillhouse.jobs.turns import BookTurns, ReadyBook, Slots
from tillhouse.kit.clock import now

# In the order of their ids.
FLOOD, SHOP, INN, LAST = (UUID(int=n << 64) for n in (1, 2, 3, 4))


class Noted:
    """Kinds that note whose job was done, in the order in which they were."""

    def __init__(self) -> None:
        self.done: list[tuple[str, UUID]] = []

    def kind(self, name: str) -> LocalKind:
        """A local kind."""

        async def run(_db: Db, job: Job) -> bool:
            self.done.append((name, job.book_id))
            return False

        return LocalKind(name=name, run=run)


def runner(desk: Desk, *kinds: Kind) -> JobRunner:
    """Runs these kinds, as one process does."""
    return JobRunner(desk.pool, kinds, Counter())


async def flood(desk: Desk, kind: str, count: int, book_id: UUID = FLOOD) -> None:
    """A book queues so many jobs at once."""
    await desk.sql.execute(
        """
        INSERT INTO jobs (book_id, id, kind, subject_id, due_at, is_ready, created_at)
        SELECT $1, new_id(now()), $2, new_id(now()), now() - interval '1 min', true, now()
        FROM generate_series(1, $3)
        """,
        book_id,
        kind,
        count,
    )


async def test_books_take_turns(desk: Desk) -> None:
    """A job that is queued behind a flood of another book's is done after one turn of it."""
    noted = Noted()
    running = runner(desk, noted.kind("work"))
    await flood(desk, "work", 200)
    at = now()
    for _ in range(5):
        assert await running.begin_next(at)
    for book_id in (LAST, SHOP, INN):
        await desk.queue("work", book_id=book_id)
    at = now()
    for _ in range(5):
        assert await running.begin_next(at)
    assert Counter(noted.done[5:]) == {
        ("work", book_id): n for book_id, n in ((FLOOD, 2), (SHOP, 1), (INN, 1), (LAST, 1))
    }


async def test_many_jobs_of_several_books_are_done_evenly(desk: Desk) -> None:
    """After any number of turns, no book is more than one ahead of another that waits."""
    noted = Noted()
    running = runner(desk, noted.kind("work"), noted.kind("other"))
    for book_id in (FLOOD, SHOP, INN):
        await flood(desk, "work", 20, book_id)
        await flood(desk, "other", 20, book_id)
    at = now()
    for turn in range(1, 61):
        assert await running.begin_next(at)
        by_book = Counter(book_id for _, book_id in noted.done)
        by_kind = Counter(noted.done)
        assert max(by_book.values()) - min(by_book[each] for each in (FLOOD, SHOP, INN)) <= 1
        if turn % 6 == 0:
            assert len(set(by_kind.values())) == 1, "kinds of a book take turns as well"


async def test_each_process_gives_turns(desk: Desk) -> None:
    """Two processes on one queue: each job is done once, and the small book isn't behind."""
    noted = Noted()
    runners = [runner(desk, noted.kind("work")) for _ in range(2)]
    await flood(desk, "work", 30)
    await desk.queue("work", book_id=SHOP)
    at = now()
    for _ in range(2):
        await asyncio.gather(*(each.begin_next(at) for each in runners))
    assert ("work", SHOP) in noted.done
    await asyncio.gather(*(each.run_due(now()) for each in runners))
    assert Counter(noted.done) == {("work", FLOOD): 30, ("work", SHOP): 1}


async def test_a_job_stands_in_line_when_its_time_comes(desk: Desk) -> None:
    """It was queued for later: then it takes turns like all others."""
    noted = Noted()
    running = runner(desk, noted.kind("work"))
    await flood(desk, "work", 50)
    await desk.queue("work", book_id=SHOP, due_at=now() + timedelta(minutes=1))
    later = now() + timedelta(minutes=2)
    for _ in range(2):
        assert await running.begin_next(later)
    assert ("work", SHOP) in noted.done


class Hanging:
    """Somebody outside who hangs for one book and answers all others."""

    def __init__(self) -> None:
        self.asked: Counter[UUID] = Counter()
        self.may_answer = asyncio.Event()

    def kind(self, name: str, at_once: int) -> OutsideKind:
        """A kind that asks here."""

        async def begin(_db: Db, job: Job) -> Job:
            return job

        async def run(job: Job) -> None:
            self.asked[job.book_id] += 1
            if job.book_id == FLOOD:
                await self.may_answer.wait()

        async def record(_db: Db, _job: Job, _asked: Any, _came: Any) -> Again | None:
            return None

        return OutsideKind(
            name=name, begin=begin, run=run, record=record, at_once=at_once, retry=Retry()
        )


async def test_calls_that_hang_for_one_book_hold_no_other(desk: Desk) -> None:
    """They take half of the places at most; each other book is asked for at once."""
    hanging = Hanging()
    running = runner(desk, hanging.kind("ask", 8), hanging.kind("other", 8))
    await flood(desk, "ask", 1000)
    for _ in range(20):
        await running.begin_next(now())
    for book_id in (SHOP, INN, LAST):
        await desk.queue("ask", book_id=book_id)
    for _ in range(10):
        await running.begin_next(now())
    async with within():
        while len(hanging.asked) < 4:  # noqa: ASYNC110 - the tasks of the runner ask
            await asyncio.sleep(0.01)
    assert hanging.asked == {FLOOD: 4, SHOP: 1, INN: 1, LAST: 1}
    await desk.sql.execute("DELETE FROM jobs WHERE is_ready")
    hanging.may_answer.set()
    await ended(running.run_due(now()))


def test_the_last_places_are_for_books_that_have_none() -> None:
    """Two books with much to do leave a quarter of the places to others."""
    kind, slots = Hanging().kind("ask", 8), Slots()
    for book_id in (FLOOD, FLOOD, FLOOD, FLOOD):
        assert slots.has_room_for(kind, book_id)
        slots.take(kind, book_id)
    assert not slots.has_room_for(kind, FLOOD)
    assert slots.has_room_for(kind, SHOP)
    slots.take(kind, SHOP)
    slots.take(kind, SHOP)
    assert not slots.has_room_for(kind, SHOP)
    assert slots.has_room_for(kind, INN)
    slots.give_back(kind, FLOOD)
    assert slots.has_room_for(kind, FLOOD)


def test_no_book_is_passed_over() -> None:
    """Of more books than are read at once, each has its turn before any has a second one."""
    turns = BookTurns(["work", "other"])
    books = [UUID(int=n + 1) for n in range(50)]
    ready = {"work": books, "other": [books[3], books[40]]}
    for _ in range(3):
        served: list[UUID] = []
        while not served or not turns.is_at_start:
            found = [
                ReadyBook(kind, book_id)
                for kind, of_kind in ready.items()
                for book_id in [each for each in of_kind if each >= turns.cursor][:16]
            ]
            turns.fill(found)
            while turn := turns.next():
                served.append(turn.book_id)
        assert served == books


@pytest.mark.proof
async def test_a_turn_costs_the_same_in_a_long_line(desk: Desk) -> None:
    """A few pages of an index are read beside 100,000 jobs of another book."""
    await flood(desk, "work", 100_000)
    for book_id in (SHOP, INN):
        await desk.queue("work", book_id=book_id)
    await desk.sql.execute("ANALYZE jobs")
    async with desk.pool.transaction() as db:
        plans = [
            await plan_of(db, lambda d: store.list_ready(d, ["work", "x"], FLOOD, 16)),
            await plan_of(db, lambda d: store.lock_ready(d, FLOOD, ["x", "work"], now())),
            await plan_of(db, lambda d: store.find_next_due(d, ["work", "x"])),
        ]
    assert all(pages_read(plan) < 60 for plan in plans), [pages_read(plan) for plan in plans]
