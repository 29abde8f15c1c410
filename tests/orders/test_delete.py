"""DELETE /v1/orders/:id: the order leaves the books, its stock comes back, its debt goes."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from tests.orders import list_model
from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Shop, fee, line, variant_of
from tillhouse.kit.clock import iso, now, parse_timestamp

AUTOMATE = "UPDATE orders SET is_automated = true WHERE book_id = $1 AND id = $2"


async def test_the_answer_says_what_is_gone(shop: Shop) -> None:
    """Its id and the moment."""
    order = await shop.sell()
    before = now()
    data = (await shop.delete(order)).data
    assert data.keys() == {"id", "deletedAt"}
    assert data["id"] == order["id"]
    assert before <= parse_timestamp(data["deletedAt"]) <= now()


async def test_afterwards_every_way_leads_to_404(open_shop: Open) -> None:
    """Read, change, confirm, kitchen, requery, delete again; and no list or figure has it."""
    shop = await open_shop(business_type="restaurant")
    order = await shop.sell(fee(100), amount_paid=40, customer_name="Ada Obi")
    await shop.delete(order)
    path = f"{ORDERS}/{order['id']}"
    calls = [
        ("GET", path, None), ("PATCH", path, {"amount_paid": 5}), ("DELETE", path, None),
        ("POST", path + "/confirm", {}), ("POST", path + "/send-to-kitchen", None),
        ("POST", path + "/kitchen-status", {"status": "ready"}), ("POST", path + "/requery", None),
    ]  # fmt: skip
    for method, where, body in calls:
        answer = await shop.api.request(method, where, body, status=404)
        assert answer.error == "not_found", (method, where)
    listed = await shop.api.get(ORDERS, status=200)
    assert listed.data == []
    assert listed.json["meta"]["total"] == 0
    assert set(list_model.figures(listed.json["summary"]).values()) == {0}


@pytest.mark.parametrize("status", ["scheduled", "pending", "completed", "cancelled"])
async def test_stock_comes_back_once(shop: Shop, status: str) -> None:
    """All that the order held of it; after a cancellation it is back already."""
    product = await shop.product(stock=10)
    part = await shop.product(stock=10, name="Can")
    box = await shop.bundle((part, 2))
    later = {"scheduled_for": iso(now() + timedelta(days=1))} if status == "scheduled" else {}
    order = await shop.sell(line(product, 3), line(product, 1), line(box, 2), **later)
    if status in ("completed", "cancelled"):
        await shop.to(order, status)
    await shop.delete(order)
    assert await shop.stock(variant_of(product)) == (10, 0)
    assert await shop.stock(variant_of(part)) == (10, 0)
    await shop.delete(order, status=404)
    assert await shop.stock(variant_of(product)) == (10, 0)


async def test_the_debt_goes(shop: Shop) -> None:
    """It is removed, and nobody owes for the order any more."""
    order = await shop.sell(fee(1000), amount_paid=300, customer_name="Ada Obi")
    assert await shop.debts(order) == [("active", 700)]
    await shop.delete(order)
    assert await shop.debts(order) == [("removed", 0)]


async def test_it_is_told_once(shop: Shop) -> None:
    """order.cancelled for the deletion."""
    order = await shop.sell(fee(1000), amount_paid=1000)
    await shop.news()
    await shop.delete(order)
    [event] = await shop.news()
    assert event["type"] == "order.cancelled"
    assert event["data"]["entityId"] == order["id"]


async def test_an_automated_order_stays(shop: Shop) -> None:
    """409 order_not_deletable: money may be on its way to it."""
    product = await shop.product(stock=5)
    order = await shop.sell(line(product, 2))
    await shop.sql.execute(AUTOMATE, shop.book, UUID(order["id"]))
    answer = await shop.delete(order, status=409)
    assert answer.error == "order_not_deletable"
    assert (await shop.show(order))["status"] == "pending"
    assert await shop.stock(variant_of(product)) == (3, 0)


async def test_others_orders_stay(open_shop: Open) -> None:
    """Of another business, of the other book, of nothing: 404."""
    shop, stranger = await open_shop(), await open_shop()
    for other in (stranger, await shop.other_book()):
        order = await other.sell()
        assert (await shop.delete(order, status=404)).error == "not_found"
        assert await other.show(order) == order
    assert (await shop.delete({"id": str(uuid4())}, status=404)).error == "not_found"


async def test_two_at_once_delete_once(shop: Shop) -> None:
    """One 200, the rest 404; the stock comes back once and one event tells it."""
    product = await shop.product(stock=10)
    order = await shop.sell(line(product, 4))
    await shop.news()
    path = f"{ORDERS}/{order['id']}"
    answers = await asyncio.gather(*[shop.api.delete(path) for _ in range(8)])
    assert sorted(answer.status for answer in answers) == [200] + [404] * 7
    assert await shop.stock(variant_of(product)) == (10, 0)
    assert await shop.told() == ["order.cancelled"]


async def test_deletion_and_cancellation_at_once_restore_once(shop: Shop) -> None:
    """Whichever comes first."""
    for _ in range(4):
        product = await shop.product(stock=10)
        order = await shop.sell(line(product, 4))
        path = f"{ORDERS}/{order['id']}"
        cancelling = [shop.api.patch(path, {"status": "cancelled"}) for _ in range(3)]
        deleting = [shop.api.delete(path) for _ in range(3)]
        answers = await asyncio.gather(*cancelling, *deleting)
        assert [answer.status for answer in answers[3:]].count(200) == 1
        assert {answer.status for answer in answers} <= {200, 404}
        assert await shop.stock(variant_of(product)) == (10, 0)


async def test_the_code_of_a_deleted_order_finds_nothing(shop: Shop) -> None:
    """Nor does its customer's filter."""
    order = await shop.sell(customer_name="Only Once")
    await shop.delete(order)
    for query in (f"customer_id={order['customer']['id']}", f"search={order['shortCode']}"):
        assert (await shop.api.get(f"{ORDERS}?{query}", status=200)).data == []
