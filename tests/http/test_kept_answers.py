"""Answers of idempotency keys are kept for their time, and then forgotten."""

from datetime import timedelta
from uuid import UUID

import asyncpg

from tests.make import Business
from tests.sweeping import sweep
from tillhouse.access.process import Services
from tillhouse.db.storage_table import StorageLimits
from tillhouse.http.store import ANSWER_STORAGE, add_new_answers
from tillhouse.kit.clock import now

TAGS = "/v1/tags"


async def test_old_answers_are_forgotten(
    business: Business, services: Services, sql: asyncpg.Connection
) -> None:
    """After eight days a key is as good as new; after seven it still replays."""
    api = await business.client("orders:read", "orders:write")
    made = {}
    for age in (7, 9):
        headers = {"idempotency-key": f"{age} days"}
        made[age] = await api.post(TAGS, {"name": f"Tag {age}"}, headers=headers, status=201)
        await sql.execute(
            "UPDATE idempotency_keys SET created_at = now() - make_interval(days => $2) "
            "WHERE key = $1",
            f"{age} days",
            age,
        )
    await sql.execute(
        """
        INSERT INTO idempotency_keys SELECT book_id, surface, 'old ' || n, fingerprint, answer,
            created_at FROM idempotency_keys, generate_series(1, 2510) n WHERE key = '9 days'
        """
    )
    assert await sweep(services, "idempotency_keys") == 3
    left = await sql.fetch("SELECT key FROM idempotency_keys WHERE key ~ 'days|old'")
    assert [row["key"] for row in left] == ["7 days"]
    again = await api.post(
        TAGS, {"name": "Tag 7"}, headers={"idempotency-key": "7 days"}, status=201
    )
    assert again.data == made[7].data


async def test_a_book_is_full_when_it_holds_what_it_may(
    business: Business, services: Services, sql: asyncpg.Connection
) -> None:
    """By the number of its answers, and by their bytes: with one more of either it has room."""
    api = await business.client("orders:write")
    headers = {"idempotency-key": "once"}
    await api.post(TAGS, {"name": "Tag"}, headers=headers, status=201)
    book_id = await sql.fetchval(
        "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'", UUID(business.id)
    )
    assert book_id is not None
    async with services.pool.transaction() as db:
        while await add_new_answers(db, now() + timedelta(minutes=1), 1000):
            pass
        [held] = await ANSWER_STORAGE.list_books(db, [book_id])
        for more, is_full in ((0, True), (1, False)):
            use = await ANSWER_STORAGE.measure(
                db, StorageLimits(held.rows + more, held.bytes + more)
            )
            assert (book_id in use.full_by_rows) is is_full
            assert (book_id in use.full_by_bytes) is is_full
