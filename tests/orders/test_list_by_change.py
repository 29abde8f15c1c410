"""Orders and customers by their last change: each once, however often a client goes on."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import asyncpg
import pytest

from tests.api import Api
from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, fee
from tillhouse.kit.clock import iso, parse_timestamp

CUSTOMERS = "/v1/customers"


async def listed(api: Api, path: str, **query: Any) -> list[dict[str, Any]]:
    """All pages of what changed, two of it on each."""
    found: list[dict[str, Any]] = []
    for _ in range(20):
        answer = await api.get(f"{path}?{urlencode({**query, 'limit': 2})}", status=200)
        found += answer.data
        meta = answer.json["meta"]
        assert (meta["total"], meta["page"]) >= (len(found), 1)
        if not meta["hasMore"]:
            assert meta["nextCursor"] is None
            return found
        query["cursor"] = meta["nextCursor"]
    raise AssertionError("the pages have no end")


def later(stamp: str, milliseconds: int = 1) -> str:
    """A moment after another."""
    return iso(parse_timestamp(stamp) + timedelta(milliseconds=milliseconds))


async def test_what_changed_last_comes_last(open_shop: Open) -> None:
    """New orders and changed ones, from a moment on; a deleted one leaves."""
    shop = await open_shop()
    orders = [await shop.sell(fee(500)) for _ in range(5)]
    began = orders[0]["createdAt"]
    ids = [order["id"] for order in orders]
    assert [one["id"] for one in await listed(shop.api, ORDERS, updated_since=began)] == ids
    paid = await shop.patch(orders[1], amount_paid=500)
    since = later(orders[-1]["updatedAt"])
    assert paid["updatedAt"] >= since
    assert [one["id"] for one in await listed(shop.api, ORDERS, updated_since=since)] == [ids[1]]
    found = await listed(shop.api, ORDERS, updated_since=began)
    assert [one["id"] for one in found] == [ids[0], *ids[2:], ids[1]]
    assert await listed(shop.api, ORDERS, updated_since=later(paid["updatedAt"])) == []
    only = await listed(shop.api, ORDERS, updated_since=began, payment_status="paid")
    assert [one["id"] for one in only] == [ids[1]]
    searched = await listed(shop.api, ORDERS, updated_since=began, search=orders[2]["shortCode"])
    assert [one["id"] for one in searched] == [ids[2]]
    answer = await shop.api.get(f"{ORDERS}?{urlencode({'updated_since': since})}", status=200)
    assert answer.json["meta"]["total"] == 1
    ever = (await shop.api.get(ORDERS, status=200)).json["summary"]
    assert answer.json["summary"] == ever
    assert ever["filteredOrders"] == 5
    await shop.api.delete(f"{ORDERS}/{ids[0]}", status=200)
    found = await listed(shop.api, ORDERS, updated_since=began)
    assert [one["id"] for one in found] == [*ids[2:], ids[1]]


async def test_an_old_order_that_changes_is_found(open_shop: Open, sql: asyncpg.Connection) -> None:
    """Its id is of long before: by the index of changes."""
    shop = await open_shop()
    old = await shop.sell(fee(500))
    await sql.execute(
        "UPDATE orders SET created_at = '2026-01-01Z', updated_at = '2026-01-02Z' "
        "WHERE book_id = $1",
        shop.book,
    )
    new = await shop.sell(fee(500))
    since = new["updatedAt"]
    assert [one["id"] for one in await listed(shop.api, ORDERS, updated_since=since)] == [new["id"]]
    await shop.patch(old, amount_paid=500)
    found = await listed(shop.api, ORDERS, updated_since=since)
    assert [one["id"] for one in found] == [new["id"], old["id"]]


async def test_customers_by_change(open_shop: Open) -> None:
    """The same for customers, beside their other filters."""
    shop = await open_shop()
    owner, header = shop.business.owner, {"service-environment": "test"}
    made = [await shop.business.customer(name=f"Guest {n}") for n in range(4)]
    path = f"{CUSTOMERS}/{made[1]['id']}"
    changed = (await owner.patch(path, {"notes": "x"}, headers=header, status=200)).data
    api = await shop.business.client("customers:read")
    began = made[0]["createdAt"]
    found = [one["name"] for one in await listed(api, CUSTOMERS, updated_since=began)]
    assert found == ["Guest 0", "Guest 2", "Guest 3", "Guest 1"]
    since = later(made[-1]["updatedAt"])
    assert await listed(api, CUSTOMERS, updated_since=since) == [changed]
    assert await listed(api, CUSTOMERS, updated_since=since, search="guest 2") == []
    assert await listed(api, CUSTOMERS, updated_since=later(changed["updatedAt"])) == []


@pytest.mark.parametrize("wrong", ["yesterday", "2026-01-01", "2026-01-01T10:00:00"])
async def test_a_moment_has_its_zone(open_shop: Open, wrong: str) -> None:
    """A day alone, or a clock time without its zone, is no moment."""
    shop = await open_shop()
    api = await shop.business.client("orders:read", "customers:read")
    for path in (ORDERS, CUSTOMERS):
        answer = await api.get(f"{path}?{urlencode({'updated_since': wrong})}", status=422)
        assert answer.wrong_fields == {"updated_since"}
