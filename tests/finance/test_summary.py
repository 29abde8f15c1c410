"""The summary: exact for every zone and day, and the same as the orders themselves say."""

import math
import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.finance.books import SUMMARY, Body
from tests.finance.conftest import Open
from tests.orders.shop import at_noon, exact
from tests.payouts.wallets import currency_of, fill
from tests.sweeping import sweep
from tillhouse.access.process import Services
from tillhouse.jobs.chores import fold
from tillhouse.kit.ids import BookId
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES


def _sum(summary: Body) -> Decimal:
    return sum((Decimal(str(one["value"])) for one in summary["velocityData"]), Decimal(0))


@pytest.mark.parametrize(
    ("zone", "day", "hours", "first"),
    [
        ("Africa/Lagos", "2026-03-29", 24, "2026-03-29T00:00:00+01:00"),
        ("Europe/Berlin", "2026-03-29", 23, "2026-03-29T00:00:00+01:00"),
        ("Europe/Berlin", "2025-10-26", 25, "2025-10-26T00:00:00+02:00"),
        ("Asia/Kathmandu", "2026-03-29", 24, "2026-03-29T00:00:00+05:45"),
        ("Africa/Cairo", "2026-04-24", 23, "2026-04-24T01:00:00+03:00"),
        ("Australia/Lord_Howe", "2026-04-05", 24.5, "2026-04-05T00:00:00+11:00"),
    ],
)
async def test_a_day_has_its_own_hours(
    open_books: Open, services: Services, zone: str, day: str, hours: float, first: str
) -> None:
    """Also where clocks change, and where the day begins between two hours of UTC."""
    books = await open_books(time_zone=zone)
    begins = datetime.fromisoformat(first)
    ends = begins + timedelta(hours=hours)
    late, intervals = timedelta(milliseconds=1), math.ceil(hours)
    for moment in (begins - late, begins, begins + timedelta(minutes=61), ends - late, ends):
        sold = moment.astimezone(UTC).isoformat(timespec="milliseconds")
        await books.sell(10.25, occurred_at=sold)
    for _ in range(2):
        summary = await books.summary(date=day)
        starts = [one["intervalStart"] for one in summary["velocityData"]]
        assert (len(starts), starts[0]) == (intervals, first)
        assert [one["value"] for one in summary["velocityData"]] == [
            10.25, 10.25, *[0] * (intervals - 3), 10.25
        ]  # fmt: skip
        assert (summary["salesTotal"], summary["date"]) == (30.75, day)
        assert not summary["isToday"]
        await fold(services.pool, ORDER_TALLIES)


async def test_days_that_begin_within_an_hour_of_utc_share_it(
    open_books: Open, services: Services
) -> None:
    """A day of Kathmandu begins at a quarter past six in the evening; folded or not."""
    books = await open_books(time_zone="Asia/Kathmandu")
    begins, quarter = datetime(2026, 3, 9, 18, 15, tzinfo=UTC), timedelta(minutes=15)
    for number in range(-2, 4 * 24 * 3 + 2, 5):
        sold = (begins + number * quarter).isoformat(timespec="milliseconds")
        await books.sell(1, occurred_at=sold)
    for day in range(3):
        at = (begins + timedelta(days=day)).isoformat(timespec="milliseconds")
        await books.sell(100, occurred_at=at)
    for _ in range(2):
        answer = await books.look(SUMMARY, {"from": "2026-03-10", "to": "2026-03-12"})
        values = [one["value"] for one in exact(answer)["velocityData"]]
        assert values == [119, 119, 119]
        await fold(services.pool, ORDER_TALLIES)


async def test_the_wallet_of_a_past_day_is_what_it_was(
    open_books: Open, services: Services
) -> None:
    """Before its days are summed up, after that, and after more has come: as the transfers say."""
    books = await open_books(time_zone="America/New_York")
    book_id, sql = BookId(books.shop.book), books.shop.sql
    currency = await currency_of(services, book_id)
    await fill(services, book_id, 5000, currency)
    chance = random.Random(9)  # noqa: S311 - any walk will do, but always the same
    today = datetime.now(UTC)
    for number in range(60):
        at = today - timedelta(minutes=chance.randrange(1440, 12 * 1440))
        await sql.execute(_COPIED, book_id, at, number % 3 > 0, chance.randrange(1, 999), number)
    zone = ZoneInfo("America/New_York")
    for turn in range(3):
        for ago in range(2, 14):
            day = (today.astimezone(zone) - timedelta(days=ago)).date()
            ends = datetime(day.year, day.month, day.day, tzinfo=zone) + timedelta(days=1)
            wanted = await sql.fetchval(_WALLET_AT, book_id, ends)
            summary = exact(await books.look(SUMMARY, {"date": day.isoformat()}))
            assert summary["walletBalance"] == wanted, (turn, day)
        await sweep(services, "wallet_days")
        if turn:
            await fill(services, book_id, 77, currency)
    query = "SELECT count(*) FROM wallet_days WHERE book_id = $1"
    assert await sql.fetchval(query, book_id) > 8


