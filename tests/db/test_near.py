"""Near pages: PostgreSQL keeps the plan of a list whose first rows are asked for."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from asyncpg import Record

from tillhouse.access.process import Services
from tillhouse.db.where import is_near
from tillhouse.finance.transactions.store.page import list_newest as list_transactions
from tillhouse.finance.transactions.store.query import TransactionQuery
from tillhouse.kit.ids import BookId, new_id
from tillhouse.kit.page import Page
from tillhouse.orders.listing.store.page import list_newest as list_orders
from tillhouse.orders.listing.store.query import OrderQuery

_KEPT = """
    SELECT generic_plans > 0 FROM pg_prepared_statements
    WHERE statement LIKE $1 ORDER BY prepare_time DESC LIMIT 1
"""
# PostgreSQL plans a statement anew five times before it may keep a plan.
_TIMES = 8
List = Callable[..., Awaitable[Sequence[Record]]]


@pytest.mark.parametrize(
    ("list_newest", "query", "table"),
    [
        (list_orders, OrderQuery(), "orders"),
        (list_transactions, TransactionQuery(), "transactions"),
    ],
    ids=["orders", "transactions"],
)
async def test_the_plan_of_a_near_page_is_kept(
    services: Services, list_newest: List, query: Any, table: str
) -> None:
    """The same for each near page, of each size."""
    db = services.pool.reader()
    try:
        for number in range(_TIMES):
            page = Page(1 + number % 2, 10 + number)
            await list_newest(db, BookId(new_id()), query, page)
        assert await db.fetchval(_KEPT, f"% FROM {table} %LIMIT 100) o%")
    finally:
        await db.release()


def test_a_near_page_ends_within_the_first_hundred() -> None:
    """One that ends later is read another way."""
    assert [is_near(Page(*one)) for one in ((1, 100), (2, 50), (2, 51), (101, 1))] == [
        True, True, False, False
    ]  # fmt: skip
