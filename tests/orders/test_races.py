"""Many at once: the database decides, and every sum is right afterwards."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.api import Response
from tests.calls import calling
from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, fee, line, variant_of
from tests.webhooks.shop import until
from tillhouse.access.process import Services
from tillhouse.kit.clock import iso, now
from tillhouse.kit.ids import StoreId
from tillhouse.ledger.proof import prove
from tillhouse.orders.posting.proof import ORDER_SOURCE
from tillhouse.seating.actions import close_session
from tillhouse.seating.types import Closing
from tillhouse.stores.actions import delete_store

MANY = 50


async def _all(calls: Iterable[Awaitable[Response]]) -> list[Response]:
    return list(await asyncio.gather(*calls))


def _statuses(answers: Iterable[Response]) -> dict[int, int]:
    return dict(Counter(answer.status for answer in answers))


async def _moves(shop: Shop, variant: str) -> Decimal:
    """The sum of the moves of a variant."""
    statement = "SELECT sum(on_hand_change) FROM stock_moves WHERE book_id = $1 AND variant_id = $2"
    moved = await shop.sql.fetchval(statement, shop.book, UUID(variant))
    assert moved is not None
    return moved


async def _proven(shop: Shop, services: Services) -> None:
    """The ledger says what the orders say."""
    async with services.pool.reading() as db:
        assert [fault async for fault in prove(db, shop.book, [ORDER_SOURCE])] == []


async def test_fifty_buyers_of_the_last_unit(shop: Shop) -> None:
    """One sale, 49 refusals that say what is short, one event of each kind."""
    product = await shop.product(stock=1)
    await shop.news()
    answers = await _all(shop.ask(line(product)) for _ in range(MANY))
    assert _statuses(answers) == {201: 1, 400: MANY - 1}
    assert {a.error for a in answers if a.status == 400} == {"order_not_recorded"}
    assert await shop.stock(variant_of(product)) == (0, 0)
    assert await _moves(shop, variant_of(product)) == 0
    assert sorted(await shop.told()) == ["inventory.out_of_stock", "order.created"]


async def test_one_variant_on_two_lines_counts_together(shop: Shop) -> None:
    """Alone and concurrently: five orders of two lines take the ten that there are."""
    product = await shop.product(stock=10)
    assert (await shop.ask(line(product, 6), line(product, 5))).status == 400
    answers = await _all(shop.ask(line(product), line(product)) for _ in range(20))
    assert _statuses(answers) == {201: 5, 400: 15}
    assert await shop.stock(variant_of(product)) == (0, 0)
    assert await _moves(shop, variant_of(product)) == 0


async def test_promises_and_sales_share_what_there_is(shop: Shop) -> None:
    """Orders for now and for later together never exceed it; bundles take from the same."""
    part = await shop.product(stock=12)
    box = await shop.bundle((part, 2))
    later = iso(now() + timedelta(days=1))
    answers = await _all(
        shop.ask(line(one), **fields)
        for one, fields in [(part, {}), (part, {"scheduled_for": later}), (box, {})] * 8
    )
    done = [answer.data for answer in answers if answer.status == 201]
    units = {one["id"]: 2 if one["items"][0]["productId"] == box["id"] else 1 for one in done}
    promised = [one for one in done if one["status"] == "scheduled"]
    taken = sum(units.values()) - len(promised)
    assert await shop.stock(variant_of(part)) == (12 - taken, len(promised))
    assert sum(units.values()) in (11, 12)


async def test_crosswise_orders_do_not_block_each_other(shop: Shop) -> None:
    """The same variants in every order of lines: all are recorded."""
    products = [await shop.product(stock=100) for _ in range(3)]
    ways = [products, products[::-1], [products[1], products[0], products[2]]]
    answers = await _all(shop.ask(*map(line, ways[n % 3])) for n in range(30))
    assert _statuses(answers) == {201: 30}
    for product in products:
        assert await shop.stock(variant_of(product)) == (70, 0)


async def test_fifty_of_one_key(shop: Shop) -> None:
    """One order, one 201, 49 times 200 with the same body."""
    product = await shop.product(stock=MANY)
    await shop.news()
    count, key = await shop.total(), str(uuid4())
    answers = await _all(shop.ask(line(product), key=key) for _ in range(MANY))
    assert _statuses(answers) == {201: 1, 200: MANY - 1}
    assert len({answer.body for answer in answers}) == 1
    assert await shop.total() == count + 1
    assert await shop.stock(variant_of(product)) == (MANY - 1, 0)
    assert await shop.told() == ["order.created"]


async def test_one_key_and_the_last_unit(shop: Shop) -> None:
    """The stock that the first request took is no reason to refuse its own repetitions."""
    product = await shop.product(stock=1)
    promotion = await shop.promotion(limit_total=1)
    key, sold = str(uuid4()), {"promotion_id": promotion["id"]}
    answers = await _all(shop.ask(line(product), key=key, **sold) for _ in range(MANY))
    assert _statuses(answers) == {201: 1, 200: MANY - 1}
    assert len({answer.body for answer in answers}) == 1
    late = await shop.ask(line(product), key=key, **sold)
    assert (late.status, late.body) == (200, answers[0].body)
    assert await shop.stock(variant_of(product)) == (0, 0)


async def test_one_key_for_two_orders(shop: Shop) -> None:
    """Whichever comes first is the key's; the other hears that it is another's."""
    count, key = await shop.total(), str(uuid4())
    answers = await _all(shop.ask(fee(100 + n % 2), key=key) for n in range(20))
    assert _statuses(answers) == {201: 1, 200: 9, 422: 10}
    assert await shop.total() == count + 1


async def test_a_promotion_for_one(shop: Shop) -> None:
    """Fifty want it, one gets it, the others are refused with nothing taken."""
    product = await shop.product(stock=MANY)
    promotion = await shop.promotion(limit_total=1)
    sold = {"promotion_id": promotion["id"]}
    answers = await _all(shop.ask(line(product), **sold) for _ in range(MANY))
    assert _statuses(answers) == {201: 1, 400: MANY - 1}
    assert {a.error for a in answers if a.status == 400} == {"order_not_recorded"}
    assert await shop.stock(variant_of(product)) == (MANY - 1, 0)
    [order] = [answer.data for answer in answers if answer.status == 201]
    path = f"/v1/promotions/{promotion['id']}"
    assert (await shop.api.get(path, status=200)).data["used"] == 1
    await _all(shop.api.delete(f"{ORDERS}/{order['id']}") for _ in range(5))
    assert (await shop.api.get(path, status=200)).data["used"] == 0
    assert (await shop.ask(line(product), **sold)).status == 201


async def test_a_promotion_once_per_customer(shop: Shop) -> None:
    """Each of three customers gets it once, however many tills they stand at."""
    promotion = await shop.promotion(limit_per_customer=1)
    product = await shop.product()
    customers = [(await shop.customer(f"Customer {n}"))["id"] for n in range(3)]
    answers = await _all(
        shop.ask(line(product), promotion_id=promotion["id"], customer_id=customers[n % 3])
        for n in range(30)
    )
    assert _statuses(answers) == {201: 3, 400: 27}
    done = [answer.data for answer in answers if answer.status == 201]
    assert {order["customer"]["id"] for order in done} == set(customers)


async def test_the_first_debts_of_new_customers(shop: Shop, services: Services) -> None:
    """However many tills open a customer's account at once, it is one, and all are recorded."""
    customers = [(await shop.customer(f"Newcomer {n}"))["id"] for n in range(10)]
    for customer in customers:
        unpaid: Body = {"customer_id": customer, "amount_paid": 0}
        answers = await _all(shop.ask(fee(100), **unpaid) for _ in range(6))
        assert _statuses(answers) == {201: 6}
    await _proven(shop, services)


