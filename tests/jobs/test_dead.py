"""Dead jobs: counted with their reasons, and deleted after their time."""

from datetime import timedelta

from tests.jobs.desk import Desk
from tests.jobs.test_runner import RETRY, runner
from tillhouse.db.pool import Db
from tillhouse.jobs import store
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now


async def test_the_dead_are_counted_and_forgotten(desk: Desk) -> None:
    """By kind, with the last reason; after their time they are gone."""
    for age in (1, 2, 40):
        subject_id = await desk.queue("bad")
        await desk.sql.execute(
            "UPDATE jobs SET dead_at = now() - make_interval(days => $2), reason = $3 "
            "WHERE subject_id = $1",
            subject_id, age, f"{age} days",
        )  # fmt: skip
    at = now()
    async with desk.pool.transaction() as db:
        (told,) = await store.list_dead(db, at - timedelta(days=30))
        assert (told["kind"], told["count"], told["last_reason"]) == ("bad", 2, "1 days")
        assert await store.delete_dead(db, at - timedelta(days=30), 100) == 1
    assert await desk.sql.fetchval("SELECT count(*) FROM jobs") == 2


async def test_nothing_dies_of_failures_that_it_got_over(desk: Desk) -> None:
    """A portion that is done gives a long job all its attempts again, for the next one."""
    goes_well = iter((False, False, True, False, False, True))

    async def go_on(_db: Db, _job: Job) -> bool:
        if not next(goes_well):
            raise LookupError
        return True

    running = runner(desk, LocalKind(name="long", run=go_on, retry=RETRY))
    subject_id = await desk.queue("long")
    at = now()
    for attempts in (1, 2, 0, 1, 2, 0):
        assert await running.begin_next(at)
        row = await desk.find(subject_id)
        assert row is not None
        assert (row.attempts, row.dead_at) == (attempts, None)
        at = max(at, row.due_at)
