"""The cost of a page of a list by change, far from the list's beginning."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import LiteralString, cast
from uuid import UUID

import pytest

from tests.explaining import pages_read, plan_of, scanned
from tests.orders.conftest import Open
from tests.orders.shop import Shop
from tillhouse.access.process import Services
from tillhouse.customers.listing import store as customers
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Position
from tillhouse.orders.listing.store import page as orders
from tillhouse.orders.listing.store.query import OrderQuery
from tillhouse.products.store import products

_ROWS = 20_000
_BEGAN = datetime(2026, 1, 31, tzinfo=UTC)
_MIDDLE = Position(
    at=_BEGAN + timedelta(milliseconds=_ROWS // 2), id=UUID(int=0), next_since=_BEGAN, total=_ROWS
)
Listed = Callable[[Db, BookId], Awaitable[object]]
_PAGES: dict[str, Listed] = {
    "orders": lambda db, book: orders.list_changed(
        db, book, OrderQuery(asked={"updated_since": _BEGAN}), _MIDDLE, 50
    ),
    "customers": lambda db, book: customers.list_changed(
        db, book, customers.Matching(since=_BEGAN), _MIDDLE, 50
    ),
    "products": lambda db, book: products.list_changed(
        db, book, products.ProductQuery(since=_BEGAN), _MIDDLE, 50
    ),
}
_COLUMNS = """
    SELECT string_agg(column_name, ', ') AS names, string_agg(CASE
        WHEN column_name = 'id' THEN 'gen_random_uuid()'
        WHEN column_name = 'short_code' THEN '''C'' || n'
        WHEN column_name = 'idempotency_key' THEN 'NULL'
        WHEN column_name IN ('created_at', 'updated_at')
            THEN '''2026-01-31Z''::timestamptz + n * interval ''1 millisecond'''
        ELSE column_name END, ', ') AS forms
    FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER'
"""


class _Undone(Exception):
    """Ends a transaction of which nothing is to stay."""


async def _multiply(db: Db, shop: Shop, kind: str) -> None:
    """Very many of the one row that there is, each changed a millisecond after the other."""
    columns = await db.fetchrow(_COLUMNS, kind)
    assert columns is not None
    # No trigger: only the rows count here.
    await db.execute("SET LOCAL session_replication_role = replica")
    rows = (
        f"INSERT INTO {kind} ({columns['names']}) SELECT {columns['forms']} "  # noqa: S608
        f"FROM {kind}, generate_series(1, {_ROWS}) n WHERE book_id = $1"
    )
    await db.execute(cast(LiteralString, rows), shop.book)
    await db.execute(cast(LiteralString, f"ANALYZE {kind}"))


@pytest.mark.parametrize("kind", list(_PAGES))
async def test_a_page_reads_its_own_rows_alone(
    open_shop: Open, services: Services, kind: str
) -> None:
    """Of 20,000 that changed since, the page in their middle passes over none."""
    shop = await open_shop()
    await {"orders": shop.sell, "customers": shop.customer, "products": shop.product}[kind]()
    with suppress(_Undone):
        async with services.pool.transaction() as db:
            await _multiply(db, shop, kind)
            plan = await plan_of(db, lambda asked: _PAGES[kind](asked, BookId(shop.book)))
            assert kind not in set(scanned(plan))
            assert f"{kind}_by_change" in json.dumps(plan)
            assert plan["Actual Rows"] == 50
            assert pages_read(plan) < 2_000, plan
            raise _Undone
