"""Figures that don't jump: gross stays, refunds and net beside it, cash by the day of the money."""

from datetime import date, timedelta
from decimal import Decimal

import asyncpg
import pytest

from tests.finance.books import Body, Books
from tests.finance.conftest import Open
from tests.finance.day_oracle import added_up, local_days, told
from tests.finance.method_oracle import by_method
from tests.finance.walker import Walker, charge_by_provider, fold_all
from tests.orders.shop import ORDERS, at_noon, exact, fee, line
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, new_id
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Account, AccountKind, Ledger, Postings, Source, Transfer


async def _figures(books: Books) -> Body:
    answer = await books.shop.api.get(ORDERS, status=200)
    return answer.json["summary"]


async def _refund(books: Books, order: Body, amount: float, method: str = "cash") -> None:
    body = {"amount": amount, "method": method}
    await books.shop.api.post(f"{ORDERS}/{order['id']}/refunds", body, status=201)


async def test_a_refund_in_parts_up_to_all_leaves_gross(
    open_books: Open, services: Services
) -> None:
    """By the day of the sale 100 stay 100; refunds and net stand beside; folded and not."""
    books = await open_books(time_zone=at_noon())
    order = await books.sell(100)
    gross = {"totalRevenue": 100, "todayRevenue": 100, "completedRevenue": 100}
    for back in (0, 30, 70):
        if back:
            await _refund(books, order, back)
        given = {0: 0, 30: 30, 70: 100}[back]
        for _ in range(2):
            seen = await _figures(books)
            assert {name: seen[name] for name in gross} == gross
            assert (seen["averageOrderValue"], seen["todayOrders"]) == (100, 1)
            assert (seen["refundedAmount"], seen["netRevenue"]) == (given, 100 - given)
            summary = await books.summary()
            assert (summary["salesTotal"], summary["refundsTotal"]) == (100, given)
            assert (summary["netSalesTotal"], summary["cashExpected"]) == (100 - given,) * 2
            await fold_all(services)
    assert (await books.shop.show(order))["status"] == "refunded"


async def test_a_full_refund_ends_that_a_paid_order_was_set_to_pending(open_books: Open) -> None:
    """It is completed as it is paid, so a refund changes no figure, but of one reopened by name."""
    books = await open_books()
    order = await books.sell(100)

    async def completed() -> tuple[float, float]:
        seen = (await books.shop.api.get(ORDERS, status=200)).json["summary"]
        return seen["completedRevenue"], seen["totalRevenue"]

    assert await completed() == (100, 100)
    await _refund(books, order, 30)
    assert await completed() == (100, 100)
    await books.shop.to(order, "pending")
    assert await completed() == (0, 100)
    await _refund(books, order, 70)
    assert (await books.shop.show(order))["status"] == "refunded"
    assert await completed() == (100, 100)


async def test_a_refund_of_yesterdays_sale_is_of_today(open_books: Open) -> None:
    """Yesterday stands: its sales, its cash; today tells what went back."""
    zone = at_noon()
    books = await open_books(time_zone=zone)
    sold = now() - timedelta(days=1)
    order = await books.sell(100, occurred_at=sold.isoformat(timespec="milliseconds"))
    yesterday = {"date": sold.date().isoformat()}
    before = await books.summary(**yesterday)
    await _refund(books, order, 40)
    after = await books.summary(**yesterday)
    assert after == before
    assert (after["salesTotal"], after["netSalesTotal"], after["cashExpected"]) == (100, 100, 100)
    today = await books.summary()
    assert (today["salesTotal"], today["refundsTotal"]) == (0, 40)
    assert (today["netSalesTotal"], today["cashExpected"]) == (-40, -40)


async def test_change_that_moves_after_its_payment_is_a_transaction(open_books: Open) -> None:
    """The drawer is the sum of the cash transactions, less the change handed out with each."""
    books = await open_books()
    shop = books.shop
    order = await shop.sell(fee(90), amount_paid=100)
    path = f"{ORDERS}/{order['id']}"
    assert await _cash(books) == (90, 90)
    await shop.api.patch(path, {"total_amount": 60}, status=200)
    assert await _cash(books) == (60, 60)
    await shop.api.patch(path, {"total_amount": 95}, status=200)
    assert await _cash(books) == (95, 95)
    await shop.api.patch(path, {"amount_paid": 95}, status=200)
    assert await _cash(books) == (95, 95)
    later = await shop.sell(fee(20), amount_paid=50, scheduled_for="2100-01-01T00:00:00Z")
    assert await _cash(books) == (145, 145)
    await shop.api.patch(f"{ORDERS}/{later['id']}", {"status": "completed"}, status=200)
    assert await _cash(books) == (115, 115)
    told = (await shop.api.get("/v1/finance/transactions?type=change", status=200)).data
    moved = [(one["direction"], one["amount"], one["method"]) for one in reversed(told)]
    assert moved == [
        ("out", 30, "cash"), ("in", 35, "cash"), ("in", 5, "cash"), ("out", 30, "cash"),
    ]  # fmt: skip


