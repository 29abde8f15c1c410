"""Stock over HTTP: adjust, count, transfer, list, and what is announced of it."""

from uuid import uuid4

import asyncpg
import pytest

from tests.make import Business, Make
from tests.stock.stocked import ADJUSTMENTS, COUNTS, TRANSFERS, Stock


@pytest.fixture
def stock(business: Business) -> Stock:
    """The stock of this test's business."""
    return Stock(business)


async def test_a_level_is_what_came_and_went(stock: Stock, sql: asyncpg.Connection) -> None:
    """Opening and purchase add, waste takes away, an adjustment does either; each is noted."""
    variant = await stock.variant()
    for kind, quantity, after in (
        ("opening", 10, 10),
        ("purchase", 24, 34),
        ("waste", 4.5, 29.5),
        ("adjustment", -0.125, 29.375),
        ("adjustment", 0.625, 30),
    ):
        level = (await stock.adjust(variant, quantity, kind=kind, reason=f"by {kind}")).data
        assert (level["onHand"], level["available"], level["reserved"]) == (after, after, 0)
    [shown] = await stock.levels()
    assert shown == level
    assert (shown["productName"], shown["variantName"], shown["storeId"]) == ("Rice", None, None)
    moves = await stock.moves()
    assert [move["onHandChange"] for move in moves] == [0.625, -0.125, -4.5, 24, 10]
    assert moves[-1]["kind"] == "opening"
    assert moves[-1]["reason"] == "by opening"
    assert moves[-1]["actor"] == {
        "type": "user",
        "id": stock.business.user_id,
        "name": "Ada Owner",
    }
    await stock.check_sums(sql)


async def test_no_more_goes_than_there_is(stock: Stock, sql: asyncpg.Connection) -> None:
    """400 names the variant, what was asked and what there is; nothing has changed."""
    variant = await stock.variant(2.5)
    for kind, quantity in (("adjustment", -3), ("waste", 3)):
        answer = await stock.adjust(variant, quantity, kind=kind, status=400)
        assert answer.error == "request_failed"
        assert f"Rice (variant {variant}): 3 requested, 2.5 available" in answer.json["message"]
    assert await stock.on_hand(variant) == {None: 2.5}
    assert len(await stock.moves()) == 1
    level = (await stock.adjust(variant, -3, allow_negative=True)).data
    assert (level["onHand"], level["isLow"]) == (-0.5, True)
    # A move that makes more available passes, though the level stays below zero.
    assert (await stock.adjust(variant, 0.25)).data["onHand"] == -0.25
    await stock.check_sums(sql)


async def test_every_wrong_field_of_an_adjustment_is_named(stock: Stock) -> None:
    """Form and rules in one answer; three decimals and no more."""
    service = await stock.product(tracks_stock=False)
    body = {
        "variant_id": service["variants"][0]["id"],
        "store_id": str(uuid4()),
        "kind": "gift",
        "quantity": 0,
        "surprise": 1,
    }
    answer = await stock.api.post(ADJUSTMENTS, body, status=422)
    assert answer.wrong_fields == {"variant_id", "store_id", "kind", "quantity", "surprise"}
    variant = await stock.variant()
    for quantity, status in ((0.001, 201), (0.0005, 422), (1e9, 422), ("two", 422), (-1e9, 422)):
        await stock.adjust(variant, quantity, status=status)  # pyright: ignore[reportArgumentType]
    for kind in ("purchase", "waste", "opening"):
        answer = await stock.adjust(variant, -1, kind=kind, status=422)
        assert answer.wrong_fields == {"quantity"}
    assert len(await stock.moves()) == 1


async def test_what_is_another_books_is_no_variant_here(stock: Stock, make: Make) -> None:
    """Neither another business's, nor the other environment's, nor a deleted one."""
    other = Stock(await make.business())
    live = Stock(stock.business, "live")
    deleted = await stock.product()
    await stock.api.delete(f"/v1/products/{deleted['id']}", status=200)
    for variant in (
        await other.variant(5),
        await live.variant(5),
        deleted["variants"][0]["id"],
        str(uuid4()),
    ):
        answer = await stock.adjust(variant, 1, status=422)
        assert answer.wrong_fields == {"variant_id"}
        body = {"items": [{"variant_id": variant, "counted": 1}]}
        answer = await stock.api.post(COUNTS, body, status=422)
        assert answer.wrong_fields == {"items[0].variant_id"}
    mine = await stock.variant()
    theirs = await other.store()
    assert (await stock.adjust(mine, 1, store_id=theirs, status=422)).wrong_fields == {"store_id"}
    assert await stock.levels() == []
    assert len(await other.levels()) == 1