async def test_two_boards_move_one_ticket(shop: Shop) -> None:
    """All answer 200, one moved it, one event tells it."""
    order = await shop.sell(send_to_kitchen=True)
    await shop.news()
    path = f"{ORDERS}/{order['id']}/kitchen-status"
    answers = await _all(shop.api.post(path, {"status": "preparing"}) for _ in range(20))
    assert _statuses(answers) == {200: 20}
    reasons = [answer.json["meta"]["notification"]["reason"] for answer in answers]
    assert reasons.count("status_unchanged") == 19
    assert await shop.told() == ["kitchen_ticket.status_updated"]


async def test_an_order_goes_to_the_kitchen_once(shop: Shop) -> None:
    """One ticket, one event, 409 for everybody else."""
    order = await shop.sell()
    await shop.news()
    path = f"{ORDERS}/{order['id']}/send-to-kitchen"
    answers = await _all(shop.api.post(path) for _ in range(20))
    assert _statuses(answers) == {200: 1, 409: 19}
    assert await shop.told() == ["kitchen_ticket.created"]


async def test_cancelled_twice_at_once(shop: Shop) -> None:
    """The goods come back once, one event tells it; un-cancelled at once, they go out once."""
    product = await shop.product(stock=10)
    order = await shop.sell(line(product, 4))
    path = f"{ORDERS}/{order['id']}"
    await shop.news()
    answers = await _all(shop.api.patch(path, {"status": "cancelled"}) for _ in range(20))
    assert _statuses(answers) == {200: 20}
    assert await shop.stock(variant_of(product)) == (10, 0)
    assert (await shop.told()).count("order.cancelled") == 1
    await _all(shop.api.patch(path, {"status": "pending"}) for _ in range(20))
    assert await shop.stock(variant_of(product)) == (6, 0)
    assert await _moves(shop, variant_of(product)) == 6


