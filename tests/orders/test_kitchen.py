"""Orders and the kitchen: who goes there by default, stages, and what customers hear."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.api import Api, Response
from tests.calls import calling
from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, fee
from tests.webhooks.shop import until
from tillhouse.access.process import Services
from tillhouse.kit.clock import iso, now
from tillhouse.kit.ids import OrderId
from tillhouse.orders.kitchen.actions import send

STAGES = ("queued", "preparing", "ready", "served")
MESSAGES = "/v1/kitchen/stage-messages"


async def _send(shop: Shop, order: Body, **options: Any) -> Response:
    return await shop.api.post(f"{ORDERS}/{order['id']}/send-to-kitchen", **options)


async def _move(shop: Shop, order: Body, stage: str, **options: Any) -> Response:
    path = f"{ORDERS}/{order['id']}/kitchen-status"
    return await shop.api.post(path, {"status": stage}, **options)


async def _tell(shop: Shop, *stages: str, text: str = "Your order {code} moves.") -> None:
    """Customers are told of these stages from now on, of the others not."""
    messages = [{"stage": stage, "is_sent": stage in stages, "text": text} for stage in STAGES]
    await shop.api.request("PUT", MESSAGES, {"messages": messages}, status=200)


def _told(answer: Response) -> Body:
    assert answer.status == 200, answer
    return answer.json["meta"]["notification"]


@pytest.mark.parametrize("kind", ["retail", "restaurant", "hotel", "school", "services"])
async def test_who_goes_to_the_kitchen(open_shop: Open, kind: str) -> None:
    """Restaurants' and hotels' orders, and all with a service mode or charge, unless held back."""
    shop = await open_shop(business_type=kind)
    cooks = kind in ("restaurant", "hotel")
    cases: list[tuple[Body, bool]] = [
        ({}, cooks),
        ({"service_mode": "takeaway"}, True),
        ({"service_charge_amount": 5}, True),
        ({"send_to_kitchen": True}, True),
        ({"send_to_kitchen": False}, False),
        ({"send_to_kitchen": False, "service_mode": "dine_in"}, False),
    ]
    for fields, goes in cases:
        order = await shop.sell(**fields)
        assert (order["kitchenTicketId"] is not None) is goes, fields
        assert order["kitchenTicketStatus"] == ("queued" if goes else None)
        again = await _send(shop, order)
        assert again.status == (409 if goes else 200)


async def test_an_order_for_later_waits(open_shop: Open) -> None:
    """It goes to the kitchen when its time comes, or by hand."""
    shop = await open_shop(business_type="restaurant")
    order = await shop.sell(scheduled_for=iso(now() + timedelta(days=1)))
    assert order["kitchenTicketId"] is None
    assert (await _send(shop, order, status=200)).data["kitchenTicketStatus"] == "queued"


async def test_sending_opens_a_ticket(shop: Shop) -> None:
    """The order comes back with its ticket, and with what its customer heard."""
    order = await shop.sell()
    answer = await _send(shop, order, status=200)
    sent = answer.data
    assert sent["kitchenTicketStatus"] == "queued"
    expected = {**order, "kitchenTicketId": sent["kitchenTicketId"],
                "kitchenTicketStatus": "queued"}  # fmt: skip
    assert {**sent, "updatedAt": order["updatedAt"]} == expected
    assert await shop.show(order) == sent
    assert _told(answer) == {"status": "skipped", "reason": "auto_send_disabled"}
    assert (await _send(shop, order, status=409)).error == "request_failed"


async def test_sending_twice_with_one_key_is_sending_once(shop: Shop) -> None:
    """The original response, no second ticket, nothing told again."""
    order = await shop.sell()
    headers = {"idempotency-key": str(uuid4())}
    first = await _send(shop, order, headers=headers, status=200)
    await shop.news()
    again = await _send(shop, order, headers=headers, status=200)
    assert again.body == first.body
    assert again.headers["idempotent-replayed"] == "true"
    assert await shop.told() == []


async def test_sending_takes_no_body(shop: Shop) -> None:
    """An empty object passes, anything in it is unknown."""
    order = await shop.sell()
    path = f"{ORDERS}/{order['id']}/send-to-kitchen"
    assert (await shop.api.post(path, {"station": "bar"}, status=422)).wrong_fields == {"station"}
    await shop.api.post(path, {}, status=200)


async def test_every_stage_from_every_stage(shop: Shop) -> None:
    """In any direction; each change is told once."""
    order = await shop.sell(send_to_kitchen=True)
    await shop.news()
    stage = "queued"
    for target in ("served", "queued", "ready", "preparing", "served", "ready", "queued",
                   "preparing", "queued", "served", "preparing", "ready", "served"):  # fmt: skip
        answer = await _move(shop, order, target, status=200)
        assert answer.data["kitchenTicketStatus"] == target
        assert answer.data == await shop.show(order)
        [event] = await shop.news()
        metadata = event["data"]["metadata"]
        assert (metadata["previousStatus"], metadata["status"]) == (stage, target)
        stage = target


async def test_the_same_stage_changes_nothing(shop: Shop) -> None:
    """200, status_unchanged, no event."""
    order = await shop.sell(send_to_kitchen=True)
    await shop.news()
    for stage in ("queued", "ready", "ready"):
        answer = await _move(shop, order, stage)
    assert _told(answer) == {"status": "skipped", "reason": "status_unchanged"}
    assert await shop.told() == ["kitchen_ticket.status_updated"]


async def test_an_order_without_a_ticket_has_no_stage(shop: Shop) -> None:
    """404 that says so; as for an order that isn't there."""
    order = await shop.sell()
    answer = await _move(shop, order, "ready", status=404)
    assert answer.error == "not_found"
    assert "kitchen ticket" in answer.json["message"]
    nothing = {"id": str(uuid4())}
    assert (await _move(shop, nothing, "ready", status=404)).error == "not_found"
    assert (await _send(shop, nothing, status=404)).error == "not_found"


