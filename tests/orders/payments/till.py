"""A till: orders, their payments and refunds through the API, and the proof of the books."""

from decimal import Decimal
from typing import Any

from tests.api import Response
from tests.orders.shop import ORDERS, Body, Shop, fee
from tests.orders.snapshot import proof
from tillhouse.access.process import Services
from tillhouse.kit.fault import Fault


class Till(Shop):
    """A shop in which an order is paid by several tenders, and given back."""

    async def ring(self, price: float = 100, paid: float = 0, **fields: Any) -> Body:
        """An order of one thing at a price."""
        return await self.sell(fee(price), amount_paid=paid, **fields)

    async def pay(
        self, order: Body, amount: float, method: str = "cash", *, status: int = 201, **fields: Any
    ) -> Any:
        """The order after a payment, or the refusal."""
        body = {"amount": amount, "method": method, **fields}
        answer = await self.post_payment(order, body)
        assert answer.status == status, answer
        return answer.data if status == 201 else answer

    async def post_payment(self, order: Body, body: Body, key: str | None = None) -> Response:
        """The answer to a payment, whatever it is."""
        headers = {"idempotency-key": key} if key else None
        return await self.api.post(f"{ORDERS}/{order['id']}/payments", body, headers=headers)

    async def give_back(self, order: Body, *, status: int = 201, **fields: Any) -> Any:
        """The order after a refund, or the refusal."""
        answer = await self.post_refund(order, fields)
        assert answer.status == status, answer
        return answer.data if status == 201 else answer

    async def post_refund(self, order: Body, body: Body, key: str | None = None) -> Response:
        """The answer to a refund, whatever it is."""
        headers = {"idempotency-key": key} if key else None
        return await self.api.post(f"{ORDERS}/{order['id']}/refunds", body, headers=headers)

    async def accounts(self) -> dict[str, Decimal]:
        """Debits less credits by kind of account, where they aren't even."""
        rows = await self.sql.fetch(_ACCOUNTS, self.book)
        return {row["kind"]: row["held"] for row in rows}

    async def transactions(self) -> list[tuple[str, str, Decimal]]:
        """The transactions: type, method, amount, the oldest first."""
        rows = await self.sql.fetch(_TRANSACTIONS, self.book)
        return [(row["type"], row["method"], row["amount"]) for row in rows]

    async def faults(self, services: Services) -> list[Fault]:
        """The faults that `tillhouse verify` finds in the book."""
        return await proof(services, self.book)


_ACCOUNTS = """
    SELECT s.kind, sum(s.amount) AS held FROM (
        SELECT debit_kind AS kind, amount FROM ledger_transfers WHERE book_id = $1
        UNION ALL
        SELECT credit_kind, -amount FROM ledger_transfers WHERE book_id = $1
    ) s GROUP BY s.kind HAVING sum(s.amount) <> 0
"""
_TRANSACTIONS = """
    SELECT type, method, amount FROM transactions WHERE book_id = $1 ORDER BY id
"""
