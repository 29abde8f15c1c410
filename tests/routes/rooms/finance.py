"""The facts that the generated tests need about the routes of finance."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business
from tests.routes.rooms.orders import make_order

_SPENT = {"amount": 12500, "category": "Fuel"}


async def _make_transaction(business: Business, environment: str) -> str:
    order_id = await make_order(business, environment, amount_paid=500)
    api = await business.client("finance:read", environment=environment)
    found = (await api.get("/v1/finance/transactions", status=200)).data
    return next(one["id"] for one in found if one["orderId"] == order_id)


async def _make_expense(business: Business, environment: str) -> str:
    api = await business.client("finance:expenses:write", environment=environment)
    return (await api.post("/v1/finance/expenses", _SPENT, status=201)).data["id"]


async def _remove_expense(business: Business, expense_id: str) -> None:
    api = await business.client("finance:expenses:write")
    await api.delete(f"/v1/finance/expenses/{expense_id}", status=200)


# A transaction stays for ever, so it has no remover.
MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    "transaction_id": _make_transaction,
    "expense_id": _make_expense,
}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {"expense_id": _remove_expense}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    "POST /v1/finance/expenses": lambda _: _SPENT,
    "PUT /v1/ledger/closing": lambda _: {"closed_until": "2020-01-31"},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {}
# Bodies that differ from the one that passes: an expense has no `name`.
OTHER_BODIES: dict[str, dict[str, Any]] = {
    "PUT /v1/ledger/closing": {"closed_until": "2020-02-29"},
    "POST /v1/finance/expenses": {"amount": 100},
}
