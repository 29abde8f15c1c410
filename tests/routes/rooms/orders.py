"""The facts that the generated tests need about the routes of orders."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business

FEE = {"product_name": "Delivery", "quantity": 1, "line_type": "fee", "custom_price": 500}
_PAYMENT = {"amount": 100, "method": "cash"}


async def make_order(business: Business, environment: str = "test", **fields: Any) -> str:
    """An order of one fee line."""
    api = await business.client("orders:write", environment=environment)
    return (await api.post("/v1/orders", {"items": [FEE], **fields}, status=201)).data["id"]


async def _remove_order(business: Business, order_id: str) -> None:
    api = await business.client("orders:write")
    await api.delete(f"/v1/orders/{order_id}", status=200)


async def _make_scheduled(business: Business, environment: str) -> str:
    return await make_order(business, environment, scheduled_for="2100-01-01T12:00:00Z")


async def _make_cooking(business: Business, environment: str) -> str:
    return await make_order(business, environment, send_to_kitchen=True)


async def _make_paid(business: Business, environment: str) -> str:
    return await make_order(business, environment, amount_paid=500)


async def _make_automated(business: Business, environment: str) -> str:
    """Only a payment provider gives an order its deposit, and there is none here."""
    order_id = await make_order(business, environment)
    async with business.anybody.app.services.pool.transaction() as db:
        await db.execute("UPDATE orders SET is_automated = true WHERE id = $1", order_id)
    return order_id


OWN_MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    "POST /v1/orders/{order_id}/confirm": _make_scheduled,
    "POST /v1/orders/{order_id}/kitchen-status": _make_cooking,
    "POST /v1/orders/{order_id}/refunds": _make_paid,
    "POST /v1/orders/{order_id}/refunds/preview": _make_paid,
    "POST /v1/orders/{order_id}/requery": _make_automated,
}
MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {"order_id": make_order}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {"order_id": _remove_order}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    "POST /v1/orders": lambda _: {"items": [FEE]},
    "POST /v1/orders/preview": lambda _: {"items": [FEE]},
    "PATCH /v1/orders/{order_id}": lambda _: {"amount_paid": 100},
    "POST /v1/orders/{order_id}/confirm": lambda _: {},
    "POST /v1/orders/{order_id}/payments": lambda _: _PAYMENT,
    "POST /v1/orders/{order_id}/refunds": lambda _: {"amount": 100},
    "POST /v1/orders/{order_id}/refunds/preview": lambda _: {"amount": 100},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {}
# Bodies that differ from the one that passes: an order has no `name`.
OTHER_BODIES: dict[str, dict[str, Any]] = {
    "POST /v1/orders": {"items": [{**FEE, "quantity": 2}]},
    "POST /v1/orders/preview": {"items": [{**FEE, "quantity": 2}]},
    "POST /v1/orders/{order_id}/kitchen-status": {"status": "served"},
    "POST /v1/orders/{order_id}/payments": {**_PAYMENT, "method": "pos"},
    "POST /v1/orders/{order_id}/refunds": {"amount": 50},
    "POST /v1/orders/{order_id}/refunds/preview": {"amount": 50},
}
