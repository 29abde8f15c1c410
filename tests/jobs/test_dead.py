"""Dead jobs: counted with their reasons, and deleted after their time."""

from datetime import timedelta

from tests.jobs.desk import Desk
from tillhouse.jobs import store
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