@pytest.mark.parametrize("body", [{"status": "cooked"}, {"status": None}, {"status": 5}, {}])
async def test_a_wrong_stage_is_named(shop: Shop, body: Body) -> None:
    """And the ticket stays where it is."""
    order = await shop.sell(send_to_kitchen=True)
    path = f"{ORDERS}/{order['id']}/kitchen-status"
    assert (await shop.api.post(path, body, status=422)).wrong_fields == {"status"}
    extra = await shop.api.post(path, {"status": "ready", "stage": "ready"}, status=422)
    assert extra.wrong_fields == {"stage"}
    assert (await shop.show(order))["kitchenTicketStatus"] == "queued"


async def test_a_cancelled_order_is_not_cooked(shop: Shop) -> None:
    """Its ticket keeps its status and is closed; nothing moves it, and none is opened."""
    order = await shop.sell(send_to_kitchen=True)
    await _move(shop, order, "preparing", status=200)
    cancelled = await shop.to(order, "cancelled")
    assert cancelled["kitchenTicketStatus"] == "preparing"
    assert (await _move(shop, order, "ready", status=400)).error == "request_failed"
    ticket = f"/v1/kitchen/tickets/{order['kitchenTicketId']}"
    assert (await shop.api.get(ticket, status=200)).data["closedAt"] is not None
    other = await shop.to(await shop.sell(), "cancelled")
    assert (await _send(shop, other, status=400)).error == "request_failed"


@pytest.mark.parametrize("how", ["cancelled", "refunded"])
async def test_a_ticket_of_the_same_moment_is_closed_too(
    shop: Shop, services: Services, how: str
) -> None:
    """The order is sent to the kitchen while its end waits for it: nobody cooks it."""
    order = await shop.sell(fee(500), amount_paid=500, send_to_kitchen=False)
    async with calling(services, shop.business) as call:
        await send(call, OrderId(UUID(order["id"])))
        over = asyncio.create_task(
            shop.to(order, "cancelled")
            if how == "cancelled"
            else shop.api.post(f"{ORDERS}/{order['id']}/refunds", {"amount": 500}, status=201)
        )
        connection = await call.db.fetchval("SELECT pg_backend_pid()")
        await until(lambda: shop.sql.fetchval(_BLOCKED, connection))
    await over
    shown = await shop.show(order)
    assert (shown["status"], shown["kitchenTicketStatus"]) == (how, "queued")
    board = (await shop.api.get("/v1/kitchen/tickets?limit=100", status=200)).data
    assert order["id"] not in {ticket["orderId"] for ticket in board}


_BLOCKED = "SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))"


async def test_a_customer_is_told(open_shop: Open) -> None:
    """Once per stage, by WhatsApp number before phone; the message is named in the answer."""
    shop = await open_shop()
    await _tell(shop, "queued", "ready", text="Hi {customer}: {code}")
    numbers = {"phone_number": "+2348030000003", "whatsapp_number": "+2348030000004"}
    customer = await shop.customer("Ada Obi", **numbers)
    order = await shop.sell(customer_id=customer["id"])
    await shop.news()
    for stage in ("queued", "ready"):
        sends = stage == "queued"
        told = _told(await (_send(shop, order) if sends else _move(shop, order, stage)))
        assert {**told, "messageId": "?"} == {
            "status": "sent", "messageId": "?", "customerName": "Ada Obi",
            "customerPhone": "+2348030000004",
        }  # fmt: skip
        events = {event["type"]: event["data"] for event in await shop.news()}
        assert events["messaging.message.sent"]["messageId"] == told["messageId"]
        assert events["messaging.message.sent"]["text"] == f"Hi Ada Obi: {order['shortCode']}"
    assert _told(await _move(shop, order, "served"))["reason"] == "auto_send_disabled"
    await shop.news()
    assert _told(await _move(shop, order, "ready")) == {
        "status": "skipped", "reason": "already_sent",
    }  # fmt: skip
    assert await shop.told() == ["kitchen_ticket.status_updated"]