async def test_fifty_payments_at_once(open_shop: Open, services: Services) -> None:
    """Whichever is last: what the ledger got is what the order says, and the debt the rest."""
    shop = await open_shop()
    order = await shop.sell(fee(1000), customer_name="Ada Obi", payment_method="transfer")
    await shop.news()
    path = f"{ORDERS}/{order['id']}"
    amounts = [(n * 37 % 51) * 25 for n in range(MANY)]
    answers = await _all(shop.api.patch(path, {"amount_paid": amount}) for amount in amounts)
    assert _statuses(answers) == {200: MANY}
    after = await shop.show(order)
    assert after["amountPaid"] in amounts
    sums = await shop.sql.fetchrow(
        """
        SELECT (SELECT coalesce(sum(CASE kind WHEN 'payment' THEN amount ELSE -amount END), 0)
                FROM ledger_transfers WHERE book_id = $1 AND source_id = $2
                    AND kind IN ('payment', 'payment_correction')) AS transfers,
            (SELECT coalesce(sum(amount), 0) FROM transactions
                WHERE book_id = $1 AND source_id = $2) AS transactions
        """,
        shop.book,
        UUID(order["id"]),
    )
    assert dict(sums or {}) == dict.fromkeys(("transfers", "transactions"), after["amountPaid"])
    events = await shop.news()
    received = [e["data"]["metadata"]["amount"] for e in events if e["type"] == "payment.received"]
    corrected = await shop.sql.fetchval(
        "SELECT coalesce(sum(amount), 0) FROM transactions"
        " WHERE book_id = $1 AND source_id = $2 AND amount < 0",
        shop.book,
        UUID(order["id"]),
    )
    assert corrected is not None
    assert sum(received) + corrected == after["amountPaid"]
    active = [balance for status, balance in await shop.debts(order) if status == "active"]
    left = after["remainingAmount"]
    assert active == ([left] if left else [])
    await _proven(shop, services)


async def test_everything_at_once_to_one_order(open_shop: Open, services: Services) -> None:
    """Pay, correct, assign, cancel, revive, schedule: no 500, and all sums agree afterwards."""
    shop = await open_shop()
    product = await shop.product(1000, stock=10)
    names = [(await shop.customer(f"Customer {n}"))["id"] for n in range(3)]
    order = await shop.sell(line(product, 2), customer_id=names[0])
    changes: list[Body] = [
        {"amount_paid": 500}, {"amount_paid": 2500}, {"total_amount": 1800},
        {"customer_id": names[1]}, {"customer_id": names[2]}, {"status": "cancelled"},
        {"status": "pending"}, {"status": "completed"},
        {"status": "scheduled", "scheduled_for": iso(now() + timedelta(days=1))},
    ]  # fmt: skip
    path = f"{ORDERS}/{order['id']}"
    answers = await _all(shop.api.patch(path, change) for change in changes * 4)
    assert {answer.status for answer in answers} <= {200, 400}
    after = await shop.show(order)
    held = {"cancelled": (10, 0), "scheduled": (10, 2)}.get(after["status"], (8, 0))
    assert await shop.stock(variant_of(product)) == held
    owes = after["status"] in ("pending", "completed") and after["remainingAmount"] > 0
    active = [balance for status, balance in await shop.debts(order) if status == "active"]
    assert active == ([after["remainingAmount"]] if owes else [])
    await _proven(shop, services)


async def test_confirmed_and_cancelled_at_once(open_shop: Open, services: Services) -> None:
    """Either happens first; stock and ledger follow the status that is left."""
    shop = await open_shop()
    product = await shop.product(1000, stock=10)
    variant = variant_of(product)
    later = iso(now() + timedelta(days=1))
    orders = [await shop.sell(line(product), scheduled_for=later) for _ in range(6)]
    calls: list[Any] = []
    for order in orders:
        path = f"{ORDERS}/{order['id']}"
        calls.append(shop.api.post(path + "/confirm", {}))
        calls.append(shop.api.patch(path, {"status": "cancelled"}))
    assert {answer.status for answer in await _all(calls)} <= {200, 400}
    left = Counter([(await shop.show(order))["status"] for order in orders])
    assert left.keys() <= {"completed", "cancelled"}
    assert await shop.stock(variant) == (10 - left["completed"], 0)
    await _proven(shop, services)


