"""Orders of one moment share statements: each is as if it had been alone."""

import asyncio
from collections import Counter
from uuid import uuid4

import asyncpg

from tests.api import Api, Response
from tests.orders.concurrent_orders import Stall, check_shared, done, statuses, together
from tests.orders.conftest import Open
from tests.orders.shop import (
    ORDERS,
    SCOPES,
    Body,
    Shop,
    at_noon,
    exact,
    fee,
    line,
    variant_of,
)
from tests.orders.snapshot import proof
from tests.waiting import within
from tillhouse.access.process import Services
from tillhouse.db.notifier import CHANNEL

MANY = 40


async def test_each_leaves_what_it_leaves_alone(open_shop: Open, services: Services) -> None:
    """Forty orders at once: every row, event and answer as of the same ones one by one."""
    # The figures of today are compared: both shops are where no midnight comes between them.
    zone = at_noon()
    crowded = await Stall.furnish(await open_shop(time_zone=zone))
    answers = await together(crowded.ask(n, f"order-{n}") for n in range(MANY))
    assert statuses(answers) == {201: MANY}
    await check_shared(crowded.shop, done(answers))
    for n, answer in enumerate(answers):
        read = await crowded.shop.api.get(f"{ORDERS}/{answer.data['id']}", status=200)
        assert exact(answer) == exact(read)
        assert answer.data["notes"] == f"Order {n}"
    calm = await Stall.furnish(await open_shop(time_zone=zone))
    for n in range(MANY):
        assert (await calm.ask(n, f"order-{n}")).status == 201
    stories, expected = await crowded.stories(), await calm.stories()
    for n in range(MANY):
        story = stories[f"order-{n}"]
        assert story == expected[f"order-{n}"]
        lines, fields = crowded.order(n)
        counted = [one for one in lines if "product_id" in one and one["product_name"] != "Cake"]
        assert (len(story["lines"]), len(story["moves"])) == (len(lines), len(counted))
        told = ["order.created", "payment.received"][: 1 + bool(fields["amount_paid"])]
        assert [event["type"] for event in story["events"]] == told
        assert len(story["events"][0]["reached"]) == len(story["kept"]) == 1
    assert await crowded.levels() == await calm.levels()
    assert await crowded.balances() == await calm.balances()
    assert await crowded.shop.footprint() == await calm.shop.footprint()
    assert await proof(services, crowded.shop.book) == []
    lists = [(await one.shop.api.get(ORDERS, status=200)).json for one in (crowded, calm)]
    assert lists[0]["summary"] == lists[1]["summary"]
    again = await together(crowded.ask(n, f"order-{n}") for n in range(MANY))
    assert [(one.status, one.body) for one in again] == [(200, one.body) for one in answers]


async def test_one_that_is_short_is_refused_alone(open_shop: Open) -> None:
    """The others are recorded; of it there is nothing, not even its key."""
    shop = await open_shop()
    scarce, plenty = await shop.product(stock=3, name="Scarce"), await shop.product(stock=MANY)
    before = await shop.footprint()
    lines = [(line(plenty),) if n % 8 != 4 else (line(plenty), line(scarce, 4)) for n in range(16)]
    answers = await together(shop.ask(*lines[n], key=f"short-{n}") for n in range(16))
    assert statuses(answers) == {201: 14, 400: 2}
    for place in (4, 12):
        assert answers[place].error == "order_not_recorded"
        assert "Scarce" in answers[place].json["message"]
    added = _added(before, await shop.footprint())
    assert added == {
        **dict.fromkeys(("orders", "items", "moves", "events", "keys"), 14), "transfers": 14
    }  # fmt: skip
    assert await shop.stock(variant_of(scarce)) == (3, 0)
    assert await shop.stock(variant_of(plenty)) == (MANY - 14, 0)
    await shop.adjust(variant_of(scarce), 5)
    assert (await shop.ask(*lines[4], key="short-4")).status == 201


