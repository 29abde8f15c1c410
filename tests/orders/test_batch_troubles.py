"""Orders that share a statement, and what befalls it: locks, kills, clients that leave."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

import asyncpg
import pytest

from tests.api import Api, Response
from tests.calls import calling
from tests.conftest import SETTINGS
from tests.orders.concurrent_orders import check_shared, done, statuses, together
from tests.orders.conftest import Open
from tests.orders.shop import Body, Shop, fee, line, variant_of
from tests.orders.snapshot import proof
from tests.webhooks.shop import until
from tillhouse.access.process import Services
from tillhouse.app import App
from tillhouse.seating.actions import close_session
from tillhouse.seating.types import Closing

COMPANY = 16


@asynccontextmanager
async def _holding(url: str, shop: Shop, product: Body) -> AsyncIterator[asyncpg.Connection]:
    """Keep the stock of a product locked, as a long transaction of somebody would."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.execute(_HOLD, shop.book, UUID(variant_of(product)))
            yield connection
    finally:
        await connection.close()


async def _blocked_by(shop: Shop, holder: asyncpg.Connection) -> list[int]:
    """The connections that wait for what this one holds, once there are any."""

    async def look() -> list[int]:
        return [row["pid"] for row in await shop.sql.fetch(_BLOCKED, holder.get_server_pid())]

    return await until(look)


@pytest.mark.parametrize("is_keyed", [True, False], ids=["keyed", "keyless"])
async def test_a_lock_on_one_product_holds_up_its_buyers_alone(
    open_shop: Open, database_url: str, *, is_keyed: bool
) -> None:
    """A buyer whose batch has to wait for another one's lock is served soon all the same."""
    shop = await open_shop()
    held, free = await shop.product(stock=50), await shop.product(stock=50)

    async def buy(product: Body, key: str) -> Response:
        return await shop.ask(line(product), key=key if is_keyed else None)

    async with _holding(database_url, shop, held) as holder:
        waiting = asyncio.create_task(buy(held, "waits"))
        others = [asyncio.create_task(buy(free, f"free-{n}")) for n in range(COMPANY - 1)]
        await _blocked_by(shop, holder)
        late = [asyncio.create_task(buy(free, f"late-{n}")) for n in range(COMPANY)]
        # The lock is held until all of them are served.
        served = await asyncio.gather(*others, *late)
        assert not waiting.done()
    assert statuses(served) == {201: 2 * COMPANY - 1}
    assert (await waiting).status == 201
    assert await shop.stock(variant_of(held)) == (49, 0)
    assert await shop.stock(variant_of(free)) == (50 - 2 * COMPANY + 1, 0)


async def test_whoever_comes_later_does_not_wait_with_those_who_wait(
    open_shop: Open, database_url: str
) -> None:
    """A batch that waits for a lock, and then orders that need nothing of what is locked."""
    shop = await open_shop()
    held, free = await shop.product(stock=50), await shop.product(stock=50)
    async with _holding(database_url, shop, held) as holder:
        calls = [asyncio.create_task(shop.ask(line(held))) for _ in range(4)]
        await _blocked_by(shop, holder)
        answers = await together(shop.ask(line(free)) for _ in range(COMPANY))
        assert not any(call.done() for call in calls)
    assert statuses(answers) == {201: COMPANY}
    assert statuses(await asyncio.gather(*calls)) == {201: 4}


async def test_a_table_that_is_being_closed_is_charged_by_none_of_a_company(
    open_shop: Open, services: Services
) -> None:
    """It is open as the orders come, and closed as they are written: its own are refused alone."""
    shop = await open_shop()
    closing, staying = [(await shop.session())["id"] for _ in range(2)]
    before = await shop.footprint()
    async with calling(services, shop.business) as call:
        await close_session(call, UUID(closing), Closing())
        seats: list[Body] = [{}, {"table_session_id": staying}, {"table_session_id": closing}]
        calls = [
            asyncio.create_task(shop.ask(fee(10 + n), **seats[n % 3])) for n in range(COMPANY - 1)
        ]
        pid = await call.db.fetchval("SELECT pg_backend_pid()")
        await until(lambda: shop.sql.fetchval(_BLOCKED, pid))
    answers = await asyncio.gather(*calls)
    refused = answers[2::3]
    assert statuses(answers) == {201: len(answers) - len(refused), 400: len(refused)}
    assert {answer.error for answer in refused} == {"order_not_recorded"}
    assert (await shop.footprint())["orders"] == before["orders"] + len(answers) - len(refused)
    shown = (await shop.api.get(f"/v1/table-sessions/{closing}", status=200)).data
    assert (shown["status"], shown["ordersCount"]) == ("closed", 0)


