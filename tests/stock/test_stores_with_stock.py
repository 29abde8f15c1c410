"""A store and the stock in it: it goes when nothing lies there, and nothing is left behind."""

import asyncio

import asyncpg
import pytest

from tests.api import Response
from tests.make import Business
from tests.stock.stocked import ADJUSTMENTS, COUNTS, TRANSFERS, Stock
from tests.waiting import within


@pytest.fixture
def stock(business: Business) -> Stock:
    """The stock of this test's business."""
    return Stock(business)


async def gone(stock: Stock, store: str, status: int | None = None) -> Response:
    """The answer to the wish that the store be deleted."""
    return await stock.api.delete(f"/v1/stores/{store}", status=status)


async def test_a_store_with_stock_is_not_deleted(stock: Stock) -> None:
    """It says what to do, and goes once that is done: transferred, or counted to zero."""
    shop = await stock.store()
    rice, beans = await stock.variant(name="Rice"), await stock.variant(name="Beans")
    await stock.adjust(rice, 5, store_id=shop)
    await stock.adjust(beans, 3, store_id=shop)
    refused = await gone(stock, shop, 400)
    assert refused.error == "request_failed"
    assert "transfer" in refused.json["message"]
    assert "count" in refused.json["message"]
    items = [{"variant_id": rice, "quantity": 5}]
    await stock.api.post(TRANSFERS, {"from_store_id": shop, "items": items}, status=201)
    await gone(stock, shop, 400)
    items = [{"variant_id": beans, "counted": 0}]
    await stock.api.post(COUNTS, {"store_id": shop, "items": items}, status=201)
    await gone(stock, shop, 200)
    assert await stock.on_hand(rice) == {shop: 0, None: 5}


async def test_stock_that_is_promised_or_owed_keeps_a_store(stock: Stock) -> None:
    """Reserved for a scheduled order, or below zero: neither is nothing."""
    shop = await stock.store()
    rice = await stock.product()
    variant = rice["variants"][0]["id"]
    await stock.adjust(variant, 2, store_id=shop)
    body = {
        "items": [{"product_name": "Rice", "product_id": rice["id"], "quantity": 2}],
        "store_id": shop,
        "scheduled_for": "2100-01-01T12:00:00Z",
    }
    order = (await stock.api.post("/v1/orders", body, status=201)).data
    items = [{"variant_id": variant, "counted": 0}]
    await stock.api.post(COUNTS, {"store_id": shop, "items": items}, status=201)
    await gone(stock, shop, 400)
    await stock.api.patch(f"/v1/orders/{order['id']}", {"status": "cancelled"}, status=200)
    await stock.adjust(variant, -1, store_id=shop, allow_negative=True)
    await gone(stock, shop, 400)
    await stock.adjust(variant, 1, store_id=shop)
    await gone(stock, shop, 200)


async def test_a_level_that_nobody_can_see_keeps_no_store(stock: Stock) -> None:
    """Of a deleted product, of one that keeps stock no more, and of other stores."""
    shop, other = await stock.store(), await stock.store("Other")
    sold, kept = await stock.product(name="Old"), await stock.product(name="Loose")
    for product in (sold, kept):
        await stock.adjust(product["variants"][0]["id"], 4, store_id=shop)
    await stock.adjust(kept["variants"][0]["id"], 4, store_id=other)
    await stock.api.delete(f"/v1/products/{sold['id']}", status=200)
    await gone(stock, shop, 400)
    await stock.api.patch(f"/v1/products/{kept['id']}", {"tracks_stock": False}, status=200)
    await gone(stock, shop, 200)


async def test_a_store_goes_or_its_stock_comes(stock: Stock, sql: asyncpg.Connection) -> None:
    """At once, never both, whether the place is new or lay at zero: nothing lies where nobody is.

    By an adjustment, a count and a transfer.
    """
    variant = await stock.variant(100)
    for turn in range(12):
        shop = await stock.store(f"Shop {turn}")
        if turn % 2:
            await stock.adjust(variant, 1, store_id=shop)
            await stock.adjust(variant, -1, store_id=shop)
        coming = (
            (ADJUSTMENTS, {"variant_id": variant, "kind": "purchase", "quantity": 2,
                           "store_id": shop}),
            (COUNTS, {"store_id": shop, "items": [{"variant_id": variant, "counted": 2}]}),
            (TRANSFERS, {"to_store_id": shop, "items": [{"variant_id": variant, "quantity": 2}]}),
        )[turn % 3]  # fmt: skip
        left, came = await asyncio.gather(gone(stock, shop), stock.api.post(*coming))
        assert (left.status, came.status) in {(200, 422), (400, 201)}, (left, came)
        lies = (await stock.on_hand(variant)).get(shop, 0)
        assert lies == (2 if came.status == 201 else 0)
    await stock.check_sums(sql)


async def test_a_store_that_is_ours_alone_lets_nothing_in(
    stock: Stock, sql: asyncpg.Connection
) -> None:
    """A transfer waits for the deletion that is under way, and then hears that there is no store.

    The level lay at zero, so that no new row would have had to name the store.
    """
    shop = await stock.store()
    variant = await stock.variant()
    await stock.adjust(variant, 1, store_id=shop)
    await stock.adjust(variant, -1, store_id=shop)
    async with sql.transaction():
        await sql.execute(
            "UPDATE stores SET deleted_at = now() WHERE book_id = $1 AND id = $2::text::uuid",
            await stock.book_id(sql),
            shop,
        )
        body = {"variant_id": variant, "kind": "purchase", "quantity": 2, "store_id": shop}
        coming = asyncio.create_task(stock.api.post(ADJUSTMENTS, body))
        await _waits(sql)
        assert not coming.done()
    answer = await coming
    assert answer.status == 422
    assert answer.wrong_fields == {"store_id"}
    assert await stock.on_hand(variant) == {shop: 0}


async def _waits(sql: asyncpg.Connection) -> None:
    """Until somebody waits for a lock that this connection holds."""
    statement = "SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    async with within():
        while not await sql.fetch(statement):
            # Its answer is of one moment within a transaction, unless it is asked anew.
            await sql.execute("SELECT pg_stat_clear_snapshot()")


async def test_what_comes_back_to_a_store_that_is_gone_can_be_fetched(stock: Stock) -> None:
    """An order is cancelled after its store was deleted: its goods are there, and leave."""
    shop = await stock.store()
    rice = await stock.product()
    variant = rice["variants"][0]["id"]
    await stock.adjust(variant, 2, store_id=shop)
    items = [{"product_name": "Rice", "product_id": rice["id"], "quantity": 2}]
    body = {"items": items, "store_id": shop}
    order = (await stock.api.post("/v1/orders", body, status=201)).data
    await gone(stock, shop, 200)
    leaving = {"from_store_id": shop, "items": [{"variant_id": variant, "quantity": 2}]}
    answer = await stock.api.post(TRANSFERS, leaving, status=422)
    assert answer.wrong_fields == {"from_store_id"}
    await stock.api.patch(f"/v1/orders/{order['id']}", {"status": "cancelled"}, status=200)
    assert await stock.on_hand(variant) == {shop: 2}
    await stock.api.post(TRANSFERS, leaving, status=201)
    assert await stock.on_hand(variant) == {shop: 0, None: 2}
    answer = await stock.api.post(TRANSFERS, leaving, status=422)
    assert answer.wrong_fields == {"from_store_id"}
