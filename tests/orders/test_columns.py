"""The columns of orders and of what hangs on them are declared as they are in the tables."""

from collections.abc import Sequence
from typing import get_args

import asyncpg
import pytest

from tillhouse.kit.columns import Column
from tillhouse.orders.columns import ITEMS, METHODS, ORDERS, PAYMENTS, REFUNDS
from tillhouse.orders.money_types import PaymentMethod

# The key that leads, and sums by method of payment with their bits, are declared otherwise.
APART = {"book_id", "payment_methods", *(f"paid_by_{method}" for method in METHODS)}


async def columns_of(sql: asyncpg.Connection, table: str) -> dict[str, str]:
    """The columns of a table with their types, a domain as the type that it rests on."""
    rows = await sql.fetch(
        """
        SELECT a.attname AS name,
            format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, NULL) AS type
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
        """,
        table,
    )
    long = "timestamp with time zone"
    return {row["name"]: row["type"].replace(long, "timestamptz") for row in rows}


@pytest.mark.parametrize(
    ("table", "declared"),
    [("orders", ORDERS), ("order_items", ITEMS), ("payments", PAYMENTS), ("refunds", REFUNDS)],
    ids=["orders", "order_items", "payments", "refunds"],
)
async def test_columns_are_declared_with_their_types(
    sql: asyncpg.Connection, table: str, declared: Sequence[Column]
) -> None:
    """The database has each of them."""
    there = await columns_of(sql, table)
    assert {one.name: one.type for one in declared}.items() <= there.items()


async def test_every_column_of_orders_is_declared(sql: asyncpg.Connection) -> None:
    """One that a migration adds is written, changed and shown by its declaration alone."""
    assert {one.name for one in ORDERS} == set(await columns_of(sql, "orders")) - APART


def test_each_method_of_payment_has_its_sum() -> None:
    """The methods that have columns are those of the contract."""
    assert get_args(PaymentMethod) == METHODS
