"""The figures of lists are kept, not counted: they must always say what a count would."""

import random
from typing import Any

import asyncpg

from tests.api import Api
from tests.make import Business
from tillhouse.access.house import House
from tillhouse.orders.works import fold

ORDERS = "/v1/orders"
SCAN = """
    SELECT status, payment_status, channel, payment_method, service_mode, store_id,
        is_automated, channel_fulfilled_at IS NOT NULL AS is_fulfilled, count(*) AS orders,
        sum(total_amount) AS total_amount, sum(remaining_amount) AS remaining_amount
    FROM orders
    WHERE book_id = $1 AND deleted_at IS NULL
    GROUP BY status, payment_status, channel, payment_method, service_mode, store_id,
        is_automated, channel_fulfilled_at IS NOT NULL
"""
KEPT = """
    SELECT status, payment_status, channel, payment_method, service_mode, store_id,
        is_automated, is_fulfilled, sum(orders) AS orders, sum(total_amount) AS total_amount,
        sum(remaining_amount) AS remaining_amount
    FROM (
        SELECT * FROM order_tallies WHERE book_id = $1 AND (day IS NULL) = $2
        UNION ALL
        SELECT book_id, day, status, payment_status, channel, payment_method, service_mode,
            store_id, is_automated, is_fulfilled, orders, total_amount, remaining_amount
        FROM order_tally_changes WHERE book_id = $1
    ) t
    GROUP BY status, payment_status, channel, payment_method, service_mode, store_id,
        is_automated, is_fulfilled
    HAVING sum(orders) <> 0 OR sum(total_amount) <> 0 OR sum(remaining_amount) <> 0
"""


def _rows(found: Any) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in found}


async def _check(sql: asyncpg.Connection, book_id: str) -> None:
    scanned = _rows(await sql.fetch(SCAN, book_id))
    for over_all_days in (True, False):
        assert _rows(await sql.fetch(KEPT, book_id, over_all_days)) == scanned


async def _change(api: Api, chance: random.Random, ids: list[str]) -> None:
    """One random operation; refusals are as good as successes here."""
    if not ids or chance.random() < 0.4:
        body: dict[str, Any] = {
            "items": [
                {"product_name": "Tea", "quantity": chance.randint(1, 9), "custom_price": 2.5}
            ],
            "amount_paid": chance.choice([0, 1, 100]),
            "channel": chance.choice(["in_person", "whatsapp", "other"]),
            "payment_method": chance.choice(["cash", "pos"]),
        }
        if chance.random() < 0.2:
            body["scheduled_for"] = "2100-01-01T00:00:00Z"
        if chance.random() < 0.3:
            body["occurred_at"] = f"2026-0{chance.randint(1, 9)}-11T23:59:59.999Z"
            body.pop("scheduled_for", None)
        ids.append((await api.post(ORDERS, body, status=201)).data["id"])
        return
    path = f"{ORDERS}/{chance.choice(ids)}"
    patch = chance.choice(
        [
            {"status": "cancelled"}, {"status": "pending"}, {"status": "completed"},
            {"amount_paid": chance.randint(0, 30)}, {"total_amount": chance.randint(1, 50)},
            {"channel_fulfilled": chance.random() < 0.5}, {"payment_method": "transfer"}, None,
        ]
    )  # fmt: skip
    if patch is None:
        await api.request("DELETE", path)
    else:
        await api.request("PATCH", path, patch)


async def test_tallies_say_what_a_count_says(
    business: Business, sql: asyncpg.Connection, house: House
) -> None:
    """After random changes, some of them folded in between: by all days and day by day."""
    api = await business.client("orders:read", "orders:write")
    made = await api.post(
        ORDERS,
        {"items": [{"product_name": "Tea", "quantity": 1, "custom_price": 2.5}]},
        status=201,
    )
    ids: list[str] = [made.data["id"]]
    book_id = await sql.fetchval("SELECT book_id FROM orders WHERE id = $1", ids[0])
    chance = random.Random(7)  # noqa: S311 - any walk will do, but always the same
    for step in range(120):
        await _change(api, chance, ids)
        if step % 30 == 29:
            await _check(sql, book_id)
            await fold(house)
            await _check(sql, book_id)
    summary = (await api.get(ORDERS, status=200)).json["summary"]
    counted = await sql.fetchrow(
        """
        SELECT count(*) AS all, count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
            sum(total_amount) FILTER (WHERE status IN ('pending', 'completed')) AS revenue
        FROM orders WHERE book_id = $1 AND deleted_at IS NULL
        """,
        book_id,
    )
    assert summary["totalOrders"] == summary["filteredOrders"] == counted["all"]
    assert summary["cancelledOrdersCount"] == counted["cancelled"]
    assert summary["totalRevenue"] == counted["revenue"]
