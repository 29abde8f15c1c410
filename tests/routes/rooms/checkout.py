"""The facts that the generated tests need about the routes of payment links."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business
from tests.routes.rooms.orders import make_order

_LINKS = "/v1/payment-links"


async def _body(business: Business, environment: str = "test") -> dict[str, Any]:
    return {"target_type": "sale", "target_id": await make_order(business, environment)}


async def connect_provider(business: Business) -> None:
    """Let the live book collect, by a provider that nobody asks here."""
    async with business.anybody.app.services.pool.transaction() as db:
        await db.execute(
            """
            INSERT INTO payment_providers (book_id, id, provider, is_selected, credentials_sealed,
                created_at, updated_at)
            SELECT b.id, gen_random_uuid(), 'paystack', true, '\\x00', now(), now()
            FROM books b WHERE b.business_id = $1 AND b.environment = 'live'
            ON CONFLICT DO NOTHING
            """,
            business.id,
        )


async def _make_link(business: Business, environment: str) -> str:
    if environment == "live":
        await connect_provider(business)
    api = await business.client("payment_links:write", environment=environment)
    body = await _body(business, environment)
    return (await api.post(_LINKS, body, status=201)).data["id"]


# A link stays for ever, so it has no remover.
MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {"link_id": _make_link}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    f"POST {_LINKS}/wallet/dynamic": lambda _: {"title": "Hall deposit", "amount": 250},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {
    f"POST {_LINKS}": _body,
}
# Bodies that differ from the one that passes: a link has no `name`.
OTHER_BODIES: dict[str, dict[str, Any]] = {
    f"POST {_LINKS}": {
        "target_type": "debt",
        "target_id": "00000000-0000-7000-8000-000000000000",
    },
    f"POST {_LINKS}/wallet/dynamic": {"title": "Garden deposit", "amount": 250},
}