async def test_a_count_sets_what_is_there(stock: Stock, sql: asyncpg.Connection) -> None:
    """By a move of the difference, also of none; what was thought to be there is no guard."""
    store = await stock.store()
    rice, beans = await stock.variant(10), await stock.variant(name="Beans")
    await stock.adjust(rice, 4, store_id=store)
    items = [{"variant_id": rice, "counted": 1.5}, {"variant_id": beans, "counted": 0}]
    body = {"store_id": store, "items": items, "reason": "Stocktaking"}
    answer = await stock.api.post(COUNTS, body, status=201)
    assert [(one["variantId"], one["onHand"]) for one in answer.data["levels"]] == [
        (rice, 1.5),
        (beans, 0),
    ]
    assert await stock.on_hand(rice) == {None: 10, store: 1.5}
    noted = await stock.moves("kind=count")
    assert {(one["variantId"], one["onHandChange"]) for one in noted} == {(rice, -2.5), (beans, 0)}
    assert {(one["reason"], one["storeId"]) for one in noted} == {("Stocktaking", store)}
    await stock.check_sums(sql)


async def test_every_wrong_field_of_a_count_is_named(stock: Stock) -> None:
    """Each in its place, twice the same included."""
    variant = await stock.variant(3)
    items = [
        {"variant_id": variant, "counted": 1},
        {"variant_id": str(uuid4()), "counted": -1},
        {"variant_id": variant, "counted": 0.0001},
    ]
    body = {"store_id": str(uuid4()), "items": items}
    answer = await stock.api.post(COUNTS, body, status=422)
    assert answer.wrong_fields == {
        "store_id",
        "items[1].variant_id",
        "items[1].counted",
        "items[2].variant_id",
        "items[2].counted",
    }
    assert (await stock.api.post(COUNTS, {"items": []}, status=422)).wrong_fields == {"items"}
    assert await stock.on_hand(variant) == {None: 3}


async def test_a_transfer_takes_here_and_gives_there(stock: Stock, sql: asyncpg.Connection) -> None:
    """All of it or nothing: one item too few, and none has moved."""
    shop = await stock.store()
    rice, beans = await stock.variant(10), await stock.variant(2, name="Beans")
    items = [{"variant_id": rice, "quantity": 4}, {"variant_id": beans, "quantity": 3}]
    answer = await stock.api.post(TRANSFERS, {"to_store_id": shop, "items": items}, status=400)
    assert f"Beans (variant {beans}): 3 requested, 2 available" in answer.json["message"]
    assert "Rice" not in answer.json["message"]
    assert await stock.on_hand(rice) == {None: 10}
    items[1]["quantity"] = 2
    answer = await stock.api.post(TRANSFERS, {"to_store_id": shop, "items": items}, status=201)
    assert len(answer.data["levels"]) == 4
    assert await stock.on_hand(rice) == {None: 6, shop: 4}
    assert await stock.on_hand(beans) == {None: 0, shop: 2}
    changes = [one["onHandChange"] for one in await stock.moves("kind=transfer")]
    assert sorted(changes) == [-4, -2, 2, 4]
    answer = await stock.api.post(
        TRANSFERS, {"from_store_id": shop, "to_store_id": shop, "items": items}, status=422
    )
    assert answer.wrong_fields == {"to_store_id"}
    await stock.check_sums(sql)


async def test_a_threshold_is_told_when_it_is_crossed(
    stock: Stock, sql: asyncpg.Connection
) -> None:
    """Going down to it and to nothing, once each; again only after it was above again."""
    product = await stock.product(low_stock_threshold=5)
    variant = product["variants"][0]["id"]
    expected = [
        (10, []),
        (-4, []),
        (-1, ["inventory.low_stock"]),
        (-2, []),
        (-3, ["inventory.out_of_stock"]),
        (5, []),
        (1, []),
        (-6, ["inventory.low_stock", "inventory.out_of_stock"]),
    ]
    told: list[str] = []
    for quantity, fired in expected:
        await stock.adjust(variant, quantity)
        told += fired
        assert [event["type"] for event in await stock.events(sql)] == told, quantity
    data = (await stock.events(sql))[0]["data"]
    assert data["eventType"] == "INVENTORY_LOW_STOCK"
    assert (data["entityType"], data["entityId"], data["storeId"]) == ("variant", variant, None)
    assert data["metadata"] == {
        "productId": product["id"],
        "variantId": variant,
        "available": 5,
        "threshold": 5,
        "onHand": 5,
        "reserved": 0,
    }