async def test_a_period_sums_up_its_days(open_books: Open, services: Services) -> None:
    """By local days; both ends included; intervals sum up to the total, to the last decimal."""
    books = await open_books(time_zone="America/New_York")
    store = await books.shop.store(name="Bronx")
    chance = random.Random(5)  # noqa: S311 - any walk will do, but always the same
    begins, wanted, of_store = datetime(2026, 3, 1, 5, tzinfo=UTC), Decimal(0), Decimal(0)
    for _ in range(30):
        moment = begins + timedelta(minutes=chance.randrange(-600, 20 * 1440))
        price = Decimal(chance.randrange(1, 9999)) / 100
        is_there = chance.random() < 0.5
        fields: Body = {"store_id": store["id"]} if is_there else {}
        order = await books.sell(float(price), occurred_at=moment.isoformat(), **fields)
        if chance.random() < 0.2:
            path = f"/v1/orders/{order['id']}"
            await books.shop.api.patch(path, {"status": "cancelled"}, status=200)
        elif begins <= moment < datetime(2026, 3, 16, 4, tzinfo=UTC):
            wanted += price
            of_store += price if is_there else 0
    for _ in range(2):
        period = {"since": "2026-03-01", "until": "2026-03-15"}
        answer = await books.look(SUMMARY, {"from": "2026-03-01", "to": "2026-03-15"})
        summary = exact(answer)
        assert summary["salesTotal"] == wanted == _sum(summary)
        assert (summary["startDate"], summary["endDate"]) == ("2026-03-01", "2026-03-15")
        assert (summary["periodLabel"], summary["totalDays"]) == ("1 \N{EN DASH} 15 Mar 2026", 15)
        starts = [one["intervalStart"] for one in summary["velocityData"]]
        assert starts[6:9] == [f"2026-03-0{n}T00:00:00-0{5 if n < 9 else 4}:00" for n in (7, 8)] + [
            "2026-03-09T00:00:00-04:00"
        ]
        here = await books.summary(**period, store_id=store["id"])
        assert Decimal(str(here["salesTotal"])) == of_store
        await fold(services.pool, ORDER_TALLIES)


async def test_today_says_what_is_open(open_books: Open) -> None:
    """Pending and scheduled orders, debts, credit, expenses; without a date it is today."""
    books = await open_books(time_zone=at_noon())
    ada = await books.shop.customer("Ada")
    await books.sell(100, amount_paid=40, customer_id=ada["id"])
    await books.sell(200, amount_paid=0, scheduled_for="2100-01-01T00:00:00Z")
    await books.sell(30, amount_paid=50, customer_id=ada["id"], payment_method="pos")
    await books.spend(12.5)
    await books.spend(7, occurred_at="2026-01-01T00:00:00Z")
    summary = await books.summary()
    assert summary["isToday"]
    assert summary["pendingOrdersTotal"] == 260
    assert summary["pendingOrdersCount"] == 2
    assert summary["pendingDebtTotal"] == 60
    assert summary["creditsTotal"] == 20
    assert summary["expensesTotal"] == 12.5
    assert (summary["walletBalance"], summary["pendingTransactionsCount"]) == (0, 0)
    assert summary["salesTotal"] == 130
    assert "startDate" not in summary


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"to": "2026-01-01"}, "from"),
        ({"from": "2026-01-02", "to": "2026-01-01"}, "to"),
        ({"from": "2024-01-01", "to": "2025-01-01"}, "to"),
        ({"date": "2026-01-01", "from": "2026-01-01"}, "date"),
        ({"date": "2026-02-30"}, "date"),
        ({"date": "2026-01-01T00:00:00Z"}, "date"),
    ],
)
async def test_times_that_make_no_sense_are_refused(
    open_books: Open, query: Any, field: str
) -> None:
    """By the parameter that is wrong."""
    books = await open_books()
    refused = await books.look(SUMMARY, query, status=422)
    assert [one["field"] for one in refused.json["details"]] == [field]


async def test_a_year_is_the_longest_period(open_books: Open) -> None:
    """366 days, a leap year."""
    books = await open_books()
    summary = await books.summary(since="2024-01-01", until="2024-12-31")
    assert (summary["totalDays"], len(summary["velocityData"])) == (366, 366)


_COPIED = """
    INSERT INTO ledger_transfers (book_id, id, debit_kind, credit_kind, amount, currency, kind,
        source_type, source_id, sequence, happened_at, created_at)
    SELECT t.book_id, new_id($2), CASE WHEN $3 THEN t.debit_kind ELSE t.credit_kind END,
        CASE WHEN $3 THEN t.credit_kind ELSE t.debit_kind END, $4, t.currency, t.kind,
        t.source_type, new_id($2), $5, $2, $2
    FROM ledger_transfers t WHERE t.book_id = $1 AND t.credit_kind = 'wallet' LIMIT 1
"""
_WALLET_AT = """
    SELECT b.credits - b.debits - coalesce((
        SELECT sum(CASE t.credit_kind WHEN 'wallet' THEN t.amount ELSE -t.amount END)
        FROM ledger_transfers t
        WHERE t.book_id = $1 AND 'wallet' IN (t.credit_kind, t.debit_kind)
            AND made_at(t.id) >= $2), 0)
    FROM ledger_balances b WHERE b.book_id = $1 AND b.kind = 'wallet'
"""
