"""The figures of lists are kept, not counted: they must always say what a count would."""

import random
from typing import Any

import asyncpg

from tests.api import Api
from tests.make import Business
from tillhouse.access.process import Services
from tillhouse.jobs.chores import fold
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES

ORDERS = "/v1/orders"
SCOPES = ("orders:read", "orders:write", "stores:read", "stores:write")
# Every level of either table beside a scan: by days, by months, and over all time.
SCAN = """
    SELECT date_trunc($2, occurred_at AT TIME ZONE 'UTC')::date AS day, status, payment_status,
        channel, payment_methods, service_mode, store_id, is_automated,
        channel_fulfilled_at IS NOT NULL AS is_fulfilled, count(*) AS orders,
        sum(total_amount) AS total_amount, sum(remaining_amount) AS remaining_amount,
        sum(coalesce(refunded_amount, 0)) AS refunded,
        sum(coalesce(paid_by_cash, 0)) AS cash, sum(coalesce(paid_by_transfer, 0)) AS transfer,
        sum(coalesce(paid_by_pos, 0)) AS pos, sum(coalesce(paid_by_cloove_pay, 0)) AS cloove_pay,
        sum(coalesce(paid_by_credit, 0)) AS credit, sum(coalesce(paid_by_other, 0)) AS other
    FROM orders
    WHERE book_id = $1 AND deleted_at IS NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
"""
KEPT = """
    SELECT date_trunc($2, day)::date AS day, status, payment_status, channel, payment_methods,
        service_mode, store_id, is_automated, is_fulfilled, sum(orders) AS orders,
        sum(total_amount) AS total_amount, sum(remaining_amount) AS remaining_amount,
        sum(coalesce(refunded_amount, 0)) AS refunded,
        sum(coalesce(paid_by_cash, 0)) AS cash, sum(coalesce(paid_by_transfer, 0)) AS transfer,
        sum(coalesce(paid_by_pos, 0)) AS pos, sum(coalesce(paid_by_cloove_pay, 0)) AS cloove_pay,
        sum(coalesce(paid_by_credit, 0)) AS credit, sum(coalesce(paid_by_other, 0)) AS other
    FROM (
        SELECT coalesce(day, '2001-01-01') AS day, status, payment_status, channel,
            payment_methods, service_mode, store_id, is_automated, is_fulfilled, orders,
            total_amount, remaining_amount, refunded_amount,
            paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit,
            paid_by_other
        FROM order_tallies
        WHERE book_id = $1 AND period = CASE $2 WHEN 'millennium' THEN 'ever' ELSE $2 END
        UNION ALL
        SELECT day, status, payment_status, channel, payment_methods, service_mode, store_id,
            is_automated, is_fulfilled, orders, total_amount, remaining_amount, refunded_amount,
            paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit,
            paid_by_other
        FROM order_tally_changes WHERE book_id = $1
    ) t
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    HAVING sum(orders) <> 0 OR sum(total_amount) <> 0 OR sum(remaining_amount) <> 0
        OR sum(refunded_amount) <> 0
        OR sum(paid_by_cash) <> 0 OR sum(paid_by_transfer) <> 0 OR sum(paid_by_pos) <> 0
        OR sum(paid_by_cloove_pay) <> 0 OR sum(paid_by_credit) <> 0 OR sum(paid_by_other) <> 0
"""
SCAN_IN_DETAIL = """
    SELECT date_trunc($2, occurred_at AT TIME ZONE 'UTC')::date AS day, status, payment_status,
        channel, payment_methods, service_mode, store_id, is_automated,
        channel_fulfilled_at IS NOT NULL AS is_fulfilled, recorded_by_id, served_by_id,
        academic_term_id, tag_ids::text, count(*) AS orders, sum(total_amount) AS total_amount,
        sum(remaining_amount) AS remaining_amount,
        sum(coalesce(refunded_amount, 0)) AS refunded,
        sum(coalesce(paid_by_cash, 0)) AS cash, sum(coalesce(paid_by_transfer, 0)) AS transfer,
        sum(coalesce(paid_by_pos, 0)) AS pos, sum(coalesce(paid_by_cloove_pay, 0)) AS cloove_pay,
        sum(coalesce(paid_by_credit, 0)) AS credit, sum(coalesce(paid_by_other, 0)) AS other
    FROM orders
    WHERE book_id = $1 AND deleted_at IS NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
"""
KEPT_IN_DETAIL = """
    SELECT date_trunc($2, day)::date AS day, status, payment_status, channel, payment_methods,
        service_mode, store_id, is_automated, is_fulfilled, recorded_by_id, served_by_id,
        academic_term_id, tag_ids::text, sum(orders) AS orders,
        sum(total_amount) AS total_amount, sum(remaining_amount) AS remaining_amount,
        sum(coalesce(refunded_amount, 0)) AS refunded,
        sum(coalesce(paid_by_cash, 0)) AS cash, sum(coalesce(paid_by_transfer, 0)) AS transfer,
        sum(coalesce(paid_by_pos, 0)) AS pos, sum(coalesce(paid_by_cloove_pay, 0)) AS cloove_pay,
        sum(coalesce(paid_by_credit, 0)) AS credit, sum(coalesce(paid_by_other, 0)) AS other
    FROM (
        SELECT coalesce(day, '2001-01-01') AS day, status, payment_status, channel,
            payment_methods, service_mode, store_id, is_automated, is_fulfilled, recorded_by_id,
            served_by_id, academic_term_id, tag_ids, orders, total_amount, remaining_amount,
            refunded_amount,
            paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit,
            paid_by_other
        FROM order_tallies_in_detail
        WHERE book_id = $1 AND (day IS NULL) = ($2 = 'millennium')
        UNION ALL
        SELECT day, status, payment_status, channel, payment_methods, service_mode, store_id,
            is_automated, is_fulfilled, recorded_by_id, served_by_id, academic_term_id, tag_ids,
            orders, total_amount, remaining_amount, refunded_amount,
            paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit,
            paid_by_other
        FROM order_tally_changes WHERE book_id = $1
    ) t
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    HAVING sum(orders) <> 0 OR sum(total_amount) <> 0 OR sum(remaining_amount) <> 0
        OR sum(refunded_amount) <> 0
        OR sum(paid_by_cash) <> 0 OR sum(paid_by_transfer) <> 0 OR sum(paid_by_pos) <> 0
        OR sum(paid_by_cloove_pay) <> 0 OR sum(paid_by_credit) <> 0 OR sum(paid_by_other) <> 0
"""
SCAN_OF_TOTALS = """
    SELECT status, payment_status, store_id, count(*) AS orders,
        sum(total_amount) AS total_amount, sum(remaining_amount) AS remaining_amount,
        sum(coalesce(refunded_amount, 0)) AS refunded,
        sum(coalesce(paid_by_cash, 0)) AS cash, sum(coalesce(paid_by_transfer, 0)) AS transfer,
        sum(coalesce(paid_by_pos, 0)) AS pos, sum(coalesce(paid_by_cloove_pay, 0)) AS cloove_pay,
        sum(coalesce(paid_by_credit, 0)) AS credit, sum(coalesce(paid_by_other, 0)) AS other
    FROM orders
    WHERE book_id = $1 AND deleted_at IS NULL
    GROUP BY 1, 2, 3
"""
KEPT_TOTALS = """
    SELECT status, payment_status, store_id, sum(orders) AS orders,
        sum(total_amount) AS total_amount, sum(remaining_amount) AS remaining_amount,
        sum(coalesce(refunded_amount, 0)) AS refunded,
        sum(coalesce(paid_by_cash, 0)) AS cash, sum(coalesce(paid_by_transfer, 0)) AS transfer,
        sum(coalesce(paid_by_pos, 0)) AS pos, sum(coalesce(paid_by_cloove_pay, 0)) AS cloove_pay,
        sum(coalesce(paid_by_credit, 0)) AS credit, sum(coalesce(paid_by_other, 0)) AS other
    FROM (
        SELECT status, payment_status, store_id, orders, total_amount, remaining_amount,
            refunded_amount, paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay,
            paid_by_credit, paid_by_other
        FROM order_totals WHERE book_id = $1
        UNION ALL
        SELECT status, payment_status, store_id, orders, total_amount, remaining_amount,
            refunded_amount, paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay,
            paid_by_credit, paid_by_other
        FROM order_tally_changes WHERE book_id = $1
    ) t
    GROUP BY 1, 2, 3
    HAVING sum(orders) <> 0 OR sum(total_amount) <> 0 OR sum(remaining_amount) <> 0
        OR sum(refunded_amount) <> 0
        OR sum(paid_by_cash) <> 0 OR sum(paid_by_transfer) <> 0 OR sum(paid_by_pos) <> 0
        OR sum(paid_by_cloove_pay) <> 0 OR sum(paid_by_credit) <> 0 OR sum(paid_by_other) <> 0
"""


