"""The facts that the generated tests need about payment providers and disputes."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business
from tests.payouts.wallets import book_of, currency_of
from tillhouse.kit.ids import new_id

_PAYIN = """
    INSERT INTO payins (book_id, id, provider, provider_transaction_id, status, amount, fee,
        currency, paid_at, applied_at, created_at, updated_at)
    VALUES ($1, $2, 'sandbox', ($2::uuid)::text, 'received', 10, 0, $3, now(), now(), now(), now())
"""
_DISPUTE = """
    INSERT INTO disputes (book_id, id, payin_id, provider, provider_dispute_id, status, amount,
        currency, taken_told, opened_at, created_at, updated_at)
    VALUES ($1, $2, $2, 'sandbox', ($2::uuid)::text, 'opened', 10, $3, 0, now(), now(), now())
"""


async def _make_dispute(business: Business, environment: str) -> str:
    """A dispute, written by hand: providers alone open one."""
    services = business.anybody.app.services
    book_id, dispute_id = await book_of(services, business, environment), new_id()
    currency = await currency_of(services, book_id)
    async with services.pool.transaction() as db:
        await db.execute(_PAYIN, book_id, dispute_id, currency)
        await db.execute(_DISPUTE, book_id, dispute_id, currency)
    return str(dispute_id)


# None is ever removed.
MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {"dispute_id": _make_dispute}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    "PUT /v1/payment-providers": lambda _: {"provider": "sandbox", "selected": True},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {}
