"""The facts that the generated tests need about the routes of customers."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business


async def _make_customer(business: Business, environment: str) -> str:
    return (await business.customer(environment))["id"]


async def _delete_customer(business: Business, customer_id: str) -> None:
    headers = {"service-environment": "test"}
    await business.owner.delete(f"/v1/customers/{customer_id}", headers=headers, status=200)


MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {"customer_id": _make_customer}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {"customer_id": _delete_customer}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {}
