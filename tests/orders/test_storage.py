"""How many orders and kept answers a book may hold: counted, limited, told."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from tests.api import Api, Response
from tests.conftest import SETTINGS, fresh_database, running
from tests.make import Business, Make
from tests.sweeping import sweep
from tillhouse.app import PRODUCT, App, stored_kinds
from tillhouse.http.store import add_new_answers
from tillhouse.jobs.store import list_books_after
from tillhouse.kit.clock import now
from tillhouse.orders.storage.store import add_new_orders

ORDERS = "/v1/orders"
SCOPES = ("orders:read", "orders:write")
ORDER_LIMIT, ANSWER_LIMIT = 8, 3


@pytest.fixture(scope="module")
async def limited_app(server_url: str, master_key: str) -> AsyncIterator[App]:
    """An application with small quotas, on a database of its own."""
    settings = msgspec.structs.replace(
        SETTINGS, order_limit=ORDER_LIMIT, answer_limit=ANSWER_LIMIT, order_limit_mib=1
    )
    async with (
        fresh_database(server_url, "tillhouse_limited") as url,
        running(settings, url, master_key) as app,
    ):
        yield app


@pytest.fixture
async def business(limited_app: App) -> Business:
    """A business with quotas."""
    return await Make(limited_app, limited_app.services).business()


def _sale(**fields: Any) -> dict[str, Any]:
    line = {"product_name": "Tea", "quantity": 1, "custom_price": 2.5}
    return {"items": [{**line, **fields}]}


async def _count(app: App) -> None:
    """Count as if a minute had passed, and let the process know."""
    services = app.services
    soon = now() + timedelta(minutes=1)
    async with services.pool.transaction() as db:
        books = await list_books_after(db, UUID(int=0), 1000)
        while await add_new_orders(db, books, soon, 3):
            pass
        while await add_new_answers(db, soon, 2):
            pass
    await services.storage.measure(services.pool, stored_kinds(PRODUCT))


async def _sell(api: Api, key: str | None = None, status: int = 201, **fields: Any) -> Response:
    headers = {"idempotency-key": key} if key else {}
    return await api.post(ORDERS, _sale(**fields), headers=headers, status=status)


async def test_orders_are_counted_once_and_limited(limited_app: App, business: Business) -> None:
    """Beyond the quota 409 with the setting's name; what is there can be read, changed, repeated.

    The other environment and other businesses have quotas of their own.
    """
    api = await business.client(*SCOPES)
    made = [await _sell(api) for _ in range(ORDER_LIMIT - 1)]
    made.append(await _sell(api, "the last"))
    await _count(limited_app)
    await _count(limited_app)
    refused = await _sell(api, status=409)
    told = await api.post(f"{ORDERS}/preview", _sale(), status=409)
    assert told.json["message"] == refused.json["message"]
    assert refused.json["error"] == "limit_reached"
    assert "TILLHOUSE_ORDER_LIMIT " in refused.json["message"]
    assert (await _sell(api, "the last", 200)).data["id"] == made[-1].data["id"]
    path = f"{ORDERS}/{made[0].data['id']}"
    await api.request("PATCH", path, {"payment_method": "pos"}, status=200)
    assert len((await api.get(ORDERS, status=200)).data) == ORDER_LIMIT
    # A deleted order takes as much as before.
    await api.request("DELETE", path, status=200)
    await _count(limited_app)
    await _sell(api, status=409)
    await _sell(await business.client(*SCOPES, environment="live"))


@pytest.mark.proof
async def test_bytes_of_orders_are_limited(limited_app: App, business: Business) -> None:
    """Seven large orders come to more than a MiB."""
    api = await business.client(*SCOPES)
    lines = [
        {"product_name": secrets.token_hex(50), "quantity": 1, "custom_price": 1}
        for _ in range(500)
    ]
    for _ in range(7):
        await api.post(ORDERS, {"items": lines}, status=201)
    await _count(limited_app)
    refused = await _sell(api, status=409)
    assert "TILLHOUSE_ORDER_LIMIT_MIB " in refused.json["message"]


async def test_kept_answers_are_limited_and_none_is_lost(
    limited_app: App, business: Business
) -> None:
    """A new key is refused, known ones replay, and a request without one goes through."""
    api = await business.client(*SCOPES)
    tags = "/v1/tags"
    made = [
        await api.post(tags, {"name": f"Tag {n}"}, headers={"idempotency-key": f"{n}"}, status=201)
        for n in range(ANSWER_LIMIT)
    ]
    await _count(limited_app)
    await _count(limited_app)
    headers = {"idempotency-key": "one more"}
    refused = await api.post(tags, {"name": "One more"}, headers=headers, status=409)
    assert refused.json["error"] == "limit_reached"
    assert "TILLHOUSE_ANSWER_LIMIT " in refused.json["message"]
    await _sell(api, "one more", status=409)
    for n, first in enumerate(made):
        headers = {"idempotency-key": f"{n}"}
        again = await api.post(tags, {"name": f"Tag {n}"}, headers=headers, status=201)
        assert again.data == first.data
    await api.post(tags, {"name": "One more"}, status=201)
    names = {tag["name"] for tag in (await api.get(tags, status=200)).data}
    assert names == {"Tag 0", "Tag 1", "Tag 2", "One more"}


async def test_a_full_book_still_pays_out(limited_app: App, business: Business) -> None:
    """A withdrawal needs a key, so kept answers don't hold it up: it is judged for itself."""
    api = await business.client(*SCOPES)
    tags = "/v1/tags"
    for n in range(ANSWER_LIMIT):
        await api.post(tags, {"name": f"Tag {n}"}, headers={"idempotency-key": f"{n}"}, status=201)
    await _count(limited_app)
    headers = {"idempotency-key": "one more"}
    await api.post(tags, {"name": "One more"}, headers=headers, status=409)
    currency = (await _sell(api)).data["currency"]
    policy = {"max_per_transaction": 10, "max_per_day": 10, "currency": currency}
    treasury = await business.client("wallet:withdrawals:create", withdrawal_policy=policy)
    body = {"amount": 1, "payout_account_id": str(uuid4())}
    answer = await treasury.post("/v1/wallet/withdrawals", body, headers=headers, status=422)
    assert answer.wrong_fields == {"payout_account_id"}


