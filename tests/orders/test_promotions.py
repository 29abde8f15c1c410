"""Promotions on orders: what they take off, for whom, and how often."""

from datetime import timedelta
from typing import Any

import pytest

from tests.orders.shop import Body, Shop, fee, line
from tillhouse.kit.clock import iso, now


async def _used(shop: Shop, promotion: Body) -> int:
    return (await shop.api.get(f"/v1/promotions/{promotion['id']}", status=200)).data["used"]


async def test_an_order_names_its_promotion(shop: Shop) -> None:
    """One that is worth something counts a use."""
    promotion = await shop.promotion()
    product = await shop.product(1000)
    order = await shop.sell(line(product), promotion_id=promotion["id"])
    assert order["promotionId"] == promotion["id"]
    assert (order["discountAmount"], order["totalAmount"]) == (100, 900)
    assert await _used(shop, promotion) == 1


@pytest.mark.parametrize(
    "terms",
    [
        {"is_active": False},
        {"starts_at": iso(now() + timedelta(days=1))},
        {"ends_at": iso(now() - timedelta(days=1))},
        {"minimum_subtotal": 1000.01},
        {"days": [(now() + timedelta(days=3)).isoweekday()]},
    ],
    ids=lambda terms: next(iter(terms)),
)
async def test_one_that_does_not_fit_is_refused(shop: Shop, terms: Body) -> None:
    """400 order_not_recorded, never a silent full price; nothing is stored."""
    promotion = await shop.promotion(**terms)
    product = await shop.product(1000, stock=5)
    before = await shop.footprint()
    answer = await shop.ask(line(product), promotion_id=promotion["id"])
    assert (answer.status, answer.error) == (400, "order_not_recorded")
    assert await shop.footprint() == before


async def test_one_of_other_products_is_refused(shop: Shop) -> None:
    """Where none of the lines is meant; fees never are."""
    rice, cola = await shop.product(1000), await shop.product(500, name="Cola")
    promotion = await shop.promotion(scope="products", product_ids=[cola["id"]])
    answer = await shop.ask(line(rice), fee(100), promotion_id=promotion["id"])
    assert (answer.status, answer.error) == (400, "order_not_recorded")
    made = await shop.sell(line(rice), line(cola), promotion_id=promotion["id"])
    assert [item["discountAmount"] for item in made["items"]] == [0, 50]


async def test_a_use_is_given_back(shop: Shop) -> None:
    """With a cancellation or a deletion, once; taken again when the order is revived."""
    promotion = await shop.promotion(limit_total=2)
    product = await shop.product(1000)
    fields: dict[str, Any] = {"promotion_id": promotion["id"]}
    first = await shop.sell(line(product), **fields)
    second = await shop.sell(line(product), **fields)
    assert (await shop.ask(line(product), **fields)).status == 400
    await shop.to(first, "cancelled")
    assert await _used(shop, promotion) == 1
    await shop.to(first, "pending")
    assert await _used(shop, promotion) == 2
    await shop.to(first, "cancelled")
    await shop.delete(first)
    assert await _used(shop, promotion) == 1
    await shop.delete(second)
    assert await _used(shop, promotion) == 0


async def test_a_revived_order_finds_its_promotion_gone(shop: Shop) -> None:
    """Somebody else has the last use: refused, and the order stays cancelled."""
    promotion = await shop.promotion(limit_total=1)
    product = await shop.product(1000)
    order = await shop.sell(line(product), promotion_id=promotion["id"])
    await shop.to(order, "cancelled")
    await shop.sell(line(product), promotion_id=promotion["id"])
    answer = await shop.patch_all(order, {"status": "pending"}, 400)
    assert answer.error == "request_failed"
    assert (await shop.show(order))["status"] == "cancelled"
    assert await _used(shop, promotion) == 1


async def test_once_per_customer(shop: Shop) -> None:
    """Counted by customer, by id or by name; who isn't known has no limit to be counted on."""
    promotion = await shop.promotion(limit_per_customer=1)
    product = await shop.product(1000)
    fields = {"promotion_id": promotion["id"]}
    order = await shop.sell(line(product), customer_name="Regular One", **fields)
    by_id = {"customer_id": order["customer"]["id"]}
    for named in (by_id, {"customer_name": "Regular One"}):
        answer = await shop.ask(line(product), **named, **fields)
        assert (answer.status, answer.error) == (400, "order_not_recorded")
    await shop.sell(line(product), customer_name="Regular Two", **fields)
    await shop.to(order, "cancelled")
    await shop.sell(line(product), **by_id, **fields)