async def test_a_threshold_is_told_once_by_whoever_crosses_it(open_shop: Open) -> None:
    """Low and out of stock, each one time, of those that the others cross nothing beside."""
    shop = await open_shop()
    low, other, full = [await shop.product(stock=n, low_stock_threshold=5) for n in (12, 14, MANY)]
    await shop.news()
    wanted = [line(full), line(low), line(full), line(other, 0.25)] * 10
    answers = await together(shop.ask(one) for one in wanted)
    assert statuses(answers) == {201: MANY}
    assert await shop.stock(variant_of(low)) == (2, 0)
    events = await shop.news()
    assert Counter(event["type"] for event in events) == {
        "order.created": MANY, "inventory.low_stock": 1
    }  # fmt: skip
    [told] = [event for event in events if event["type"] == "inventory.low_stock"]
    assert told["data"]["metadata"]["available"] == 5
    answers = await together(shop.ask(one) for one in [line(full), line(low)] * 4)
    assert Counter(answer.status for answer in answers) == {201: 6, 400: 2}
    events = await shop.news()
    assert Counter(event["type"] for event in events) == {
        "order.created": 6, "inventory.out_of_stock": 1
    }  # fmt: skip


async def test_fifty_buyers_of_the_last_unit_among_others(open_shop: Open) -> None:
    """One gets it; whoever wants anything else gets that."""
    shop = await open_shop()
    last, full = await shop.product(stock=1), await shop.product(stock=100)
    await shop.news()
    answers = await together(shop.ask(line(last if n % 2 else full)) for n in range(100))
    assert statuses(answers[0::2]) == {201: 50}
    assert statuses(answers[1::2]) == {201: 1, 400: 49}
    assert await shop.stock(variant_of(last)) == (0, 0)
    assert await shop.stock(variant_of(full)) == (50, 0)
    footprint = await shop.footprint()
    assert {footprint[name] for name in ("orders", "items", "transfers")} == {51}
    # Of the orders, and of what each of both products began with.
    assert footprint["moves"] == 51 + 2


async def test_one_of_a_closed_session_is_refused_alone(open_shop: Open) -> None:
    """Guests of other tables are served, whose orders are on their own bills."""
    shop = await open_shop()
    sessions = [(await shop.session())["id"] for _ in range(3)]
    await shop.api.post(f"/v1/table-sessions/{sessions[2]}/close", {}, status=200)
    answers = await together(
        shop.ask(fee(10 + n), table_session_id=sessions[n % 3]) for n in range(30)
    )
    assert statuses(answers) == {201: 20, 400: 10}
    await check_shared(shop, done(answers))
    for place, session in enumerate(sessions):
        shown = (await shop.api.get(f"/v1/table-sessions/{session}", status=200)).data
        taken = [answer.data for answer in answers[place::3] if answer.status == 201]
        assert {order["tableSessionId"] for order in taken} <= {session}
        wanted = (len(taken), sum(order["totalAmount"] for order in taken))
        assert (shown["ordersCount"], shown["totalAmount"]) == wanted


async def test_a_name_of_another_book_is_refused_alone(open_shop: Open) -> None:
    """Each thing of the other book is a 422 that names its field, though its own book has one."""
    shop = await open_shop()
    other = await shop.other_book()
    wrong: list[tuple[str, list[Body], Body]] = []
    for one in (await _things(other), await _things(await open_shop())):
        wrong += [
            ("customer_id", [fee()], {"customer_id": one["customer"]}),
            ("items[0].product_id", [line(one["product"])], {}),
            ("tags[0]", [fee()], {"tags": [one["tag"]]}),
            ("academic_term_id", [fee()], {"academic_term_id": one["term"]}),
            ("table_session_id", [fee()], {"table_session_id": one["session"]}),
            ("items[0].product_id", [line({**one["product"], "id": str(uuid4())})], {}),
        ]
    stranger = (await open_shop()).business.user_id
    wrong.append(("served_by_user_id", [fee()], {"served_by_user_id": stranger}))
    own = await _things(shop)
    right: Body = {
        "customer_id": own["customer"], "academic_term_id": own["term"],
        "table_session_id": own["session"], "served_by_user_id": shop.business.user_id,
    }  # fmt: skip
    before = await shop.footprint()
    good: list[Body] = [right, {**right, "tags": [own["tag"]]}, {}]
    mixed: list[tuple[str, list[Body], Body]] = [
        one
        for n, bad in enumerate(wrong)
        for one in (("", [line(own["product"])], good[n % 3]), bad)
    ]
    answers = await together(shop.ask(*lines, **fields) for _, lines, fields in mixed)
    assert statuses(answers) == {201: len(wrong), 422: len(wrong)}
    for answer, (field, _, _) in zip(answers, mixed, strict=True):
        assert answer.status == 201 if not field else answer.wrong_fields == {field}
    await check_shared(shop, done(answers))
    added = _added(before, await shop.footprint())
    assert added["orders"] == added["items"] == added["moves"] == added["events"] == len(wrong)