async def test_no_crowd_gets_past_a_full_quota(limited_app: App, business: Business) -> None:
    """Sales that are sent together share a statement, and none is recorded once it is full.

    Sales sent together before that are recorded: the count is behind by so much.
    """
    api = await business.client(*SCOPES)
    before = await asyncio.gather(*(api.post(ORDERS, _sale()) for _ in range(3 * ORDER_LIMIT)))
    assert {one.status for one in before} == {201}
    await _count(limited_app)
    after = await asyncio.gather(*(api.post(ORDERS, _sale()) for _ in range(3 * ORDER_LIMIT)))
    assert {one.status for one in after} == {409}
    listed = await api.get(f"{ORDERS}?limit=1", status=200)
    assert listed.json["meta"]["total"] == 3 * ORDER_LIMIT
    for one in before:
        await api.request("DELETE", f"{ORDERS}/{one.data['id']}", status=200)
    assert (await api.get(ORDERS, status=200)).data == []


@pytest.fixture(scope="module")
async def small_app(server_url: str, master_key: str) -> AsyncIterator[App]:
    """An application with a MiB for each book's orders, on a database of its own."""
    settings = msgspec.structs.replace(SETTINGS, order_limit_mib=1)
    async with (
        fresh_database(server_url, "tillhouse_small") as url,
        running(settings, url, master_key) as app,
    ):
        yield app


@pytest.mark.proof
async def test_writers_pass_a_quota_of_bytes_by_what_comes_between_two_counts(
    small_app: App,
) -> None:
    """Twenty-four at once, half of them with imports: the last count that found room had room.

    Once a count found none, none is recorded, import or not.
    """
    business = await Make(small_app, small_app.services).business()
    api = await business.client(*SCOPES)

    async def write(number: int) -> Response:
        past = {"occurred_at": "2026-01-05T12:00:00Z"} if number % 2 else {}
        names = [secrets.token_hex(50) for _ in range(30)]
        items = [{"product_name": name, "quantity": 1, "custom_price": 1} for name in names]
        return await api.post(ORDERS, {"items": items, **past})

    rounds = [0]
    while True:
        answers = await asyncio.gather(*(write(number) for number in range(24)))
        seen = {one.status for one in answers}
        if seen == {409}:
            break
        assert seen == {201}
        rounds.append(await _bytes(small_app))
        await _count(small_app)
    assert {one.json["error"] for one in answers} == {"limit_reached"}
    assert await _bytes(small_app) == rounds[-1]
    assert rounds[-2] < 1024 * 1024 <= rounds[-1]


async def _bytes(app: App) -> int:
    """The bytes of all orders and their lines, as the quota counts them."""
    async with app.services.pool.transaction() as db:
        return await db.fetchval(
            """
            SELECT sum(300 + pg_column_size(o.summary) + i.bytes)::bigint FROM orders o
            CROSS JOIN LATERAL (
                SELECT sum(200 + pg_column_size(i.product_name) + pg_column_size(i.modifiers)
                    + pg_column_size(i.components)) AS bytes
                FROM order_items i WHERE i.book_id = o.book_id AND i.order_id = o.id
            ) i
            """
        )


async def test_the_counts_are_the_rows(limited_app: App, business: Business) -> None:
    """Counts by parts come to what a scan counts, and metrics tell them."""
    api = await business.client(*SCOPES)
    await _sell(api, "a")
    await _sell(api, "b")
    await _count(limited_app)
    async with limited_app.services.pool.reading() as db:
        counted = await db.fetchrow(
            """
            SELECT (SELECT sum(orders) FROM order_storage) AS orders,
                (SELECT sum(answers) FROM answer_storage) AS answers,
                (SELECT bool_and(s.orders = (SELECT count(*) FROM orders o
                    WHERE o.book_id = s.book_id)) FROM order_storage s) AS is_right,
                (SELECT bool_and(s.answers = (SELECT count(*) FROM idempotency_keys k
                    WHERE k.book_id = s.book_id)) FROM answer_storage s) AS is_right_too
            """
        )
    assert counted is not None
    assert (counted["is_right"], counted["is_right_too"]) == (True, True)
    told = (await Api(limited_app).get("/metrics", status=200)).body.decode()
    for kind in ("orders", "answers"):
        assert f'tillhouse_stored_rows{{kind="{kind}"}} {float(counted[kind])}' in told
    assert 'tillhouse_stored_full_books{kind="orders"}' in told


async def test_counts_of_days_without_answers_are_forgotten(limited_app: App) -> None:
    """After eight days and one; those of fresh days stay."""
    async with limited_app.services.pool.transaction() as db:
        await db.execute("DELETE FROM answer_storage")
        await db.execute(
            """
            INSERT INTO answer_storage
            SELECT b.id, (now() AT TIME ZONE 'UTC')::date - n, 1, 100, now() - n * interval '1 day'
            FROM (SELECT id FROM books LIMIT 1) b, generate_series(0, 20) n
            """
        )
    await sweep(limited_app.services, "answer_storage")
    async with limited_app.services.pool.transaction() as db:
        assert await db.fetchval("SELECT count(*) FROM answer_storage") == 10
        await db.execute("DELETE FROM answer_storage")
