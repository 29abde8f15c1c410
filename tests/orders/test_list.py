"""The list of orders: every filter alone and together, pages, order, search, summary."""

import random
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

import asyncpg
import msgspec
import pytest

from tests.api import Response
from tests.make import Make
from tests.orders import list_model
from tests.orders.conftest import Open
from tests.orders.history import COUNT, ZONE, History
from tests.orders.list_model import Query
from tests.orders.shop import ORDERS, Shop, fee
from tillhouse.access.process import Services
from tillhouse.app import App
from tillhouse.customers.rules import word_query
from tillhouse.jobs.chores import fold
from tillhouse.kit.clock import end_of_day, iso, now, start_of_day
from tillhouse.kit.page import Page
from tillhouse.orders.listing.store import page as listing
from tillhouse.orders.listing.store import page_windows
from tillhouse.orders.listing.store.query import OrderQuery, Reach
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES

COMBINATIONS = pytest.mark.parametrize(
    "combinations", [40, pytest.param(200, marks=pytest.mark.proof)]
)
FILTERS = (
    "status", "payment_status", "channel", "service_mode", "payment_method", "customer_id",
    "store_id", "store_ids", "recorded_by_id", "staff_id", "served_by_user_id",
    "table_session_id", "academic_term_id", "tag_ids", "start_date", "end_date", "search",
    "is_automated", "channel_fulfilled", "scheduled_only",
)  # fmt: skip


@pytest.fixture(scope="module")
async def history(app: App, sql: asyncpg.Connection) -> History:
    """Sixty orders in one shop, which no test of this file changes."""
    shop = await Shop.open(Make(app, app.services), sql, time_zone=ZONE)
    return await History.of(shop)


async def _list(shop: Shop, query: dict[str, Any], **options: Any) -> Response:
    text = urlencode(query)
    return await shop.api.get(f"{ORDERS}?{text}" if text else ORDERS, **options)


async def _check(history: History, query: Query) -> None:
    """The list, its meta and its summary say what the plain filter says."""
    day = history.today()
    answer = await _list(history.shop, {**query, "limit": "100"}, status=200)
    # Midnight may have gone by while it was asked for.
    days = {day, history.today()}
    expected = list_model.newest(history.orders, query)
    assert [order["id"] for order in answer.data] == [order["id"] for order in expected], query
    assert answer.data == expected
    assert answer.json["meta"] == {
        "total": len(expected), "page": 1, "perPage": 100, "totalPages": 1 if expected else 0,
        "hasMore": False,
    }  # fmt: skip
    figures = list_model.figures(answer.json["summary"])
    assert figures in [list_model.summary(history.orders, query, day) for day in days], query


def _queries(history: History) -> dict[str, list[str]]:
    """Values of every parameter, of those that fit some orders and of those that fit none."""
    orders = history.orders
    people = {o["recordedBy"]["id"] for o in orders}
    customers = {o["customer"]["id"] for o in orders if o["customer"]}
    first, second = history.stores
    vip, late, gift = history.tags
    nobody = str(uuid4())
    return {
        "status": ["pending", "completed", "scheduled", "cancelled", "refunded",
                   "pending,completed", "scheduled,cancelled,refunded"],
        "payment_status": ["paid", "partial", "pending", "paid,partial"],
        "channel": ["whatsapp", "in_person,voice", "tiktok"],
        "service_mode": ["dine_in", "takeaway,room_service"],
        "payment_method": ["cash", "pos", "credit"],
        "customer_id": [*sorted(customers), nobody],
        "store_id": [first, second, nobody],
        "store_ids": [first, f"{first},{second}", nobody],
        "recorded_by_id": [*sorted(people), nobody],
        "staff_id": [*sorted(people), nobody],
        "served_by_user_id": [history.shop.business.user_id, nobody],
        "table_session_id": [history.things["table_session_id"], nobody],
        "academic_term_id": [history.things["academic_term_id"], nobody],
        "tag_ids": [vip, f"{late},{gift}", nobody],
        "start_date": [history.day(3), history.day(0), history.instant(20)],
        "end_date": [history.day(3), history.day(1), history.instant(20)],
        "search": ["ada", "ADA OBI", "obi ad", "bol", "zainab", "o'neil", "nobody", "john",
                   "mary-ann", "%", orders[5]["shortCode"],
                   orders[9]["shortCode"].lower(), orders[9]["shortCode"][:4],
                   orders[9]["shortCode"][:2], orders[9]["shortCode"][0], "a"],
        "is_automated": ["true", "false"],
        "channel_fulfilled": ["true", "false"],
        "scheduled_only": ["true", "false"],
    }  # fmt: skip