async def test_equal_keys_in_company_are_one_order(open_shop: Open) -> None:
    """Per key one 201, all others the same body; the same key with another body is a 422."""
    shop = await open_shop()
    product = await shop.product(stock=500)
    calls = [(f"key-{n % 10}", 1.0 if n < 40 else 2.0) for n in range(50)]
    mixed = await together(
        shop.ask(one, key=named)
        for key, many in calls
        for one, named in ((line(product, many), key), (fee(), None))
    )
    answers, keyless = mixed[0::2], mixed[1::2]
    assert statuses(keyless) == {201: 50}
    for place in range(10):
        same = answers[place::10]
        [order] = done(same)
        count = order["items"][0]["quantity"]
        alike = [
            one for one, (_, many) in zip(same, calls[place::10], strict=True) if many == count
        ]
        assert len({one.body for one in alike}) == 1
        assert statuses(alike) == Counter([201] + [200] * (len(alike) - 1))
        assert statuses(one for one in same if one not in alike) == {422: len(same) - len(alike)}
    assert await shop.total() == 10 + 50
    sold = sum(one["items"][0]["quantity"] for one in done(answers))
    assert await shop.stock(variant_of(product)) == (500 - sold, 0)


async def test_keys_of_long_ago_in_company_with_new_ones(open_shop: Open) -> None:
    """Each old one is answered by its own order, whether its kept answer is there or gone."""
    shop = await open_shop()
    first = await together(shop.ask(fee(100 + n), key=f"old-{n}") for n in range(8))
    await shop.sql.execute(
        "DELETE FROM idempotency_keys WHERE book_id = $1 AND key = ANY($2)",
        shop.book,
        [f"old-{n}" for n in range(4)],
    )
    names = [f"{name}-{n}" for n in range(8) for name in ("old", "new")]
    answers = await together(shop.ask(fee(100 + n // 2), key=key) for n, key in enumerate(names))
    olds, news = answers[0::2], answers[1::2]
    assert [(one.status, one.data) for one in olds] == [(200, one.data) for one in first]
    assert statuses(news) == {201: 8}
    assert [one.data["totalAmount"] for one in news] == [100 + n for n in range(8)]
    await check_shared(shop, done(news))
    others = await together(shop.ask(fee(1), key=key) for key in (*names, *"abcdefgh"))
    assert statuses(others) == {422: 16, 201: 8}
    assert await shop.total() == 24


async def test_whoever_sends_webhooks_is_woken(open_shop: Open, database_url: str) -> None:
    """Orders with deliveries notify other processes, whichever process wrote them."""
    shop = await open_shop()
    await shop.business.endpoint()
    heard = asyncio.Event()
    connection = await asyncpg.connect(database_url)
    try:
        await connection.add_listener(CHANNEL, lambda *_: heard.set())
        orders = done(await together(shop.ask(fee(n + 1)) for n in range(16)))
        await check_shared(shop, orders)
        async with within():
            await heard.wait()
    finally:
        await connection.close()


async def test_books_environments_and_apps_at_once(open_shop: Open) -> None:
    """Nothing crosses: orders, stock and customers stay in their book, events with their app."""
    shops = [await open_shop(), await open_shop()]
    shops += [await shop.other_book() for shop in shops]
    stands = [await _Stand.open(shop) for shop in shops]
    answers = await together(
        stand.ask(n, place, till)
        for n in range(12)
        for place, stand in enumerate(stands)
        for till in range(2)
    )
    assert statuses(answers) == {201: 96}
    for place, stand in enumerate(stands):
        own = [one for n, one in enumerate(answers) if n // 2 % 4 == place]
        await check_shared(stand.shop, done(own))
        await stand.check(place, own)


class _Stand:
    """A book with tills of two apps, each with an endpoint."""

    def __init__(self, shop: Shop, things: Body, tills: list[tuple[Api, str]]) -> None:
        self.shop = shop
        self._things = things
        self._tills = tills

    @classmethod
    async def open(cls, shop: Shop) -> "_Stand":
        env = await shop.sql.fetchval("SELECT environment FROM books WHERE id = $1", shop.book)
        assert env is not None
        tills: list[tuple[Api, str]] = []
        for name in ("One", "Two"):
            body = {"name": name, "environment": env}
            made = await shop.business.owner.post("/api/developer/apps", body, status=201)
            of = {"developer_app_id": made.data["id"]}
            api = await shop.business.client(*SCOPES, environment=env, **of)
            hook = await shop.business.endpoint(environment=env, **of)
            tills.append((api, hook["id"]))
        return cls(shop, await _things(shop), tills)

    async def ask(self, n: int, place: int, till: int) -> Response:
        """The same keys and amounts in every book, but for the notes."""
        things = self._things
        body = {
            "items": [line(things["product"]), fee(100 + n)], "customer_id": things["customer"],
            "notes": f"{place} {n} {till}",
        }  # fmt: skip
        headers = {"idempotency-key": f"{n}-{till}"}
        return await self._tills[till][0].post(ORDERS, body, headers=headers)

    async def check(self, place: int, answers: list[Response]) -> None:
        """Its own orders are there and no others, each told to the endpoint of its app alone."""
        shown = (await self.shop.api.get(f"{ORDERS}?limit=100", status=200)).data
        assert {one["id"] for one in shown} == {one.data["id"] for one in answers}
        assert {one["notes"] for one in shown} == {
            f"{place} {n} {till}" for n in range(12) for till in range(2)
        }
        assert {one["customer"]["id"] for one in shown} == {self._things["customer"]}
        assert await self.shop.stock(variant_of(self._things["product"])) == (76, 0)
        rows = await self.shop.sql.fetch(_HEARD, self.shop.book)
        heard = sorted((row["subject"], str(row["endpoint"])) for row in rows)
        tills = {one["id"]: int(one["notes"][-1]) for one in shown}
        assert heard == sorted((id_, self._tills[till][1]) for id_, till in tills.items())
        assert all(row["app"] == row["endpoint_app"] == row["delivery_app"] for row in rows)


_HEARD = """
    SELECT e.payload::jsonb #>> '{data,entityId}' AS subject, d.webhook_endpoint_id AS endpoint,
        e.developer_app_id AS app, h.developer_app_id AS endpoint_app,
        d.developer_app_id AS delivery_app
    FROM webhook_events e
    LEFT JOIN webhook_deliveries d ON d.book_id = $1 AND d.event_id = e.id
    LEFT JOIN webhook_endpoints h ON h.book_id = $1 AND h.id = d.webhook_endpoint_id
    WHERE e.book_id = $1 AND e.type = 'order.created'
"""


async def _things(shop: Shop) -> Body:
    """One of each kind that an order can name."""
    return {
        "customer": (await shop.customer())["id"], "product": await shop.product(stock=100),
        "tag": (await shop.tag("Rush"))["id"], "term": (await shop.term())["id"],
        "session": (await shop.session())["id"],
    }  # fmt: skip


def _added(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """The rows that were added."""
    return {name: count - before[name] for name, count in after.items() if count != before[name]}
