"""The facts that the generated tests need about the routes of kitchen."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.kitchen.sale_rows import Kitchen
from tests.make import Business


async def _make_ticket(business: Business, environment: str) -> str:
    services = business.anybody.app.services
    kitchen = await Kitchen.of(services, business, "live" if environment == "live" else "test")
    _, ticket = await kitchen.ticket()
    return str(ticket.id)


MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {"ticket_id": _make_ticket}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    "PUT /v1/kitchen/stage-messages": lambda _: {
        "messages": [{"stage": "ready", "is_sent": True, "text": "{code} is ready, {customer}."}]
    },
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {}
