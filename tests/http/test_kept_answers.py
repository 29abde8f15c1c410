"""Answers of idempotency keys are kept for their time, and then forgotten."""

import asyncpg

from tests.make import Business
from tests.sweeping import sweep
from tillhouse.access.process import Services

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