async def test_a_client_who_leaves_takes_nobody_along(open_shop: Open, services: Services) -> None:
    """At whatever moment some of them go: the others are served, theirs is once or not at all."""
    shop = await open_shop()
    product = await shop.product(stock=2000)
    reached: Counter[bool] = Counter()
    for moment in range(0, 1200, 50):
        keys = [f"{moment}-{n}" for n in range(12)]
        calls = [asyncio.create_task(shop.ask(line(product), key=key)) for key in keys]
        for _ in range(moment):
            await asyncio.sleep(0)
        for call in calls[1::3]:
            call.cancel()
        answers = await asyncio.gather(*calls, return_exceptions=True)
        for place, answer in enumerate(answers):
            if place % 3 == 1:
                reached[isinstance(answer, asyncio.CancelledError)] += 1
            else:
                assert isinstance(answer, Response)
                assert answer.status == 201, answer
        again = await together(shop.ask(line(product), key=key) for key in keys)
        assert {answer.status for answer in again} <= {200, 201}
        assert statuses(again).get(201, 0) <= len(calls[1::3])
    assert reached[True]
    await _settled(services)
    assert await shop.stock(variant_of(product)) == (2000 - 24 * 12, 0)
    footprint = await shop.footprint()
    assert {footprint[name] for name in ("orders", "items", "keys", "transfers")} == {24 * 12}


