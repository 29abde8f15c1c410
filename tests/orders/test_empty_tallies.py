"""Kinds that no order is of any more leave no rows behind."""

import asyncpg

from tests.make import Business
from tests.sweeping import sweep
from tillhouse.access.process import Services
from tillhouse.jobs.chores import fold
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES

ORDERS = "/v1/orders"
ROWS = """
    SELECT (SELECT count(*) FROM order_tallies WHERE book_id = $1) AS tallies,
        (SELECT count(*) FROM order_tallies_in_detail WHERE book_id = $1) AS in_detail
"""


async def test_an_order_that_changes_for_ever_leaves_no_rows_behind(
    business: Business, sql: asyncpg.Connection, services: Services
) -> None:
    """One order of many kinds, one after another: the last one's rows stay, and are right."""
    api = await business.client("orders:read", "orders:write")
    line = {"product_name": "Tea", "quantity": 1, "custom_price": 2.5}
    order = (await api.post(ORDERS, {"items": [line], "amount_paid": 0}, status=201)).data
    path = f"{ORDERS}/{order['id']}"
    book_id = await sql.fetchval("SELECT book_id FROM orders WHERE id::text = $1", order["id"])
    methods = ("transfer", "pos", "other", "cash")
    for paid in (1, 2.5):
        for method in methods:
            body = {"payment_method": method, "amount_paid": paid}
            await api.request("PATCH", path, body, status=200)
            await fold(services.pool, ORDER_TALLIES)
    before = (await api.get(ORDERS, status=200)).json["summary"]
    grown = await sql.fetchrow(ROWS, book_id)
    assert min(grown) > 2 * len(methods)
    assert await sweep(services, "empty_tallies") >= 1
    assert tuple(await sql.fetchrow(ROWS, book_id)) == (3, 2)
    assert (await api.get(ORDERS, status=200)).json["summary"] == before