@pytest.mark.parametrize("verb", ["cancelled", "deleted"])
async def test_an_order_that_ends_before_its_time_hands_nothing_out(
    open_books: Open, verb: str
) -> None:
    """Paid 40 ahead for 33: all of it is still in the drawer, and can be given back."""
    books = await open_books()
    shop = books.shop
    order = await shop.sell(fee(33), amount_paid=40, scheduled_for="2100-01-01T00:00:00Z")
    path = f"{ORDERS}/{order['id']}"
    if verb == "deleted":
        await shop.api.delete(path, status=200)
        assert await _cash(books) == (40, 40)
        return
    ended = (await shop.api.patch(path, {"status": verb}, status=200)).data
    assert ended["changeAmount"] == 0
    assert await _cash(books) == (40, 40)
    body = {"amount": 40, "method": "cash"}
    await shop.api.post(path + "/refunds", body, status=201)
    assert await _cash(books) == (0, 0)


async def _cash(books: Books) -> tuple[float, float]:
    """The drawer as the summary tells it, and the sum of the transactions in cash."""
    told = (await books.shop.api.get("/v1/finance/transactions?method=cash", status=200)).data
    signs = {"in": 1, "out": -1}
    sums = sum(signs[one["direction"]] * one["amount"] - one["changeAmount"] for one in told)
    return (await books.summary())["cashExpected"], sums


async def test_a_scheduled_order_is_no_sale_before_it_is_confirmed(open_books: Open) -> None:
    """Pending, completed and refunded orders are sold; scheduled and cancelled ones aren't."""
    books = await open_books(time_zone=at_noon())
    order = await books.sell(80, amount_paid=0, scheduled_for="2100-01-01T00:00:00Z")
    assert (await books.summary())["salesTotal"] == 0
    await books.shop.confirm(order)
    assert (await books.summary())["salesTotal"] == 80
    await books.shop.to(order, "cancelled")
    assert (await books.summary())["salesTotal"] == 0


async def test_every_transaction_has_a_direction_and_no_sign(open_books: Open) -> None:
    """Sales come in, refunds, expenses and corrections go out; change is told beside the cash."""
    books = await open_books(time_zone=at_noon())
    order = await books.sell(49.84, amount_paid=100)
    await _refund(books, order, 9.84)
    await books.spend(7)
    wrong = await books.sell(20, payment_method="pos")
    await books.shop.patch(wrong, amount_paid=5)
    seen = {
        (one["type"], one["direction"], one["amount"], one["changeAmount"])
        for one in await books.all()
    }
    assert seen == {
        ("sale", "in", 100, 50.16), ("refund", "out", 9.84, 0), ("expense", "out", 7, 0),
        ("sale", "in", 20, 0), ("adjustment", "out", 15, 0),
    }  # fmt: skip
    # 100 tendered, 50.16 change, 9.84 given back, 7 spent.
    assert (await books.summary())["cashExpected"] == 33


async def test_money_of_another_currency_is_no_cash_of_ours(
    open_books: Open, services: Services
) -> None:
    """An unapplied receipt in dollars is in the books, and in no figure in naira."""
    books = await open_books(time_zone=at_noon(), currency="NGN")
    ledger = Ledger(BookId(books.shop.book), "USD", now())
    clearing, unapplied = (Account(kind, new_id()) for kind in _FOREIGN)
    posted = Transfer(clearing, unapplied, Decimal(70), "unapplied_receipt")
    async with services.pool.transaction() as db:
        source = Source(type="payin", id=new_id(), happened_at=now())
        await post(db, ledger, source, Postings((posted,)))
    assert {one["amount"] for one in (await books.summary())["receivedByMethod"]} == {0}


_FOREIGN: tuple[AccountKind, ...] = ("provider_clearing", "unapplied_receipts")