def _rows(found: Any) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in found}


async def _check(sql: asyncpg.Connection, book_id: str) -> None:
    # All orders of the test are of one millennium, which stands for all time.
    for level in ("day", "month", "millennium"):
        scanned = _rows(await sql.fetch(SCAN, book_id, level))
        assert _rows(await sql.fetch(KEPT, book_id, level)) == scanned
    for level in ("month", "millennium"):
        scanned = _rows(await sql.fetch(SCAN_IN_DETAIL, book_id, level))
        assert _rows(await sql.fetch(KEPT_IN_DETAIL, book_id, level)) == scanned
    scanned = _rows(await sql.fetch(SCAN_OF_TOTALS, book_id))
    assert _rows(await sql.fetch(KEPT_TOTALS, book_id)) == scanned


def _sale(chance: random.Random, user_id: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "items": [{"product_name": "Tea", "quantity": chance.randint(1, 9), "custom_price": 2.5}],
        "amount_paid": chance.choice([0, 1, 100]),
        "channel": chance.choice(["in_person", "whatsapp", "other"]),
        "payment_method": chance.choice(["cash", "pos"]),
        "tags": chance.sample(["late", "vip"], chance.choice([0, 0, 1, 2])),
    }
    if chance.random() < 0.4:
        body["served_by_user_id"] = user_id
    if chance.random() < 0.2:
        body["scheduled_for"] = "2100-01-01T00:00:00Z"
    if chance.random() < 0.3:
        body["occurred_at"] = f"2026-0{chance.randint(1, 9)}-11T23:59:59.999Z"
        body.pop("scheduled_for", None)
    return body


