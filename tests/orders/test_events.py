"""The events of orders: types, counts and data."""

from datetime import timedelta
from typing import Any

import pytest

from tests.orders.conftest import Open
from tests.orders.shop import Body, Shop, fee, line, variant_of
from tillhouse.kit.clock import iso, now, parse_timestamp

ENVELOPE = {"id", "type", "apiVersion", "businessId", "created", "environment", "data"}
SHARED = {
    "businessId", "eventType", "entityType", "entityId", "storeId", "metadata", "occurredAt",
}  # fmt: skip


def _check(event: Body, shop: Shop, **data: Any) -> Body:
    """The envelope and the shared part of a change; its metadata."""
    assert event.keys() == ENVELOPE
    assert (event["apiVersion"], event["environment"]) == ("v1", "test")
    assert event["businessId"] == event["data"]["businessId"] == shop.business.id
    assert event["data"].keys() == SHARED
    assert event["data"]["eventType"] == event["type"].replace(".", "_").upper()
    parse_timestamp(event["data"]["occurredAt"])
    for name, value in data.items():
        assert event["data"][name] == value, name
    return event["data"]["metadata"]


async def test_an_order_is_told(shop: Shop) -> None:
    """order.created, once; nothing of a payment that there wasn't."""
    store = await shop.store()
    await shop.news()
    order = await shop.sell(store_id=store["id"])
    [event] = await shop.news()
    assert event["type"] == "order.created"
    _check(event, shop, entityType="sale", entityId=order["id"], storeId=store["id"])


async def test_a_payment_is_told(shop: Shop) -> None:
    """payment.received for what came with the order, without the block of a payment link."""
    await shop.news()
    customer = await shop.customer()
    order = await shop.sell(
        fee(1000), amount_paid=400, payment_method="pos", customer_id=customer["id"]
    )
    events = {event["type"]: event for event in await shop.news()}
    assert events.keys() == {"contact.created", "order.created", "payment.received"}
    metadata = _check(events["payment.received"], shop, storeId=None)
    assert metadata["amount"] == 400
    assert metadata["paymentMethod"] == "pos"
    assert metadata["customerId"] == customer["id"]
    assert order["id"] in (events["payment.received"]["data"]["entityId"], metadata["orderId"])


async def test_only_the_difference_is_received(shop: Shop) -> None:
    """Up: an event over what was added. Down: a correction, no payment."""
    order = await shop.sell(fee(1000), amount_paid=100)
    await shop.news()
    for paid, expected in ((250.5, 150.5), (1000, 749.5), (1100, 100), (600, None)):
        await shop.patch(order, amount_paid=paid)
        events = await shop.news()
        received = [e for e in events if e["type"] == "payment.received"]
        amounts = [event["data"]["metadata"]["amount"] for event in received]
        assert amounts == ([expected] if expected else [])
        assert [e["type"] for e in events].count("order.updated") == 1