async def test_an_evening_beside_its_ledger(
    open_books: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """Gross, refunds, net, tax, cash in the drawer, fees, disputes; `-s` prints the table."""
    books = await open_books(time_zone=at_noon(), currency="NGN")
    shop = books.shop
    rice = await shop.product(20, tax_rate=7.5)
    dinner = await shop.sell(line(rice, 2), service_charge_amount=4, amount_paid=0)
    path = f"{ORDERS}/{dinner['id']}/payments"
    await shop.api.post(path, {"amount": 20, "method": "pos", "tip": 3}, status=201)
    await shop.api.post(path, {"amount": 50, "method": "cash", "tip": 2}, status=201)
    lunch = await shop.sell(line(rice), discount_amount=5, amount_paid=16.13)
    taken_back = await books.sell(60, payment_method="transfer")
    await _refund(books, lunch, 6.13)
    await _refund(books, taken_back, 60, "transfer")
    await books.spend(8)
    await charge_by_provider(services, books, now(), (2, 25))
    day = date.fromisoformat((await books.summary())["date"])
    seen = await told(books, day, day)
    wanted = await added_up(sql, shop.book, local_days(day, day, at_noon()))
    print(f"\n{'':22}{'told':>10}{'ledger':>10}")  # noqa: T201 - the table of this test
    for name in seen:
        print(f"{name:22}{seen[name]:>10.2f}{wanted[name]:>10.2f}")  # noqa: T201
    assert seen == wanted
    figures = {name: float(amount) for name, amount in seen.items()}
    assert figures == {
        "salesTotal": 123.13, "refundsTotal": 66.13, "netSalesTotal": 57, "taxTotal": 4.13,
        "serviceChargesTotal": 4, "discountsTotal": 5, "tipsTotal": 5, "feesTotal": 2,
        "disputesTotal": 25, "expensesTotal": 8, "cashExpected": 31,
        "cash": 39, "transfer": 0, "pos": 23, "cloove_pay": 0, "other": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("seed", "zone"),
    [(1, "Asia/Kathmandu"), pytest.param(2, "Africa/Lagos", marks=pytest.mark.proof)],
)
async def test_figures_are_what_the_rows_add_up_to(
    open_books: Open, services: Services, sql: asyncpg.Connection, seed: int, zone: str
) -> None:
    """Walks of every kind of step: each day, all days, each store; folded and not."""
    books = await open_books(time_zone=zone, currency="NGN")
    walker = Walker(books, services, seed)
    await walker.prepare()
    for number in range(90):
        await walker.step()
        if number % 30 == 29:
            await _compare(books, sql, zone, walker.stores)
            await fold_all(services)
            await _compare(books, sql, zone, walker.stores)
        said, held = await by_method(sql, books.shop.book)
        assert said == held, number


async def _compare(
    books: Books, sql: asyncpg.Connection, zone: str, stores: list[str | None]
) -> None:
    today = date.fromisoformat((await books.summary())["date"])
    days = [today - timedelta(days=ago) for ago in range(5)]
    for first, last in [*zip(days, days, strict=True), (days[-1], days[0])]:
        for store in stores:
            wanted = await added_up(sql, books.shop.book, local_days(first, last, zone), store)
            if store is not None:
                # Fees and disputes are the whole business's.
                both = await added_up(sql, books.shop.book, local_days(first, last, zone))
                wanted |= {name: both[name] for name in ("feesTotal", "disputesTotal")}
            assert await told(books, first, last, store) == wanted, (first, last, store)
    await _compare_orders(books, sql)
    await _compare_transactions(books, days)
    for day in days:
        await _compare_costs(books, day)


async def _compare_costs(books: Books, day: date) -> None:
    """Fees and disputes of a day are the sums of its transactions, as they are listed."""
    named = await told(books, day, day)
    rows = await books.all(
        since=day.isoformat(), until=day.isoformat(), type="fee,reversal", status="successful"
    )
    sums = dict.fromkeys(("feesTotal", "disputesTotal"), Decimal(0))
    for one in rows:
        amount = Decimal(str(one["amount"])) * (1 if one["direction"] == "out" else -1)
        if one["type"] == "fee":
            sums["feesTotal"] += amount
        elif one["disputeId"] is not None:
            sums["disputesTotal"] += amount
    assert sums == {name: named[name] for name in sums}, day


async def _compare_transactions(books: Books, days: list[date]) -> None:
    """Money by a method is the sum of the transactions of these days, less the change of each."""
    first, last = days[-1], days[0]
    received = await told(books, first, last)
    sums = dict.fromkeys(("cash", "pos", "transfer", "other", "cloove_pay"), Decimal(0))
    query: Body = {"since": first.isoformat(), "until": last.isoformat(), "limit": 100}
    for number in range(1, 1000):
        page = await books.page(**query, page=number, type=_OF_TENDERS, status="successful")
        for one in exact(page):
            if one["method"] in sums and one["disputeId"] is None:
                sums[one["method"]] += one["amount"] * (1 if one["direction"] == "in" else -1)
                sums[one["method"]] -= one["changeAmount"]
        if not page.json["meta"]["hasMore"]:
            break
    assert sums == {method: received[method] for method in sums}


_OF_TENDERS = "sale,debt_payment,tip,credit,refund,adjustment,change,wallet_deposit,reversal"


async def _compare_orders(books: Books, sql: asyncpg.Connection) -> None:
    row = await sql.fetchrow(_OF_ORDERS, books.shop.book)
    assert row is not None
    seen = await _figures(books)
    assert {name: Decimal(str(seen[name])) for name in row.keys()} == dict(row)  # noqa: SIM118


_OF_ORDERS = """
    SELECT coalesce(sum(total_amount), 0) AS "totalRevenue",
        coalesce(sum(total_amount) FILTER (WHERE status <> 'pending'), 0) AS "completedRevenue",
        coalesce(sum(refunded_amount), 0) AS "refundedAmount",
        coalesce(sum(total_amount - refunded_amount), 0) AS "netRevenue"
    FROM orders WHERE book_id = $1 AND deleted_at IS NULL
        AND status IN ('pending', 'completed', 'refunded')
"""