async def test_the_history_is_of_all_kinds(history: History) -> None:
    """So that the tests below can fail."""
    orders = history.orders
    assert len(orders) == COUNT
    for name, least in (("status", 5), ("paymentStatus", 3), ("channel", 4), ("serviceMode", 4)):
        assert len({order[name] for order in orders}) >= least
    assert _queries(history).keys() == set(FILTERS)
    for name, values in _queries(history).items():
        fitting = [sum(list_model.fits(o, {name: value}) for o in orders) for value in values]
        assert any(0 < count < COUNT for count in fitting), name


async def test_without_a_filter_all_are_listed(history: History) -> None:
    """The newest sale first, whole resources."""
    await _check(history, {})


@pytest.mark.parametrize("name", FILTERS)
async def test_every_filter_alone(history: History, name: str) -> None:
    """Each parameter of the contract, with each of its values."""
    for value in _queries(history)[name]:
        await _check(history, {name: value})


@COMBINATIONS
async def test_filters_together(history: History, combinations: int) -> None:
    """Two to five at once: all of them hold."""
    dice = random.Random(11)  # noqa: S311 - the same queries every time
    values = _queries(history)
    for _ in range(combinations):
        names = dice.sample(sorted(values), dice.choice((2, 2, 2, 3, 5)))
        await _check(history, {name: dice.choice(values[name]) for name in names})


