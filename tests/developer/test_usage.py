"""Usage: requests counted per day, route and class of status."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.api import Api
from tests.make import Business, Make
from tillhouse.access.process import Services
from tillhouse.db.removal import delete_business
from tillhouse.kit.clock import now

USAGE = "/api/developer/usage"
HEALTH = "/v1/voice/health"


@pytest.fixture(autouse=True)
async def day() -> None:
    """A day that lasts: usage is counted by days, and midnight would part a test's requests."""
    while (now() + timedelta(seconds=20)).date() != now().date():  # noqa: ASYNC110 - a clock
        await asyncio.sleep(0.1)


async def usage(business: Business, query: str = "") -> list[dict[str, Any]]:
    """Usage as the portal shows it."""
    return (await business.owner.get(f"{USAGE}?{query}", status=200)).data


async def test_requests_are_counted_per_route_and_class_of_status(business: Business) -> None:
    """Three good ones and two refused ones, each family on its own."""
    good, other = await business.client("voice:read"), await business.client("orders:read")
    for _ in range(3):
        await good.get(HEALTH, status=200)
    for _ in range(2):
        await other.get(HEALTH, status=403)
    records = await usage(business)
    assert [(r["statusFamily"], r["requestCount"], r["errorCount"]) for r in records] == [
        ("2xx", 3, 0),
        ("4xx", 2, 2),
    ]
    for record in records:
        assert (record["method"], record["endpoint"]) == ("GET", HEALTH)
        assert record["environment"] == "test"
        assert record["date"] == now().date().isoformat()
        assert record["totalLatencyMs"] >= 0
        assert len(record) == 8


async def test_counts_add_up_over_flushes(business: Business, services: Services) -> None:
    """Written in batches, read as one."""
    client = await business.client("voice:read")
    for _ in range(3):
        await client.get(HEALTH, status=200)
        await services.usage.flush()
    [record] = await usage(business)
    assert record["requestCount"] == 3


async def test_environments_count_apart(business: Business) -> None:
    """Test traffic never looks like live traffic."""
    for environment in ("test", "live"):
        await (await business.client("voice:read", environment=environment)).get(HEALTH)
    records = await usage(business)
    assert [(r["environment"], r["requestCount"]) for r in records] == [("live", 1), ("test", 1)]


async def test_only_known_keys_count(business: Business, make: Make) -> None:
    """Nobody's requests and the dashboard's are nobody's usage."""
    await make.anybody.get(HEALTH, status=401)
    await business.owner.get(HEALTH)
    await business.owner.get("/api/developer/apps", status=200)
    assert await usage(business) == []


async def test_usage_can_be_read_by_app(business: Business, make: Make) -> None:
    """One app's requests, and none of a foreign or unknown app."""
    body = {"name": "Shop", "environment": "test"}
    app = (await business.owner.post("/api/developer/apps", body, status=201)).data
    await (await business.client("voice:read", developer_app_id=app["id"])).get(HEALTH)
    for _ in range(2):
        await (await business.client("voice:read")).get(HEALTH)
    assert [r["requestCount"] for r in await usage(business)] == [3]
    assert [r["requestCount"] for r in await usage(business, f"developer_app_id={app['id']}")] == [
        1
    ]
    assert await usage(business, f"developer_app_id={uuid4()}") == []
    other = await make.business()
    assert await usage(other, f"developer_app_id={app['id']}") == []


async def test_days_reach_back_from_today(business: Business, sql: asyncpg.Connection) -> None:
    """1 is today alone, 30 is meant when nothing is said, 90 is the most."""
    client = await business.client("voice:read")
    for back in (0, 1, 29, 30, 89, 90):
        await client.get(HEALTH, status=200)
        await usage(business)
        if back:
            await sql.execute(
                "UPDATE usage_records r SET day = $2 FROM books b WHERE b.id = r.book_id "
                "AND b.business_id = $1::text::uuid AND r.day = $3",
                business.id,
                now().date() - timedelta(days=back),
                now().date(),
            )
    for query, days in (("days=1", 0), ("days=2", 1), ("", 2), ("days=31", 3), ("days=90", 4)):
        assert len(await usage(business, query)) == days, query
    await client.get(HEALTH, status=200)
    dates = [record["date"] for record in await usage(business, "days=90")]
    assert dates == sorted(dates, reverse=True)
    assert len(dates) == 5


@pytest.mark.parametrize("query", ["days=0", "days=91", "days=x", "days=-1", "days=1e1", "days="])
async def test_wrong_days_are_named(business: Business, query: str) -> None:
    """From 1 to 90."""
    answer = await business.owner.get(f"{USAGE}?{query}", status=422)
    assert answer.wrong_fields == {"days"}


async def test_businesses_see_their_own_usage(business: Business, make: Make) -> None:
    """A neighbour's traffic is not to be seen."""
    other = await make.business()
    await (await other.client("voice:read")).get(HEALTH, status=200)
    assert await usage(business) == []
    assert len(await usage(other)) == 1


async def test_a_deleted_key_leaves_its_usage(business: Business) -> None:
    """A flush after the deletion fails nobody."""
    key = await business.key("voice:read")
    client: Api = business.anybody.as_bearer(key["secret"])
    await client.get(HEALTH, status=200)
    await business.owner.delete(f"/api/developer/api-keys/{key['id']}", status=200)
    [record] = await usage(business)
    assert record["requestCount"] == 1


async def test_usage_of_a_deleted_business_holds_up_no_other(
    business: Business, make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """It was counted before the deletion, and is to be written after it."""
    gone = await make.business()
    await services.usage.flush()
    for one in (gone, business):
        await (await one.client("voice:read")).get(HEALTH, status=200)
    await delete_business(sql, UUID(gone.id))
    await services.usage.flush()
    [record] = await usage(business)
    assert record["requestCount"] == 1
