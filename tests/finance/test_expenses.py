"""Expenses: posted once, taken back once, and the ledger agrees."""

import asyncio
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.finance.books import EXPENSES
from tests.finance.conftest import Open
from tillhouse.access.process import Services
from tillhouse.finance.expenses.proof import EXPENSE_SOURCE
from tillhouse.ledger.proof import prove
from tillhouse.orders.posting.proof import ORDER_SOURCE

_ACCOUNTS = """
    SELECT debit_kind, credit_kind, sum(amount) AS amount FROM ledger_transfers
    WHERE book_id = $1 GROUP BY 1, 2 ORDER BY 1, 2
"""

_NOTED = """
    SELECT metadata::jsonb ->> 'expenseId', metadata::jsonb ->> 'amount' FROM audit_events
    WHERE business_id = $1 AND event_type = 'expense.voided'
"""


async def _faults(services: Services, book: Any) -> list[str]:
    async with services.pool.reading() as db:
        found = prove(db, book, (EXPENSE_SOURCE, ORDER_SOURCE))
        return [str(fault) async for fault in found]


async def test_an_expense_is_money_that_left(
    open_books: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """From where its method says, with a transaction, on its day and in its store."""
    books = await open_books(currency="NGN")
    store = await books.shop.store(name="Yaba")
    spent = await books.spend(
        12500.5, category=" Fuel ", description="Diesel", method="transfer",
        store_id=store["id"], occurred_at="2026-01-05T10:00:00Z",
    )  # fmt: skip
    assert (spent["amount"], spent["category"], spent["currency"]) == (12500.5, "Fuel", "NGN")
    rows = await sql.fetch(_ACCOUNTS, books.shop.book)
    assert [tuple(row) for row in rows] == [("expenses", "bank", Decimal("12500.5"))]
    (transaction,) = await books.all(type="expense")
    assert transaction["id"] == spent["transactionId"]
    assert (transaction["expenseId"], transaction["fullDate"]) == (
        spent["id"], "2026-01-05T10:00:00.000Z",
    )  # fmt: skip
    listed = await books.look(EXPENSES, {"to": "2026-01-05"})
    assert (listed.data, listed.json["meta"]["total"]) == ([spent], 1)
    assert (await books.summary(date="2026-01-05", store_id=store["id"]))[
        "expensesTotal"
    ] == 12500.5
    assert (await books.summary(date="2026-01-06"))["expensesTotal"] == 0
    assert await _faults(services, books.shop.book) == []


async def test_fifty_take_it_back_once(
    open_books: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """One answers 200, the others find nothing; its transfer is reversed, it counts no more."""
    books = await open_books()
    spent = await books.spend(80)
    path = f"{EXPENSES}/{spent['id']}"
    answers = await asyncio.gather(*(books.api.request("DELETE", path) for _ in range(50)))
    assert sorted(one.status for one in answers) == [200, *[404] * 49]
    rows = await sql.fetch(_ACCOUNTS, books.shop.book)
    assert [(row[0], row[1]) for row in rows] == [("cash", "expenses"), ("expenses", "cash")]
    (transaction,) = await books.all(type="expense")
    assert transaction["status"] == "reversed"
    assert (await books.summary())["expensesTotal"] == 0
    listed = await books.api.get(EXPENSES, status=200)
    assert (listed.data, listed.json["meta"]["total"]) == ([], 0)
    noted = await sql.fetch(_NOTED, UUID(books.shop.business.id))
    assert [tuple(row) for row in noted] == [(spent["id"], "80")]
    assert await _faults(services, books.shop.book) == []


async def test_a_lie_is_found(
    open_books: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """An expense that says another amount than its transfer, and one that lost its row."""
    books = await open_books()
    spent = await books.spend(80)
    await sql.execute("UPDATE expenses SET amount = 81 WHERE id = $1", spent["id"])
    told = await _faults(services, books.shop.book)
    assert any("must come to 81" in fault for fault in told)
    await sql.execute("DELETE FROM expenses WHERE id = $1", spent["id"])
    told = await _faults(services, books.shop.book)
    assert any("isn't there" in fault for fault in told)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"amount": 0}, "amount"),
        ({"amount": -5}, "amount"),
        ({"amount": 1.001}, "amount"),
        ({"amount": 1e15}, "amount"),
        ({"amount": 5, "method": "wallet"}, "method"),
        ({"amount": 5, "occurred_at": "2999-01-01T00:00:00Z"}, "occurred_at"),
        ({"amount": 5, "category": ""}, "category"),
        ({"amount": 5, "description": "x" * 501}, "description"),
        ({"amount": 5, "currency": "NGN"}, "currency"),
        ({}, "amount"),
    ],
)
async def test_wrong_fields_are_named(open_books: Open, body: Any, field: str) -> None:
    """And nothing is booked."""
    books = await open_books(currency="NGN")
    refused = await books.api.post(EXPENSES, body, status=422)
    assert [one["field"] for one in refused.json["details"]] == [field]
    assert await books.all() == []


async def test_a_store_of_another_business_is_unknown(open_books: Open) -> None:
    """As one that was never there."""
    books, other = await open_books(), await open_books()
    store = await other.shop.store(name="Yaba")
    body = {"amount": 5, "store_id": store["id"]}
    refused = await books.api.post(EXPENSES, body, status=422)
    assert refused.json["details"][0]["field"] == "store_id"
