"""Customers by name: found or made by the statement that orders share."""

import asyncio
from uuid import UUID

from tests.calls import calling
from tests.orders.concurrent_orders import check_shared, done, statuses, together
from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, exact, fee, line
from tests.webhooks.shop import until
from tillhouse.access.process import Services
from tillhouse.customers.actions import find_or_create
from tillhouse.customers.types import WantedCustomer

MANY = 24


async def _customers(shop: Shop) -> list[Body]:
    return (await shop.api.get("/v1/customers?limit=100", status=200)).data


async def test_known_names_share_a_statement(open_shop: Open) -> None:
    """In whatever case; each order shows its customer, and nobody is made."""
    shop = await open_shop()
    people = [
        await shop.customer(f"Regular {n}", phone_number=f"+2348030000{n:03}") for n in range(9)
    ]
    await shop.news()
    names = ["regular {}", "REGULAR {}", " Regular  {} "]
    answers = await together(
        shop.ask(fee(100), customer_name=names[n % 3].format(n % 9)) for n in range(MANY)
    )
    assert statuses(answers) == {201: MANY}
    await check_shared(shop, done(answers))
    for n, answer in enumerate(answers):
        customer = answer.data["customer"]
        assert customer["id"] == people[n % 9]["id"]
        assert customer["phoneNumber"] == people[n % 9]["phoneNumber"]
        read = await shop.api.get(f"{ORDERS}/{answer.data['id']}", status=200)
        assert exact(answer) == exact(read)
    assert len(await _customers(shop)) == 9
    assert set(await shop.told()) == {"order.created"}


async def test_new_names_share_a_statement(open_shop: Open) -> None:
    """Each is made with its order, told of before it, counted, and found afterwards."""
    shop = await open_shop()
    names = [f"Newcomer {n}" for n in range(MANY)]
    answers = await together(shop.ask(fee(100), customer_name=name) for name in names)
    assert statuses(answers) == {201: MANY}
    await check_shared(shop, done(answers))
    for name, answer in zip(names, answers, strict=True):
        assert answer.data["customer"]["name"] == name
        read = await shop.api.get(f"{ORDERS}/{answer.data['id']}", status=200)
        assert exact(answer) == exact(read)
        assert await shop.debts(answer.data) == [("active", 100)]
    listed = await shop.api.get("/v1/customers?limit=100", status=200)
    assert sorted(one["name"] for one in listed.data) == sorted(names)
    assert listed.json["meta"]["total"] == MANY
    events = await shop.news()
    for answer in answers:
        customer, order = answer.data["customer"]["id"], answer.data["id"]
        told = [e["type"] for e in events if e["data"]["entityId"] in (customer, order)]
        assert told == ["contact.created", "order.created"]
    again = await shop.sell(fee(5), customer_name="newcomer 3")
    assert again["customer"]["id"] == answers[3].data["customer"]["id"]


async def test_one_new_name_of_many_is_one_customer(open_shop: Open) -> None:
    """The first order makes it, with or without company."""
    shop = await open_shop()
    names = ["Ada New", "ADA NEW", "ada  new"]
    answers = await together(
        shop.ask(fee(100), customer_name=names[n % 3] if n % 4 else f"Other {n}")
        for n in range(MANY)
    )
    assert statuses(answers) == {201: MANY}
    adas = {one.data["customer"]["id"] for n, one in enumerate(answers) if n % 4}
    assert len(adas) == 1
    assert len(await _customers(shop)) == 1 + MANY // 4
    assert (await shop.told()).count("contact.created") == 1 + MANY // 4


async def test_nobody_is_made_by_a_refused_order(open_shop: Open) -> None:
    """Neither alone nor in company: no customer, no event, no key."""
    shop = await open_shop()
    scarce = await shop.product(stock=1)
    before = await shop.footprint()
    for count in (1, 4):
        answers = await together(
            shop.ask(line(scarce, 2), customer_name=f"Nobody {n}", key=f"refused-{n}")
            for n in range(count)
        )
        assert statuses(answers) == {400: count}
    assert await shop.footprint() == before
    assert await _customers(shop) == []


async def test_an_order_waits_for_a_name_that_is_being_made(
    open_shop: Open, services: Services
) -> None:
    """Another transaction makes the customer meanwhile: the order is theirs, once it commits."""
    shop = await open_shop()
    async with calling(services, shop.business) as call:
        made, is_new = await find_or_create(call, WantedCustomer(name="Busy Bee"))
        assert is_new
        order = asyncio.create_task(shop.ask(fee(100), customer_name="busy bee"))
        connection = await call.db.fetchval("SELECT pg_backend_pid()")
        blocked = "SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))"
        await until(lambda: shop.sql.fetchval(blocked, connection))
    answer = await order
    assert answer.status == 201, answer
    assert UUID(answer.data["customer"]["id"]) == made
    assert len(await _customers(shop)) == 1