async def test_a_replay_tells_no_customer_again(open_shop: Open) -> None:
    """The same key gives the original response: the same message, and no other."""
    shop = await open_shop()
    await _tell(shop, "ready")
    customer = await shop.customer(phone_number="+2348030000005")
    order = await shop.sell(send_to_kitchen=True, customer_id=customer["id"])
    headers = {"idempotency-key": str(uuid4())}
    first = await _move(shop, order, "ready", headers=headers, status=200)
    assert _told(first)["status"] == "sent"
    await shop.news()
    again = await _move(shop, order, "ready", headers=headers, status=200)
    assert again.body == first.body
    assert again.headers["idempotent-replayed"] == "true"
    assert await shop.told() == []


async def test_a_new_order_tells_its_customer(open_shop: Open) -> None:
    """Where it goes to the kitchen as it is made and the first stage is told."""
    shop = await open_shop(business_type="restaurant")
    await _tell(shop, "queued")
    customer = await shop.customer(phone_number="+2348030000006")
    await shop.news()
    order = await shop.sell(customer_id=customer["id"])
    told = [e for e in await shop.told() if e != "messaging.message.delivery_updated"]
    assert sorted(told) == ["kitchen_ticket.created", "messaging.message.sent", "order.created"]
    assert _told(await _move(shop, order, "queued"))["reason"] == "status_unchanged"


async def test_why_a_customer_is_not_told(open_shop: Open) -> None:
    """The first reason of the contract's table that holds."""
    shop = await open_shop()
    [number] = (await shop.api.get("/v1/messaging/numbers", status=200)).data
    reachable = await shop.customer("Ada", phone_number="+2348030000007")
    silent = await shop.customer("Bola")

    async def reason(customer: Body | None) -> str:
        named = {"customer_id": customer["id"]} if customer else {}
        order = await shop.sell(fee(), send_to_kitchen=True, **named)
        told = _told(await _move(shop, order, "ready"))
        assert told.keys() == {"status", "reason"}
        assert told["status"] == "skipped"
        assert (await shop.show(order))["kitchenTicketStatus"] == "ready"
        return told["reason"]

    assert await reason(reachable) == "auto_send_disabled"
    await _tell(shop, "ready", text="  ")
    assert await reason(None) == "missing_customer_phone"
    assert await reason(silent) == "missing_customer_phone"
    assert await reason(reachable) == "empty_message"
    await shop.api.delete(f"/v1/messaging/numbers/{number['id']}", status=200)
    assert await reason(silent) == "missing_customer_phone"
    assert await reason(reachable) == "whatsapp_not_connected"


async def test_a_message_that_fails_fails_nothing(open_shop: Open) -> None:
    """The stage is saved before anybody is told."""
    shop = await open_shop()
    await _tell(shop, "ready")
    # The sandbox refuses messages to this number.
    customer = await shop.customer(phone_number="+15550100001")
    order = await shop.sell(send_to_kitchen=True, customer_id=customer["id"])
    answer = await _move(shop, order, "ready", status=200)
    told = _told(answer)
    assert (told["status"], told["reason"]) == ("failed", "whatsapp_send_failed")
    assert answer.data["kitchenTicketStatus"] == "ready"
    assert (await shop.show(order))["kitchenTicketStatus"] == "ready"


async def test_the_kitchen_cooks_and_sells_nothing(open_shop: Open) -> None:
    """The role reads orders and moves tickets; everything else is refused."""
    shop = await open_shop()
    order = await shop.sell()
    await shop.sql.execute(
        "UPDATE members SET role = 'kitchen' WHERE business_id = $1::text::uuid", shop.business.id
    )
    cook = Api(shop.api.app, shop.business.owner.headers | {"service-environment": "test"})
    path = f"{ORDERS}/{order['id']}"
    for read in (ORDERS, path, "/v1/kitchen/tickets", MESSAGES):
        await cook.get(read, status=200)
    await cook.post(path + "/send-to-kitchen", status=200)
    await cook.post(path + "/kitchen-status", {"status": "ready"}, status=200)
    await cook.post(ORDERS, {"items": [fee()]}, status=403)
    await cook.patch(path, {"amount_paid": 1}, status=403)
    await cook.delete(path, status=403)
    await cook.post(path + "/confirm", {}, status=403)