async def _change(api: Api, chance: random.Random, ids: list[str], people: dict[str, str]) -> None:
    """One random operation; refusals are as good as successes here."""
    if not ids or chance.random() < 0.4:
        body = _sale(chance, people["user"])
        ids.append((await api.post(ORDERS, body, status=201)).data["id"])
        return
    path = f"{ORDERS}/{chance.choice(ids)}"
    patch = chance.choice(
        [
            {"status": "cancelled"}, {"status": "pending"}, {"status": "completed"},
            {"amount_paid": chance.randint(0, 30)}, {"total_amount": chance.randint(1, 50)},
            {"channel_fulfilled": chance.random() < 0.5}, {"payment_method": "transfer"},
            {"academic_term_id": chance.choice([people["term"], None])}, None,
        ]
    )  # fmt: skip
    if patch is None:
        await api.request("DELETE", path)
    else:
        await api.request("PATCH", path, patch)


async def test_tallies_say_what_a_count_says(
    business: Business, sql: asyncpg.Connection, services: Services
) -> None:
    """After random changes, some of them folded in between: on each level, and in detail."""
    api = await business.client(*SCOPES)
    term = await api.post("/v1/academic-terms", {"name": "First term"}, status=201)
    people = {"user": business.user_id, "term": term.data["id"]}
    made = await api.post(
        ORDERS,
        {"items": [{"product_name": "Tea", "quantity": 1, "custom_price": 2.5}]},
        status=201,
    )
    ids: list[str] = [made.data["id"]]
    book_id = await sql.fetchval("SELECT book_id FROM orders WHERE id = $1", ids[0])
    chance = random.Random(7)  # noqa: S311 - any walk will do, but always the same
    for step in range(160):
        await _change(api, chance, ids, people)
        if step % 40 == 39:
            await _check(sql, book_id)
            await fold(services.pool, ORDER_TALLIES)
            await _check(sql, book_id)
    kinds = await sql.fetchrow(
        """
        SELECT count(DISTINCT served_by_id) AS servers, count(DISTINCT tag_ids) AS tags,
            count(DISTINCT academic_term_id) AS terms, count(DISTINCT day) AS months
        FROM order_tallies_in_detail WHERE book_id = $1
        """,
        book_id,
    )
    assert min(kinds["servers"], kinds["tags"] - 2, kinds["terms"], kinds["months"] - 5) > 0
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
