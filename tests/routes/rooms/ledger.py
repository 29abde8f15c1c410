"""The facts that the generated tests need about the routes of ledger."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business
from tests.orders.posting.shop import Shop, position


async def _make_debt(business: Business, environment: str) -> str:
    services = business.anybody.app.services
    async with services.pool.reading() as db:
        shop = await Shop.of(business, services, db, environment)
        order = await shop.sell(position(1000, 400, await shop.customer()))
        return str((await shop.rows_of(order))["debts"][0]["id"])


# A debt stays for ever, so it has no remover.
MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {"debt_id": _make_debt}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {}
