"""Changes while a client reads lists by change: none is lost to it."""

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
from tillhouse.db.changes import find_settled
from tillhouse.kit.clock import parse_timestamp

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
_WRITES: dict[str, LiteralString] = {
    "orders": "UPDATE orders SET updated_at = changed_at(updated_at, now()) WHERE id = $1 "
    "RETURNING iso(updated_at)",
    "customers": "UPDATE customers SET updated_at = changed_at(updated_at, now()) WHERE id = $1 "
    "RETURNING iso(updated_at)",
    "products": "UPDATE products SET updated_at = changed_at(updated_at, now()) WHERE id = $1 "
    "RETURNING iso(updated_at)",
}
_AT_ONCE: dict[str, LiteralString] = {
    "orders": "UPDATE orders SET updated_at = $2, created_at = $2 WHERE id = ANY($1::uuid[])",
    "customers": "UPDATE customers SET updated_at = $2, created_at = $2 WHERE id = ANY($1::uuid[])",
    "products": "UPDATE products SET updated_at = $2, created_at = $2 WHERE id = ANY($1::uuid[])",
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


async def found_since(api: Api, kind: str, since: str, **query: Any) -> dict[str, Any]:
    """A page of the list by change."""
    asked = urlencode({"updated_since": since, "limit": 100, **query})
    return (await api.get(f"/v1/{kind}?{asked}", status=200)).json


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


@kinds
async def test_a_change_that_commits_late_is_found_by_the_next_look(
    open_shop: Open, services: Services, kind: str
) -> None:
    """It was written before what a client read, and committed after: the client goes on as told."""
    api = (await open_shop()).api
    row, other = await made(api, kind), await made(api, kind)
    async with services.pool.transaction() as db:
        # As a change writes its row long before it commits.
        began = await db.fetchval(_WRITES[kind], UUID(row["id"]))
        told = await changed(api, kind, other, 1)
        assert told["updatedAt"] >= began
        page = await found_since(api, kind, began)
        assert [one["id"] for one in page["data"]] == [other["id"]]
        settled = await find_settled(services.pool.reader())
        assert settled <= await db.fetchval("SELECT now() - interval '2 minutes'")
    again = await found_since(api, kind, page["meta"]["nextUpdatedSince"])
    assert {one["id"] for one in again["data"]} == {row["id"], other["id"]}


@kinds
async def test_a_change_between_two_pages_hides_nothing(open_shop: Open, kind: str) -> None:
    """A row that changes meanwhile comes again at the end; those behind it stay where they were."""
    api = (await open_shop()).api
    rows = [await made(api, kind) for _ in range(5)]
    since = rows[0]["updatedAt"]
    page = await found_since(api, kind, since, limit=2)
    told = page["meta"]["nextUpdatedSince"]
    assert (page["meta"]["total"], page["meta"]["totalPages"]) == (5, 3)
    found = [one["id"] for one in page["data"]]
    await changed(api, kind, rows[0], 1)
    while page["meta"]["hasMore"]:
        page = await found_since(api, kind, since, limit=2, cursor=page["meta"]["nextCursor"])
        found += [one["id"] for one in page["data"]]
        assert page["meta"]["nextUpdatedSince"] == told
    assert found == [*(row["id"] for row in rows), rows[0]["id"]]


@kinds
async def test_rows_of_one_moment_are_told_page_by_page(
    open_shop: Open, sql: asyncpg.Connection, kind: str
) -> None:
    """As an import makes them: each once, whatever the limit."""
    api = (await open_shop()).api
    rows = [await made(api, kind) for _ in range(5)]
    moment = "2026-01-31T12:00:00Z"
    ids = [UUID(row["id"]) for row in rows]
    await sql.execute(_AT_ONCE[kind], ids, parse_timestamp(moment))
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await found_since(api, kind, moment, limit=2, **cursor)
        found += [one["id"] for one in page["data"]]
        if not page["meta"]["hasMore"]:
            break
        cursor = {"cursor": page["meta"]["nextCursor"]}
    assert found == sorted(row["id"] for row in rows)


@kinds
async def test_a_page_by_change_goes_on_by_its_cursor(open_shop: Open, kind: str) -> None:
    """Neither by number nor by what is no cursor; other lists have neither cursor nor moment."""
    api = (await open_shop()).api
    await made(api, kind)
    plain = (await api.get(f"/v1/{kind}", status=200)).json["meta"]
    assert not {"nextCursor", "nextUpdatedSince"} & set(plain)
    since = {"updated_since": "2026-01-31T12:00:00Z"}
    cursor = f"2026-01-31T12:00:00.000Z_{UUID(int=7)}_2026-01-31T11:58:00.000Z_3"
    await api.get(f"/v1/{kind}?{urlencode({**since, 'cursor': cursor})}", status=200)
    refused: list[tuple[str, dict[str, Any]]] = [
        ("page", {**since, "page": 2}),
        ("cursor", {"cursor": cursor}),
        *(("cursor", {**since, "cursor": wrong}) for wrong in _no_cursors(cursor)),
    ]
    for name, query in refused:
        answer = await api.get(f"/v1/{kind}?{urlencode(query)}", status=422)
        assert answer.wrong_fields == {name}
        assert "cursor" in str(answer.json["details"])


def _no_cursors(cursor: str) -> list[str]:
    moment, _, rest = cursor.partition("_")
    return [
        "",
        "x",
        moment,
        rest,
        cursor + "0" * 20,
        cursor.replace("01-31", "13-31"),
        cursor.replace("2026", "0000"),
        cursor.replace("_3", "_-3"),
    ]
