"""An evening's sums, from answers alone: the summary beside the entries, orders and transactions.

`pytest -s` prints the table.
"""

from collections import defaultdict
from decimal import Decimal
from typing import Any

import asyncpg

from tests.finance.books import Body, Books
from tests.finance.conftest import Open
from tests.folios.lodge import Lodge
from tests.orders.deposits.depositing import Depositing
from tests.orders.shop import ORDERS, Shop, at_noon, exact, line
from tests.payouts.treasury import Treasury
from tillhouse.access.process import Services

_ZERO = Decimal(0)
_ROWS = {
    "gross": "salesTotal", "refunds": "refundsTotal", "net": "netSalesTotal", "tax": "taxTotal",
    "tips": "tipsTotal", "cash in the drawer": "cashExpected", "fees": "feesTotal",
    "disputes": "disputesTotal", "expenses": "expensesTotal", "by cash": "cash",
    "by transfer": "transfer", "by pos": "pos", "by provider": "cloove_pay",
}  # fmt: skip


async def _sell(books: Books, shop: Shop) -> None:
    """A dinner by two tenders with tips and change, a lunch given back in part, one in full."""
    rice = await shop.product(20, tax_rate=7.5)
    dinner = await shop.sell(line(rice, 2), service_charge_amount=4, amount_paid=0)
    path = f"{ORDERS}/{dinner['id']}/payments"
    await shop.api.post(path, {"amount": 20, "method": "pos", "tip": 3}, status=201)
    await shop.api.post(path, {"amount": 50, "method": "cash", "tip": 2}, status=201)
    lunch = await shop.sell(line(rice), discount_amount=5, amount_paid=16.13)
    whole = await books.sell(60, payment_method="transfer")
    for order, amount, method in ((lunch, 6.13, "cash"), (whole, 60, "transfer")):
        body: Body = {"amount": amount, "method": method}
        await shop.api.post(f"{ORDERS}/{order['id']}/refunds", body, status=201)
    await books.spend(8)


async def _collect(services: Services, shop: Shop) -> None:
    """Two orders by the provider, one of them disputed; then money of the wallet to the bank."""
    till = Depositing(shop.business, shop.api, shop.sql, shop.book)
    till.services = services
    kept, lost = await till.deposit(80), await till.deposit(45.5)
    for order in (kept, lost):
        assert (await till.paid(order))["paymentStatus"] == "paid"
    await till.paid(lost, "dispute_lost")
    treasury = await Treasury.open(services, shop.business, shop.sql)
    asked = await treasury.withdraw(5)
    await treasury.work()
    assert await treasury.status(asked["id"]) == "completed"


async def _lodge(shop: Shop) -> None:
    """A guest's order on the room, paid at the desk by card, with 20 too much."""
    lodge = await Lodge.begin(shop.business, shop.sql, rooms=1)
    today = (await (await shop.business.client("finance:read")).get("/v1/finance/summary")).data
    stay = await lodge.arrive(check_in_date=today["date"])
    await lodge.charge(stay, 30)
    await lodge.pay(stay, 50, "pos")


async def _entries(books: Books) -> list[Body]:
    """Every entry of the books, from all pages."""
    found: list[Body] = []
    cursor: Body = {}
    while True:
        page = await books.look("/v1/ledger/entries", {**cursor, "limit": 100})
        found += exact(page)
        if not page.json["meta"]["hasMore"]:
            return found
        cursor = {"cursor": page.json["meta"]["nextCursor"]}


_COSTS = ("expenses", "fees", "disputes", "withdrawals_in_transit")
_TENDERS = {"by cash": "cash", "by transfer": "bank", "by pos": "pos",
            "by provider": "provider_clearing"}  # fmt: skip


def _of_entries(entries: list[Body]) -> dict[str, Decimal]:
    """The same figures from debits and credits of accounts."""
    held: defaultdict[str, Decimal] = defaultdict(Decimal)
    received: defaultdict[str, Decimal] = defaultdict(Decimal)
    for one in entries:
        sides = (one["debit"]["account"], one["credit"]["account"])
        for own, other, amount in (
            (*sides, one["amount"]), (sides[1], sides[0], -one["amount"]),
        ):  # fmt: skip
            held[own] += amount
            if other not in _COSTS:
                received[own] += amount
    return {
        "gross": -held["sales"], "refunds": held["refunds"],
        "net": -held["sales"] - held["refunds"], "tips": -held["tips"],
        "cash in the drawer": held["cash"], "fees": held["fees"], "disputes": held["disputes"],
        "expenses": held["expenses"],
        **{name: received[account] for name, account in _TENDERS.items()},
    }  # fmt: skip


def _of_transactions(listed: list[Body]) -> dict[str, Decimal]:
    """Those that transactions tell by their types."""
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for one in listed:
        signed = one["amount"] if one["direction"] == "in" else -one["amount"]
        sums[one["type"]] += signed
        if one["type"] not in ("expense", "fee", "reversal", "wallet_withdrawal"):
            sums[one["method"]] += signed - one["changeAmount"]
    return {
        "refunds": -sums["refund"], "tips": sums["tip"], "fees": -sums["fee"],
        "disputes": -sums["reversal"], "expenses": -sums["expense"], "by cash": sums["cash"],
        "by transfer": sums["transfer"], "by pos": sums["pos"], "by provider": sums["cloove_pay"],
        "cash in the drawer": sums["cash"] + sums["expense"],
    }  # fmt: skip


async def _of_orders(shop: Shop) -> dict[str, Decimal]:
    """Those that the list of orders tells."""
    answer = await shop.api.get(f"{ORDERS}?limit=100", status=200)
    seen: Any = answer.json["summary"]
    taxes = sum((one["taxAmount"] for one in exact(answer)), _ZERO)
    told = {"gross": "totalRevenue", "refunds": "refundedAmount", "net": "netRevenue"}
    return {name: Decimal(str(seen[field])) for name, field in told.items()} | {"tax": taxes}


async def test_an_evening_from_answers_alone(
    open_books: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """Sales, a guest, a provider, a dispute, a payout: each figure the same everywhere."""
    books = await open_books(time_zone=at_noon(), currency="NGN")
    shop = books.shop
    await _sell(books, shop)
    await _collect(services, shop)
    await _lodge(shop)
    answer = exact(await books.look("/v1/finance/summary", {}))
    told = answer | {one["method"]: one["amount"] for one in answer["receivedByMethod"]}
    summary = {name: Decimal(told[field]) for name, field in _ROWS.items()}
    listed = exact(await books.page(limit=100))
    others = _of_entries(await _entries(books)), await _of_orders(shop), _of_transactions(listed)
    print(f"\n{'':20}{'summary':>10}{'entries':>10}{'orders':>10}{'transactions':>14}")  # noqa: T201
    for name, amount in summary.items():
        cells = [f"{one[name]:.2f}" if name in one else "" for one in others]
        print(f"{name:20}{amount:>10.2f}{cells[0]:>10}{cells[1]:>10}{cells[2]:>14}")  # noqa: T201
    for one in others:
        assert one == {name: summary[name] for name in one}
    accounts = exact(await books.look("/v1/ledger/accounts", {}))
    assert [one["difference"] for one in accounts["totals"]] == [0]
    assert answer["walletBalance"] == -sum(
        (one["balance"] for one in accounts["accounts"] if one["account"] == "wallet"), _ZERO
    )