async def test_a_new_name_is_one_customer(shop: Shop) -> None:
    """Thirty orders of somebody new make one customer, and one tag."""
    answers = await _all(
        shop.ask(customer_name="Suddenly Famous", tags=["Sudden rush"]) for _ in range(30)
    )
    assert _statuses(answers) == {201: 30}
    assert len({answer.data["customer"]["id"] for answer in answers}) == 1
    assert len({answer.data["tags"][0]["id"] for answer in answers}) == 1


async def test_a_session_that_closes_takes_no_order(shop: Shop) -> None:
    """Orders and the closing at once: what was recorded was recorded before it closed."""
    session = await shop.session()
    path = f"/v1/table-sessions/{session['id']}"
    closing = shop.api.post(path + "/close", {"force": True})
    answers = await _all([shop.ask(table_session_id=session["id"]) for _ in range(10)] + [closing])
    orders = [answer for answer in answers[:10] if answer.status == 201]
    assert {answer.status for answer in answers[:10]} <= {201, 400}
    shown = (await shop.api.get(path, status=200)).data
    assert (shown["status"], shown["ordersCount"]) == ("closed", len(orders))
    assert (await shop.ask(table_session_id=session["id"])).status == 400


async def test_a_store_that_is_deleted_takes_no_order(open_shop: Open) -> None:
    """Orders and the deletion at once: each is recorded or refused, and afterwards none is."""
    shop = await open_shop()
    for _ in range(5):
        store = await shop.store()
        named: Body = {"store_id": store["id"]}
        path = f"/v1/stores/{store['id']}"
        asked = [shop.ask(**named) for _ in range(6)]
        answers = await _all(
            [*asked, shop.api.delete(path), *(shop.ask(**named) for _ in range(6))]
        )
        assert answers[6].status == 200
        sold = answers[:6] + answers[7:]
        assert {answer.status for answer in sold} <= {201, 400, 422}
        recorded = sum(answer.status == 201 for answer in sold)
        statement = "SELECT count(*) FROM orders WHERE book_id = $1 AND store_id = $2"
        assert await shop.sql.fetchval(statement, shop.book, UUID(store["id"])) == recorded
        assert (await shop.ask(**named)).wrong_fields == {"store_id"}


@pytest.mark.parametrize("together", [1, 4])
async def test_an_order_waits_for_a_store_that_is_being_deleted(
    open_shop: Open, services: Services, together: int
) -> None:
    """The deletion isn't committed yet as orders come: they are refused as soon as it is."""
    shop = await open_shop()
    store = await shop.store()
    product = await shop.product(stock=5)
    before = await shop.footprint()
    async with calling(services, shop.business) as call:
        await delete_store(call, StoreId(UUID(store["id"])))
        orders = [
            asyncio.create_task(shop.ask(line(product), store_id=store["id"]))
            for _ in range(together)
        ]
        await _blocked_by(shop, await call.db.fetchval("SELECT pg_backend_pid()"))
        assert not any(order.done() for order in orders)
    for order in orders:
        answer = await order
        assert (answer.status, answer.error) == (400, "order_not_recorded"), answer
        assert "deleted" in answer.json["message"]
    assert await shop.footprint() == before


async def test_an_order_waits_for_a_session_that_is_being_closed(
    shop: Shop, services: Services
) -> None:
    """The closing isn't committed yet as the order comes: which is refused as soon as it is."""
    session = await shop.session()
    product = await shop.product(stock=5)
    before = await shop.footprint()
    async with calling(services, shop.business) as call:
        await close_session(call, UUID(session["id"]), Closing())
        order = asyncio.create_task(shop.ask(line(product), table_session_id=session["id"]))
        await _blocked_by(shop, await call.db.fetchval("SELECT pg_backend_pid()"))
        assert not order.done()
    answer = await order
    assert answer.status == 400, answer
    assert answer.error == "order_not_recorded"
    assert "closed" in answer.json["message"]
    assert await shop.footprint() == before
    shown = (await shop.api.get(f"/v1/table-sessions/{session['id']}", status=200)).data
    assert (shown["status"], shown["ordersCount"]) == ("closed", 0)


async def _blocked_by(shop: Shop, connection: int) -> None:
    """Until a connection waits for what this one holds."""
    statement = "SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))"
    await until(lambda: shop.sql.fetchval(statement, connection))