@pytest.mark.parametrize("query", [{}, {"status": "completed"}, {"scheduled_only": "true"}])
@pytest.mark.parametrize("limit", [1, 7, 50, 60])
async def test_pages_make_up_the_list(history: History, query: Query, limit: int) -> None:
    """In one order, nothing twice and nothing left out; the page after the last is empty."""
    expected = list_model.newest(history.orders, query)
    pages = -(-len(expected) // limit)
    seen: list[str] = []
    for page in range(1, pages + 2):
        answer = await _list(history.shop, {**query, "page": page, "limit": limit}, status=200)
        assert answer.json["meta"] == {
            "total": len(expected), "page": page, "perPage": limit, "totalPages": pages,
            "hasMore": page < pages,
        }  # fmt: skip
        seen += [order["id"] for order in answer.data]
    assert seen == [order["id"] for order in expected]


# Filters that only the detailed tallies know, and filters that no tally knows.
DETAILS = {"recorded_by_id", "staff_id", "served_by_user_id", "academic_term_id", "tag_ids"}
PICKS = {"customer_id", "table_session_id", "search", "scheduled_only"}
LISTS = {"status", "payment_status", "channel", "service_mode"}


def _asked(query: Query) -> OrderQuery:
    """A query of the API as the stores know it."""
    asked: dict[str, Any] = {}
    times: dict[str, Any] = {}
    for name, value in query.items():
        if name in LISTS:
            asked[name] = value.split(",")
        elif name in ("store_ids", "tag_ids"):
            asked[name] = [UUID(one) for one in value.split(",")]
        elif name in ("is_automated", "channel_fulfilled"):
            asked[name] = value == "true"
        elif name == "start_date":
            times["since"] = value.first
        elif name == "end_date":
            times["until"] = value.last
        else:
            asked[name] = UUID(value) if name.endswith("_id") else value
    return OrderQuery(asked=asked, **times)


async def _within(services: Services, history: History, query: Query, page: Page) -> list[str]:
    """A page as it is found where it lies deep."""
    asked, book = _asked(query), history.shop.book
    async with services.pool.reading() as db:
        if not query.keys() & DETAILS:
            times = await page_windows.list_days(db, book, asked, page)
        elif asked.reaches(Reach.TOTAL, Reach.KIND):
            times = await page_windows.list_days_in_months(db, book, asked, page)
        else:
            times = await page_windows.list_months(db, book, asked, page)
        orders = await listing.list_within(db, book, asked, page, times)
    return [str(order["id"]) for order in orders]


async def test_a_search_finds_the_same_in_every_way(history: History, services: Services) -> None:
    """From the newest, by what is found, by what else is asked."""
    dice = random.Random(17)  # noqa: S311 - the same queries every time
    values = {name: each for name, each in _queries(history).items() if name not in PICKS}
    ways = (partial(listing.list_near, most=COUNT), listing.list_found, listing.list_few)
    longest = 0
    for text in _queries(history)["search"] * 4:
        names = dice.sample(sorted(values), dice.choice((0, 0, 1, 2)))
        query = {name: dice.choice(values[name]) for name in names}
        expected = list_model.newest(history.orders, {**query, "search": text})
        page = Page(dice.randint(1, 3), dice.choice((2, 5, 50)))
        ids = [order["id"] for order in expected[page.offset : page.offset + page.per_page]]
        code = text.strip().upper() or "?"
        asked = msgspec.structs.replace(_asked(query), code=code, words=word_query(text) or None)
        async with services.pool.reading() as db:
            for way in ways:
                found = await way(db, history.shop.book, asked, page)
                assert [str(order["id"]) for order in found] == ids, (text, query, way)
        longest = max(longest, len(ids))
    assert longest > 5


async def test_a_walk_ends(history: History, services: Services) -> None:
    """After so many of the newest, whatever was found: the rest is found in another way."""
    asked, page = _asked({"status": "completed"}), Page(1, COUNT)
    newest = list_model.newest(history.orders, {})[:10]
    async with services.pool.reading() as db:
        found = await listing.list_near(db, history.shop.book, asked, page, 10)
    expected = [order["id"] for order in newest if order["status"] == "completed"]
    assert [str(order["id"]) for order in found] == expected
    assert 0 < len(expected) < 10


@COMBINATIONS
async def test_a_page_is_where_the_tallies_say(
    history: History, services: Services, combinations: int
) -> None:
    """Folded or not: what only a book of thousands needs is the same as a walk from the newest."""
    dice = random.Random(13)  # noqa: S311 - the same queries every time
    values = {name: each for name, each in _queries(history).items() if name not in PICKS}
    deepest = 0
    for number in range(combinations):
        if number == combinations // 2:
            await fold(services.pool, ORDER_TALLIES)
        names = dice.sample(sorted(values), dice.choice((0, 1, 1, 2, 3)))
        query = {name: dice.choice(values[name]) for name in names}
        expected = [order["id"] for order in list_model.newest(history.orders, query)]
        limit = dice.choice((1, 4, 9))
        place = dice.randint(1, -(-len(expected) // limit) or 1)
        page = Page(place, limit)
        found = await _within(services, history, query, page)
        assert found == expected[page.offset : page.offset + limit], (query, place, limit)
        deepest = max(deepest, page.offset if found else 0)
    assert deepest > COUNT // 2


async def test_a_page_has_fifty_unless_told(history: History) -> None:
    """The first of them; the summary is of all."""
    answer = await _list(history.shop, {}, status=200)
    assert len(answer.data) == 50
    assert answer.json["meta"]["perPage"] == 50
    assert answer.json["meta"]["hasMore"] is True
    assert answer.json["summary"]["filteredOrders"] == COUNT


IDS = [name for name in FILTERS if name.endswith(("_id", "_ids"))]
WRONG = {
    "status": ["paid", "Pending", "pending,,completed", ""],
    "payment_status": ["completed", ""],
    "channel": ["sms", "WhatsApp"],
    "service_mode": ["delivery"],
    "payment_method": ["cheque", "cash,pos"],
    "page": ["0", "-1", "x", "1.5", ""],
    "limit": ["0", "101", "x"],
    "start_date": ["soon", "2026-13-01", "2026-01-31T10:00:00"],
    "end_date": ["", "2026-02-30"],
    "is_automated": ["yes", "1", ""],
    "channel_fulfilled": ["TRUE"],
    "scheduled_only": ["null"],
    **{name: ["x", "1", ""] for name in IDS},
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_filter_is_named(history: History, name: str) -> None:
    """422, never an empty list that looks like an answer."""
    for value in WRONG[name]:
        answer = await _list(history.shop, {name: value}, status=422)
        assert (answer.error, answer.wrong_fields) == ("validation_error", {name}), value


async def test_wrong_and_unknown_filters_are_named_at_once(history: History) -> None:
    """A mistyped filter must not widen the list."""
    query = {"state": "pending", "limit": "1000", "store_id": "x"}
    answer = await _list(history.shop, query, status=422)
    assert answer.wrong_fields == {"state", "limit", "store_id"}


async def test_the_day_is_the_businesss(open_shop: Open) -> None:
    """Where the local date is not that of UTC, today's orders are those of the local day."""
    moment = now()
    # A zone whose midnight is at least an hour away and whose date is another than UTC's.
    zone, ahead = ("Etc/GMT+12", -12) if moment.hour < 11 else ("Etc/GMT-14", 14)
    today = (moment + timedelta(hours=ahead)).date()
    assert today != moment.date()
    shop = await open_shop(time_zone=zone)
    begins = start_of_day(today, zone)
    for price, at in ((1, begins - timedelta(milliseconds=1)), (10, begins)):
        await shop.sell(fee(price), occurred_at=iso(at))
    await shop.sell(fee(100))
    cancelled = await shop.sell(fee(1000))
    await shop.to(cancelled, "cancelled")
    await shop.sell(fee(10_000), scheduled_for=iso(moment + timedelta(days=3)))
    whole = (await _list(shop, {}, status=200)).json["summary"]
    assert (whole["todayOrders"], whole["todayRevenue"]) == (3, 110)
    yesterday = today - timedelta(days=1)
    dated = {"start_date": yesterday.isoformat(), "end_date": yesterday.isoformat()}
    answer = await _list(shop, dated, status=200)
    assert [order["totalAmount"] for order in answer.data] == [1]
    assert answer.json["summary"]["todayRevenue"] == 110
    last = {"end_date": iso(end_of_day(yesterday, zone)), "start_date": iso(begins)}
    assert (await _list(shop, last, status=200)).data == []


async def test_a_store_has_its_own_day(open_shop: Open) -> None:
    """With a cut-off at four in the morning, what was sold at two is yesterday's."""
    moment = now()
    # A zone where it is between two and three now: the day of before goes on until four.
    ahead = (2 - moment.hour + 12) % 24 - 12
    zone = f"Etc/GMT{-ahead:+d}" if ahead else "Etc/GMT"
    shop = await open_shop(time_zone="UTC")
    store = (await shop.store(time_zone=zone, day_cutoff="04:00"))["id"]
    yesterday = (moment + timedelta(hours=ahead)).date() - timedelta(days=1)
    begins = start_of_day(yesterday, zone) + timedelta(hours=4)
    prices = ((1, begins - timedelta(milliseconds=1)), (10, begins), (100, moment))
    for price, at in prices:
        await shop.sell(fee(price), occurred_at=iso(at), store_id=store)
    summary = (await _list(shop, {"store_id": store}, status=200)).json["summary"]
    assert (summary["todayOrders"], summary["todayRevenue"]) == (2, 110)
    await shop.api.patch(f"/v1/stores/{store}", {"day_cutoff": "00:00"}, status=200)
    summary = (await _list(shop, {"store_id": store}, status=200)).json["summary"]
    assert (summary["todayOrders"], summary["todayRevenue"]) == (1, 100)


async def test_an_empty_book_has_a_summary(open_shop: Open) -> None:
    """Zeros, and no page."""
    shop = await open_shop()
    answer = await _list(shop, {}, status=200)
    assert answer.data == []
    figures = list_model.figures(answer.json["summary"])
    assert set(figures.values()) == {0}
    assert len(figures) == 14 + len(list_model.METHODS)
    assert answer.json["meta"] == {
        "total": 0, "page": 1, "perPage": 50, "totalPages": 0, "hasMore": False,
    }  # fmt: skip


async def test_the_summary_follows_every_change(open_shop: Open) -> None:
    """Payment, cancellation, deletion: at once, and exactly."""
    shop = await open_shop()

    async def figures() -> tuple[float, ...]:
        found = (await _list(shop, {}, status=200)).json["summary"]
        names = ("totalOrders", "totalRevenue", "averageOrderValue", "pendingOrdersCount",
                 "pendingOutstandingAmount", "completedRevenue", "cancelledRevenue")  # fmt: skip
        return tuple(found[name] for name in names)

    first = await shop.sell(fee(100), amount_paid=30)
    await shop.sell(fee(50.01), amount_paid=60)
    assert await figures() == (2, 150.01, 75.01, 1, 70, 50.01, 0)
    await shop.patch(first, amount_paid=100)
    assert await figures() == (2, 150.01, 75.01, 0, 0, 150.01, 0)
    await shop.patch(first, total_amount=80)
    assert await figures() == (2, 130.01, 65.01, 0, 0, 130.01, 0)
    await shop.to(first, "cancelled")
    assert await figures() == (2, 50.01, 50.01, 0, 0, 50.01, 80)
    await shop.delete(first)
    assert await figures() == (1, 50.01, 50.01, 0, 0, 50.01, 0)


async def test_books_do_not_mix(open_shop: Open) -> None:
    """Orders of the live book and of other businesses are in no list and no figure."""
    shop, stranger = await open_shop(), await open_shop()
    live = await shop.other_book()
    for other in (stranger, live):
        order = await other.sell(fee(100), amount_paid=100)
        answer = await _list(shop, {}, status=200)
        assert answer.data == []
        assert set(list_model.figures(answer.json["summary"]).values()) == {0}
        assert (await _list(shop, {"search": order["shortCode"]}, status=200)).data == []
        assert (await shop.api.get(f"{ORDERS}/{order['id']}")).status == 404