async def test_clients_who_leave_while_their_statement_waits(
    open_shop: Open, services: Services, database_url: str
) -> None:
    """A batch is held up: each request that stays is answered, and every connection comes back."""
    shop = await open_shop()
    held = await shop.product(stock=50)
    async with _holding(database_url, shop, held) as holder:
        calls = [asyncio.create_task(shop.ask(line(held), key=f"{n}")) for n in range(COMPANY)]
        await _blocked_by(shop, holder)
        for call in calls[::2]:
            call.cancel()
        await asyncio.wait(calls[::2])
    stayed = await asyncio.gather(*calls[1::2])
    assert statuses(stayed) == {201: COMPANY // 2}
    await _settled(services)
    again = await together(shop.ask(line(held), key=f"{n}") for n in range(COMPANY))
    assert {answer.status for answer in again} <= {200, 201}
    assert [one.body for one in again[1::2]] == [one.body for one in stayed]
    assert await shop.total() == COMPANY
    assert await shop.stock(variant_of(held)) == (50 - COMPANY, 0)


async def test_a_connection_that_is_killed_under_a_company(
    open_shop: Open, services: Services, database_url: str
) -> None:
    """Each hears 201 or 503; a 201 is there once, and a 503 once as soon as it is repeated."""
    shop = await open_shop()
    held, free = await shop.product(stock=99), await shop.product(stock=99)
    wanted = [(held if n % 4 == 2 else free, f"kill-{n}") for n in range(2 * COMPANY)]
    async with _holding(database_url, shop, held) as holder:
        calls = [asyncio.create_task(shop.ask(line(one), key=key)) for one, key in wanted]
        # A process that gave up waiting just before is killed in vain: repeat until one was killed
        # as it waited.
        while not any(call.done() and call.result().status == 503 for call in calls):
            for pid in await _blocked_by(shop, holder):
                assert await shop.sql.fetchval("SELECT pg_terminate_backend($1, 5000)", pid)
    answers = await asyncio.gather(*calls)
    assert {answer.status for answer in answers} <= {201, 503}
    assert 503 in statuses(answers)
    await _check_once(shop, wanted, answers, [held, free])
    await _settled(services)
    assert await proof(services, shop.book) == []


@pytest.mark.proof
async def test_connections_that_are_killed_again_and_again(
    open_shop: Open, services: Services
) -> None:
    """However far each statement was: a 201 exists once, a 503 exists once after a repetition."""
    shop = await open_shop()
    products = [await shop.product(stock=999) for _ in range(3)]
    wanted = [(products[n % 3], f"storm-{n}") for n in range(240)]
    answers: list[Response] = []
    kills = 0
    for first in range(0, len(wanted), 40):
        calls = [
            asyncio.create_task(shop.ask(line(one), key=key))
            for one, key in wanted[first : first + 40]
        ]
        killed: list[asyncpg.Record] = []
        while not killed and not all(call.done() for call in calls):
            killed = await shop.sql.fetch(_KILL)
        kills += len(killed)
        answers += await asyncio.gather(*calls)
    assert kills
    assert {answer.status for answer in answers} <= {201, 503}
    await _check_once(shop, wanted, answers, products)
    await _settled(services)
    assert await proof(services, shop.book) == []


@pytest.mark.proof
async def test_two_processes_sell_the_same_goods_to_the_same_keys(
    open_shop: Open, database_url: str, master_key: str, services: Services
) -> None:
    """No client hears of a deadlock: each key is one order, and every sum is right."""
    shop = await open_shop()
    products = [await shop.product(stock=400) for _ in range(4)]
    people = [(await shop.customer(f"Customer {n}"))["id"] for n in range(3)]
    other = App(SETTINGS, database_url, master_key)
    await other.start()
    try:
        there = Shop(shop.business, Api(other, shop.api.headers), shop.sql, shop.book)
        recorded: list[Body] = []
        for round_ in range(4):
            # Both get the same keys, one of them the other way round; at last both of them twice.
            tills = ((shop, 1), (there, -1), (there, 1), (shop, -1))[: 2 if round_ < 3 else 4]
            answers = await together(
                till.ask(
                    *(line(products[(n + step) % 4]) for step in (0, 1 + n % 3)), fee(n + 1),
                    key=f"{round_}-{n}", customer_id=people[n % 3],
                    payment_method="transfer", amount_paid=(0, 9000)[n % 2],
                )
                for till, way in tills
                for n in range(30)[::way]
            )  # fmt: skip
            assert statuses(answers) == {201: 30, 200: 30 * (len(tills) - 1)}
            bodies = Counter(answer.body for answer in answers)
            assert set(bodies.values()) == {len(tills)}
            recorded += done(answers)
        await check_shared(shop, recorded)
    finally:
        await other.stop()
    assert await shop.total() == 120
    left = [(await shop.stock(variant_of(product)))[0] for product in products]
    assert sum(left) == 4 * 400 - 2 * 120
    assert await proof(services, shop.book) == []


async def test_two_processes_and_the_last_units(
    open_shop: Open, database_url: str, master_key: str, services: Services
) -> None:
    """As many are sold as there were, crosswise, among sales of what there is enough of."""
    shop = await open_shop()
    scarce = [await shop.product(stock=5) for _ in range(2)]
    plenty = await shop.product(stock=500)
    other = App(SETTINGS, database_url, master_key)
    await other.start()
    try:
        there = Shop(shop.business, Api(other, shop.api.headers), shop.sql, shop.book)
        answers = await together(
            till.ask(*wanted)
            for n in range(20)
            for till in (shop, there)
            for wanted in ([line(plenty)], [line(one) for one in scarce[:: (1, -1)[n % 2]]])
        )
    finally:
        await other.stop()
    assert statuses(answers[0::2]) == {201: 40}
    assert statuses(answers[1::2]) == {201: 5, 400: 35}
    assert [await shop.stock(variant_of(one)) for one in scarce] == [(0, 0)] * 2
    assert await shop.stock(variant_of(plenty)) == (460, 0)
    assert Counter(await shop.told())["inventory.out_of_stock"] == 2
    assert await proof(services, shop.book) == []


async def _settled(services: Services) -> None:
    """Until no connection is held any more: none leaked."""

    async def look() -> bool:
        return services.pool.usage()[0] == 0

    await until(look)


async def _check_once(
    shop: Shop,
    wanted: Sequence[tuple[Body, str]],
    answers: Sequence[Response],
    products: Sequence[Body],
) -> None:
    """Each answered order exists; repeated until answered, each exists once."""
    for (product, key), answer in zip(wanted, answers, strict=True):
        again = await shop.ask(line(product), key=key)
        while again.status == 503:
            again = await shop.ask(line(product), key=key)
        if answer.status == 201:
            assert (again.status, again.body) == (200, answer.body)
        else:
            assert again.status in (200, 201)
    footprint = await shop.footprint()
    names = ("orders", "items", "keys", "transfers")
    assert {footprint[name] for name in names} == {len(wanted)}
    assert await shop.sql.fetchval(_TOLD, shop.book) == len(wanted)
    assert footprint["moves"] == len(wanted) + len(products)
    sold = Counter(product["id"] for product, _ in wanted)
    for product in products:
        moved = await shop.sql.fetchrow(_MOVED, shop.book, UUID(variant_of(product)))
        assert moved is not None
        assert moved["sales"] == sold[product["id"]]
        assert (await shop.stock(variant_of(product)))[0] == moved["left"]


_HOLD = "SELECT 1 FROM stock_levels WHERE book_id = $1 AND variant_id = $2 FOR UPDATE"
_BLOCKED = "SELECT pid FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))"
# The statement is told of by its first thousand characters.
_KILL = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'tillhouse'
        AND state = 'active' AND query ~ 'posting AS'
"""
_TOLD = "SELECT count(*) FROM webhook_events WHERE book_id = $1 AND type = 'order.created'"
_MOVED = """
    SELECT count(*) FILTER (WHERE kind = 'sale') AS sales, sum(on_hand_change) AS left
    FROM stock_moves WHERE book_id = $1 AND variant_id = $2
"""
