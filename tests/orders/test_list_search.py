"""Pages of a search are found by the moments of what is found: also of many at one moment."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, fee
from tillhouse.kit.clock import iso, now

AT = datetime(2025, 6, 1, 12, tzinfo=UTC)
# Within one gathering of weeks, in neighbouring ones, and years away.
MOMENTS = [AT - timedelta(days=days) for days in (0, 0, 0, 0, 1, 27, 28, 28, 29, 400, 400, 401)]
NAMES = ("Ada Obi", "Bola Ige", "Adaeze Eze")


async def _ids(shop: Shop, query: dict[str, Any]) -> list[str]:
    answer = await shop.api.get(f"{ORDERS}?{urlencode(query)}", status=200)
    return [order["id"] for order in answer.data]


def _is_ada(sale: Body) -> bool:
    """By the customer's name, or a short code that begins like it by chance."""
    return sale["customer"]["name"].startswith("Ada") or sale["shortCode"].startswith("ADA")


async def _sales(shop: Shop) -> list[Body]:
    """Each customer's at each moment, in no order."""
    dice = random.Random(23)  # noqa: S311 - the same sales every time
    sales = [(name, at) for name in NAMES for at in MOMENTS]
    dice.shuffle(sales)
    return [
        await shop.sell(
            fee(100),
            occurred_at=iso(at),
            customer_name=name,
            channel=dice.choice(("in_person", "whatsapp")),
        )
        for name, at in sales
    ]


@pytest.mark.parametrize("channel", [None, "whatsapp"])
@pytest.mark.parametrize("limit", [1, 3, 5])
async def test_pages_of_a_search_make_up_what_it_finds(
    open_shop: Open, limit: int, channel: str | None
) -> None:
    """Each order on one page, the newest first; those of one moment by their ids."""
    shop = await open_shop()
    sales = await _sales(shop)
    query: dict[str, Any] = {"search": "ada", "limit": limit}
    if channel:
        query["channel"] = channel
    found = [sale for sale in sales if _is_ada(sale) and channel in (None, sale["channel"])]
    found.sort(key=lambda sale: (sale["occurredAt"], sale["id"]), reverse=True)
    assert len(found) > limit * 2
    pages = -(-len(found) // limit)
    seen: list[str] = []
    for page in range(1, pages + 1):
        seen += await _ids(shop, {**query, "page": page})
    assert seen == [sale["id"] for sale in found]
    assert await _ids(shop, {**query, "page": pages + 1}) == []


async def test_a_search_among_scheduled_orders(open_shop: Open) -> None:
    """They come by their time, whatever the search tells of when they were taken."""
    shop = await open_shop()
    times = [iso(datetime(2100, 1, day, tzinfo=UTC)) for day in (5, 2, 9, 4)]
    sales = [
        await shop.sell(fee(100), scheduled_for=at, customer_name=NAMES[number % 3])
        for number, at in enumerate(times)
    ]
    by_time = sorted(sales, key=lambda sale: sale["scheduledFor"])
    wanted = [sale["id"] for sale in by_time if _is_ada(sale)]
    query = {"search": "ada", "scheduled_only": "true", "limit": 2}
    seen = [one for page in (1, 2) for one in await _ids(shop, {**query, "page": page})]
    assert seen == wanted


async def test_a_search_finds_customers_who_were_deleted(open_shop: Open) -> None:
    """The order shows the name still, so it is found by it, in the page and in the figures."""
    shop = await open_shop()
    customer = await shop.customer("Zainab Quaye")
    order = await shop.sell(fee(700), customer_id=customer["id"])
    later = iso(now() + timedelta(days=2))
    planned = await shop.sell(fee(5), customer_id=customer["id"], scheduled_for=later)
    await shop.sell(fee(80), customer_name="Zane Other")
    await shop.api.delete(f"/v1/customers/{customer['id']}", status=200)
    assert (await shop.show(order))["customer"]["name"] == "Zainab Quaye"
    queries: list[dict[str, Any]] = [
        {}, {"customer_id": customer["id"]}, {"status": "pending,scheduled"}
    ]  # fmt: skip
    for query in queries:
        path = f"{ORDERS}?{urlencode({'search': 'zai qua', **query})}"
        answer = await shop.api.get(path, status=200)
        assert [one["id"] for one in answer.data] == [planned["id"], order["id"]], query
        assert answer.json["summary"]["filteredOrders"] == 2
    assert await _ids(shop, {"search": "zainab", "scheduled_only": "true"}) == [planned["id"]]
    assert (await shop.api.get("/v1/customers?search=zainab", status=200)).data == []