async def test_without_a_threshold_only_the_end_is_told(
    stock: Stock, sql: asyncpg.Connection
) -> None:
    """And a refused move tells nothing."""
    variant = await stock.variant(3)
    await stock.adjust(variant, -4, status=400)
    await stock.adjust(variant, -2)
    assert await stock.events(sql) == []
    await stock.api.post(COUNTS, {"items": [{"variant_id": variant, "counted": 0}]}, status=201)
    assert [event["type"] for event in await stock.events(sql)] == ["inventory.out_of_stock"]


async def test_levels_are_found_by_store_variant_product_and_need(stock: Stock) -> None:
    """Each filter by itself and together, page by page; a deleted product's are gone."""
    shop = await stock.store()
    variants = [{"name": name, "tracks_stock": True} for name in ("Small", "Large")]
    shirt = await stock.product(name="Shirt", variants=variants, tracks_stock=False)
    small, large = (one["id"] for one in shirt["variants"])
    rice = await stock.variant(50, low_stock_threshold=50)
    for variant in (small, large):
        await stock.adjust(variant, 3)
    await stock.adjust(small, 2, store_id=shop)

    async def found(query: str) -> list[tuple[str, str | None]]:
        return [(one["variantId"], one["storeId"]) for one in await stock.levels(query)]

    assert await found("") == [(rice, None), (small, None), (large, None), (small, shop)]
    assert await found(f"store_id={shop}") == [(small, shop)]
    assert await found(f"variant_id={small}") == [(small, None), (small, shop)]
    assert await found(f"product_id={shirt['id']}&limit=2&page=2") == [(small, shop)]
    assert await found("low=true") == [(rice, None)]
    assert await found(f"low=false&store_id={shop}") == [(small, shop)]
    assert await found(f"store_id={uuid4()}") == []
    names = {one["variantName"] for one in await stock.levels(f"product_id={shirt['id']}")}
    assert names == {"Small", "Large"}
    answer = await stock.api.get("/v1/inventory?limit=3", status=200)
    meta = {"total": 4, "page": 1, "perPage": 3, "totalPages": 2, "hasMore": True}
    assert answer.json["meta"] == meta
    await stock.api.delete(f"/v1/products/{shirt['id']}", status=200)
    assert await found("") == [(rice, None)]
    assert len(await stock.moves(f"variant_id={small}")) == 2


async def test_moves_are_found_by_variant_store_kind_and_order(stock: Stock) -> None:
    """The newest first."""
    shop = await stock.store()
    rice, beans = await stock.variant(5), await stock.variant(6, name="Beans")
    await stock.adjust(rice, 1, store_id=shop, kind="purchase")
    await stock.adjust(beans, 2, kind="waste")

    async def found(query: str) -> list[float]:
        return [one["onHandChange"] for one in await stock.moves(query)]

    assert await found("") == [-2, 1, 6, 5]
    assert await found("limit=2&page=2") == [6, 5]
    assert await found(f"variant_id={rice}") == [1, 5]
    assert await found(f"store_id={shop}") == [1]
    assert await found("kind=waste") == [-2]
    assert await found("kind=sale") == []
    assert await found(f"kind=opening&variant_id={beans}") == [6]
    assert await found(f"order_id={uuid4()}") == []
    answer = await stock.api.get("/v1/inventory/moves?kind=gift", status=422)
    assert answer.wrong_fields == {"kind"}


async def test_stock_beyond_all_counting_is_refused(stock: Stock, sql: asyncpg.Connection) -> None:
    """The database is the last judge of sums: 400, never 500."""
    variant = await stock.variant()
    await stock.adjust(variant, 1)
    await sql.execute(
        "UPDATE stock_levels SET on_hand = 999999999999 WHERE variant_id = $1::text::uuid", variant
    )
    answer = await stock.adjust(variant, 1, status=400)
    assert "more than can be counted" in answer.json["message"]
    assert len(await stock.moves()) == 1
