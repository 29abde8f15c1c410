"""Changes of one row after the other, and one that waits while others are made."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, LiteralString
from urllib.parse import urlencode
from uuid import UUID

import asyncpg
import pytest

from tests.api import Api
from tests.orders.conftest import Open
from tests.orders.shop import Body
from tests.webhooks.shop import until
from tillhouse.access.process import Services

_LOCKS: dict[str, LiteralString] = {
    "orders": "SELECT FROM orders WHERE id = $1 FOR UPDATE",
    "customers": "SELECT FROM customers WHERE id = $1 FOR UPDATE",
    "products": "SELECT FROM products WHERE id = $1 FOR UPDATE",
}
_NEW: dict[str, Body] = {
    "orders": {"items": [{"product_name": "Tea", "quantity": 1, "custom_price": 500}]},
    "customers": {"name": "Ada"},
    "products": {"name": "Tea", "base_price": 500},
}
_CHANGED = {"orders": "amount_paid", "customers": "notes", "products": "description"}
_BLOCKED = "SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))"
kinds = pytest.mark.parametrize("kind", list(_NEW))


async def made(api: Api, kind: str) -> Body:
    """A new one."""
    return (await api.post(f"/v1/{kind}", _NEW[kind], status=201)).data


async def changed(api: Api, kind: str, row: Body, number: int) -> Body:
    """The answer to a change of it."""
    body = {_CHANGED[kind]: number if kind == "orders" else f"No. {number}"}
    return (await api.patch(f"/v1/{kind}/{row['id']}", body, status=200)).data


async def found_since(api: Api, kind: str, since: str) -> dict[str, Any]:
    """The first page of the list by change."""
    query = urlencode({"updated_since": since, "limit": 100})
    return (await api.get(f"/v1/{kind}?{query}", status=200)).json


@asynccontextmanager
async def waiting_change(
    api: Api, services: Services, sql: asyncpg.Connection, kind: str, row: Body
) -> AsyncIterator["asyncio.Task[Body]"]:
    """A change that waits for the lock of its row until the block ends."""
    async with services.pool.transaction() as db:
        await db.execute(_LOCKS[kind], UUID(row["id"]))
        late = asyncio.create_task(changed(api, kind, row, 9))
        connection = await db.fetchval("SELECT pg_backend_pid()")
        await until(lambda: sql.fetchval(_BLOCKED, connection))
        yield late
        assert not late.done()


@kinds
async def test_a_change_is_later_than_the_one_before(open_shop: Open, kind: str) -> None:
    """However fast they follow; the answer tells what is stored."""
    api = (await open_shop()).api
    row = await made(api, kind)
    moments = [row["updatedAt"]]
    for number in range(1, 5):
        answer = await changed(api, kind, row, number)
        shown = (await api.get(f"/v1/{kind}/{row['id']}", status=200)).data
        assert answer["updatedAt"] == shown["updatedAt"]
        moments.append(answer["updatedAt"])
    assert moments == sorted(set(moments))


@kinds
async def test_a_change_that_waited_is_as_late_as_it_was_made(
    open_shop: Open, services: Services, sql: asyncpg.Connection, kind: str
) -> None:
    """It began before another that was told: the moment of its request is no use."""
    api = (await open_shop()).api
    row, other = await made(api, kind), await made(api, kind)
    async with waiting_change(api, services, sql, kind, row) as late:
        told = await changed(api, kind, other, 1)
    assert (await late)["updatedAt"] >= told["updatedAt"]
    again = await found_since(api, kind, told["updatedAt"])
    assert row["id"] in {one["id"] for one in again["data"]}
