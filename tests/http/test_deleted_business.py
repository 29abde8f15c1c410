"""A business that is deleted while a request of it waits: it ends as those that come later."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from structlog.testing import capture_logs

from tests.make import Business
from tests.orders.shop import fee
from tests.waiting import ended
from tests.webhooks.shop import until
from tillhouse.db.removal import delete_business

# Those that wait for a process, or for one that waits for it.
WAITING = """
WITH RECURSIVE waiting AS (
    SELECT $1::integer AS pid
    UNION
    SELECT a.pid FROM pg_stat_activity a JOIN waiting w ON w.pid = ANY(pg_blocking_pids(a.pid))
    WHERE a.datname = current_database()
)
SELECT count(*) - 1 FROM waiting
"""
NEW_KEY = {"name": "late", "environment": "test", "scopes": ["voice:read"]}
ORDER = {"items": [fee()]}
KEY = {"idempotency-key": "once"}
TEST = {"service-environment": "test"}


@pytest.fixture
async def other_sql(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A second connection of the owner."""
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def until_waiting(sql: asyncpg.Connection, count: int) -> None:
    """Wait until so many connections wait for this one."""

    async def are_waiting() -> bool:
        return await sql.fetchval(WAITING, sql.get_server_pid()) == count

    await until(are_waiting)


@pytest.mark.parametrize("headers", [{}, KEY], ids=["keyless", "once"])
@pytest.mark.parametrize(
    ("is_owner", "path", "body"),
    [
        (False, "/v1/tags", {"name": "Late"}),
        (False, "/v1/customers", {"name": "Late"}),
        (False, "/v1/orders", ORDER),
        (True, "/v1/stores", {"name": "Late"}),
        (True, "/api/developer/api-keys", NEW_KEY),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_request_that_waits_for_the_deletion_is_refused_as_later_ones(
    business: Business,
    sql: asyncpg.Connection,
    other_sql: asyncpg.Connection,
    is_owner: bool,
    path: str,
    body: dict[str, Any],
    headers: dict[str, str],
) -> None:
    """It comes while all but the last row is deleted, and waits until that is committed."""
    if path == "/v1/orders":
        body = body | {"store_id": (await business.store())["id"]}
    client = await business.client("orders:write", "customers:write")
    headers = headers | TEST
    api = business.owner if is_owner else client
    holding = sql.transaction()
    await holding.start()
    await sql.execute("SELECT FROM businesses WHERE id = $1 FOR UPDATE", UUID(business.id))
    deletion = asyncio.create_task(delete_business(other_sql, UUID(business.id)))
    with capture_logs() as logs:
        try:
            await until_waiting(sql, 1)
            request = asyncio.create_task(api.post(path, body, headers=headers))
            await until_waiting(sql, 2)
        finally:
            await holding.rollback()
        assert await ended(deletion) > 0
        answer = await ended(request)
    later = await api.post(path, body, headers=headers)
    assert answer.status == later.status == 401, (answer, later)
    assert answer.json | {"requestId": ""} == later.json | {"requestId": ""}
    assert [each for each in logs if each["log_level"] in ("error", "critical")] == []
