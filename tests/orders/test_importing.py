"""Sales of the past that are imported, and the stock of today."""

from datetime import timedelta
from uuid import UUID, uuid4

from tests.orders.shop import Body, Shop, variant_of
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.kit.clock import iso, now
from tillhouse.kit.ids import BookId, BusinessId
from tillhouse.orders.importing.actions import judge, record_all
from tillhouse.orders.recording.rules.sale import StockOfPast
from tillhouse.webhooks.emit import Source

YESTERDAY = iso(now() - timedelta(days=1))


def _soon() -> str:
    """A moment after what is counted now, and no order of the future yet."""
    return iso(now() + timedelta(minutes=2))


async def _counted(shop: Shop, quantity: float, **fields: object) -> Body:
    """A product whose opening stock was counted now."""
    product = await shop.product(100, tracks_stock=True)
    body = {"variant_id": variant_of(product), "kind": "opening", "quantity": quantity, **fields}
    await shop.made("/v1/inventory/adjustments", body)
    return product


async def _import(
    shop: Shop, services: Services, product: Body, how: StockOfPast, **fields: object
) -> None:
    """Import a sale of three."""
    origin = Source(BusinessId(UUID(shop.business.id)), Book(BookId(shop.book), "test"))
    item = {"product_id": product["id"], "quantity": 3}
    given = {"row_key": str(uuid4()), "occurred_at": YESTERDAY, "items": [item], **fields}
    [verdict] = await judge(services, origin, [given], by_rules=True)
    assert verdict.ready is not None, verdict.faults
    [recorded] = await record_all(services, origin, [verdict.ready], lambda _: None, how)
    assert recorded.faults == []


async def test_stock_that_was_counted_since_is_left_alone(shop: Shop, services: Services) -> None:
    """Three thousand old sales of what is on the shelf today: the count had them in it."""
    product = await _counted(shop, 2)
    await shop.news()
    await _import(shop, services, product, "auto")
    assert await shop.stock(variant_of(product)) == (2, 0)
    assert await shop.told() == ["order.created"]
    order = (await shop.api.get("/v1/orders", status=200)).data[0]
    await shop.to(order, "cancelled")
    assert await shop.stock(variant_of(product)) == (2, 0)


async def test_stock_that_was_not_counted_since_is_taken(shop: Shop, services: Services) -> None:
    """A purchase says nothing of sales before it, and a sale after the count isn't in it."""
    bought = await shop.product(100, stock=5)
    await _import(shop, services, bought, "auto")
    assert await shop.stock(variant_of(bought)) == (2, 0)
    store = await shop.store()
    elsewhere = await _counted(shop, 5, store_id=store["id"])
    await _import(shop, services, elsewhere, "auto")
    assert await shop.stock(variant_of(elsewhere)) == (-3, 0)
    counted = await _counted(shop, 5)
    await _import(shop, services, counted, "auto", occurred_at=_soon())
    assert await shop.stock(variant_of(counted)) == (2, 0)


async def test_a_past_sale_by_the_api_leaves_it_alone_too(shop: Shop) -> None:
    """A till that was offline sends what it sold before the count."""
    product = await _counted(shop, 2)
    await shop.news()
    item = {"product_id": product["id"], "quantity": 3}
    await shop.sell(item, occurred_at=YESTERDAY)
    assert await shop.stock(variant_of(product)) == (2, 0)
    assert await shop.told() == ["order.created"]


async def test_the_caller_may_say_which(shop: Shop, services: Services) -> None:
    """Taken all the same, or left alone all the same."""
    product = await _counted(shop, 5)
    await _import(shop, services, product, "take")
    assert await shop.stock(variant_of(product)) == (2, 0)
    bought = await shop.product(100, stock=5)
    await _import(shop, services, bought, "leave")
    assert await shop.stock(variant_of(bought)) == (5, 0)