@pytest.mark.parametrize(
    "change",
    [{"status": "completed"}, {"customer_name": "Somebody Else"}, {"payment_method": "transfer"},
     {"scheduled_for": iso(now() + timedelta(days=2))}, {"total_amount": 900}],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
async def test_a_change_is_told_once(shop: Shop, change: Body) -> None:
    """order.updated for status, payment, customer and schedule; the same again tells nothing."""
    order = await shop.sell(fee(1000))
    await shop.news()
    await shop.patch_all(order, change)
    events = [event for event in await shop.news() if event["type"] != "contact.created"]
    assert [event["type"] for event in events] == ["order.updated"]
    _check(events[0], shop, entityType="sale", entityId=order["id"], storeId=None)
    await shop.patch_all(order, change)
    assert await shop.told() == []


async def test_many_changes_at_once_are_one_update(shop: Shop) -> None:
    """One request, one order.updated, and one payment."""
    order = await shop.sell(fee(1000))
    await shop.news()
    body = {"amount_paid": 1000, "payment_method": "transfer", "total_amount": 1000}
    await shop.patch_all(order, body)
    assert sorted(await shop.told()) == ["order.updated", "payment.received"]


async def test_a_cancellation_is_told_once(shop: Shop) -> None:
    """order.cancelled; to cancel again is no news."""
    order = await shop.sell(fee(1000), amount_paid=1000)
    await shop.news()
    await shop.to(order, "cancelled", cancellation_reason="Rain")
    events = await shop.news()
    assert [event["type"] for event in events].count("order.cancelled") == 1
    assert {event["type"] for event in events} <= {"order.cancelled", "order.updated"}
    [cancelled] = [event for event in events if event["type"] == "order.cancelled"]
    _check(cancelled, shop, entityType="sale", entityId=order["id"])
    await shop.to(order, "cancelled")
    assert await shop.told() == []


async def test_a_deletion_after_a_cancellation_is_told(shop: Shop) -> None:
    """order.cancelled fires when an order is deleted, whatever its status was."""
    order = await shop.to(await shop.sell(), "cancelled")
    await shop.news()
    await shop.delete(order)
    assert await shop.told() == ["order.cancelled"]


async def test_a_refusal_tells_nothing(shop: Shop) -> None:
    """Wrong fields, short stock, an order that isn't there."""
    product = await shop.product(stock=1)
    order = await shop.sell()
    await shop.news()
    assert (await shop.ask(fee(-1))).status == 422
    assert (await shop.ask(line(product, 2), customer_name="Never Was")).status == 400
    await shop.patch_all(order, {"status": "nothing"}, 422)
    await shop.confirm(order, status=400)
    assert await shop.told() == []


async def test_a_replay_tells_nothing(shop: Shop) -> None:
    """The first request told it."""
    await shop.ask(key="told-once", amount_paid=500)
    await shop.news()
    assert (await shop.ask(key="told-once", amount_paid=500)).status == 200
    assert await shop.told() == []


async def test_stock_that_runs_low_is_told(shop: Shop) -> None:
    """low_stock down to the threshold, out_of_stock at nothing, each once until it is back up."""
    product = await shop.product(stock=5, low_stock_threshold=2)
    variant = variant_of(product)
    await shop.news()

    async def sold(quantity: float, **fields: Any) -> list[str]:
        await shop.sell(line(product, quantity), **fields)
        return [event for event in await shop.told() if event.startswith("inventory")]

    assert await sold(2) == []
    assert await sold(1, scheduled_for=iso(now() + timedelta(days=1))) == ["inventory.low_stock"]
    assert await sold(1) == []
    assert await sold(1) == ["inventory.out_of_stock"]
    await shop.adjust(variant, 4)
    await shop.news()
    assert sorted(await sold(4)) == ["inventory.low_stock", "inventory.out_of_stock"]


async def test_the_stock_event_names_the_variant(shop: Shop) -> None:
    """By its id, with the store that it is short in."""
    store = await shop.store()
    product = await shop.product(stock=1, store=store["id"])
    await shop.news()
    await shop.sell(line(product), store_id=store["id"])
    [event] = [e for e in await shop.news() if e["type"] == "inventory.out_of_stock"]
    metadata = _check(event, shop, storeId=store["id"])
    assert variant_of(product) in (event["data"]["entityId"], metadata["variantId"])


async def test_a_new_customer_is_told(shop: Shop) -> None:
    """contact.created with the order that brought them, only the first time."""
    await shop.news()
    await shop.sell(customer_name="Brand New")
    assert sorted(await shop.told()) == ["contact.created", "order.created"]
    await shop.sell(customer_name="Brand New")
    assert await shop.told() == ["order.created"]


async def test_the_kitchen_is_told(open_shop: Open) -> None:
    """kitchen_ticket.created with the order, status_updated with each new stage."""
    shop = await open_shop(business_type="restaurant")
    order = await shop.sell()
    events = {event["type"]: event for event in await shop.news()}
    assert events.keys() == {"order.created", "kitchen_ticket.created"}
    ticket = order["kitchenTicketId"]
    event = events["kitchen_ticket.created"]
    shape = {"entityType": "kitchen_ticket", "entityId": ticket, "storeId": None}
    assert _check(event, shop, **shape) == {
        "status": "queued", "orderId": order["id"], "station": "kitchen",
    }  # fmt: skip
    path = f"/v1/orders/{order['id']}/kitchen-status"
    for previous, stage in (("queued", "ready"), ("ready", "preparing")):
        await shop.api.post(path, {"status": stage}, status=200)
        [event] = await shop.news()
        assert event["type"] == "kitchen_ticket.status_updated"
        assert _check(event, shop, **shape) == {
            "previousStatus": previous, "status": stage, "orderId": order["id"],
            "station": "kitchen",
        }  # fmt: skip
    await shop.api.post(path, {"status": "preparing"}, status=200)
    assert await shop.told() == []
