"""Everything that can be seen of a book, held against the model to the minor unit."""

import json
from collections import Counter
from decimal import Decimal
from typing import Any
from uuid import UUID

from tests.api import Response
from tests.finance.method_oracle import by_method
from tests.money.book_model import Book
from tests.money.desk import Desk
from tests.money.provider_side import minor
from tests.orders.shop import ORDERS
from tillhouse.access.store.audit import find_broken_links
from tillhouse.app import PRODUCT
from tillhouse.kit.ids import BusinessId
from tillhouse.ledger.proof import prove
from tillhouse.payouts.withdrawals.proof import DUE

# Transactions of orders; their sums by method are what went in and out of each tender.
OF_ORDERS = "sale,debt_payment,refund,adjustment,tip"


class Auditor:
    """Looks at a book through its routes and its rows."""

    def __init__(self, desk: Desk, book: Book) -> None:
        self._desk = desk
        self._book = book

    async def check(self) -> None:
        """All that a client can see, and all that is told."""
        await self._orders()
        await self._links()
        await self._customers()
        await self._wallet()
        await self._summary()
        await self.glance()

    async def glance(self) -> None:
        """Every account, the transactions beside it, and all that is told: three statements."""
        await self._accounts()
        await self._by_method()
        await self._events()

    async def prove(self) -> None:
        """The sums by method, and the proof of `tillhouse verify`."""
        await self._methods()
        services = self._desk.app.services
        async with services.pool.reading() as db:
            found = prove(db, self._desk.book, PRODUCT.sources)
            faults = [fault async for fault in found if fault.subject != DUE or not self._book.due]
            business = BusinessId(UUID(self._desk.business.id))
            broken = await find_broken_links(db, business, 10)
        assert not faults, faults
        assert not broken, broken

    async def _get(self, path: str) -> Response:
        return await self._desk.get(path)

    async def _orders(self) -> None:
        shown = {one["id"]: one for one in exact(await self._get(f"{ORDERS}?limit=100"))}
        there = {n: one for n, one in self._book.orders.items() if not one.is_deleted}
        assert shown.keys() == there.keys(), (shown.keys(), there.keys())
        for number, order in there.items():
            seen = shown[number]
            names = (
                "totalAmount", "amountPaid", "changeAmount", "refundedAmount", "tipAmount",
                "remainingAmount",
            )  # fmt: skip
            wanted = (
                order.total, order.paid, order.change, order.refunded, order.tips, order.remaining
            )  # fmt: skip
            told = tuple(minor(seen[name]) for name in names)
            assert told == wanted, (told, wanted, order)
            state = seen["status"], seen["isAutomated"]
            assert state == (order.status, order.is_automated), (state, order)
            paid = sum(minor(one["amount"]) for one in seen["payments"])
            back = sum(self._given_back(one) for one in seen["refunds"])
            assert paid - back == order.paid, seen

    def _given_back(self, refund: Any) -> int:
        """The part of a refund that its order gave; of one through the provider as modelled."""
        one = self._book.returns.get(refund["id"])
        if one is None:
            return minor(refund["amount"])
        assert (refund["status"], minor(refund["amount"])) == (one.status, one.amount), refund
        return one.amount - one.shortfall if one.status == "successful" else 0

    async def _links(self) -> None:
        shown = {one["id"]: one for one in exact(await self._get("/v1/payment-links?limit=100"))}
        assert shown.keys() == self._book.links.keys(), (shown.keys(), self._book.links.keys())
        for number, link in self._book.links.items():
            seen = shown[number]
            asked = link.amount - link.received
            owed = max(asked, 0) if link.order is None else self._book.orders[link.order].owed
            wanted = (link.shown, link.received, link.payments)
            told = seen["status"], minor(seen["amountReceived"]), seen["paymentsCount"]
            assert told == wanted, (told, wanted, link)
            if link.shown == "active":
                assert minor(seen["amountOutstanding"]) == owed, (link, seen)

    async def _customers(self) -> None:
        for number, customer_id in enumerate(self._desk.customers):
            path = f"/v1/customers/{customer_id}/credit"
            seen = exact(await self._get(path))
            told = minor(seen["creditBalance"]), minor(seen["available"])
            wanted = self._book.credit(number), self._book.free_credit(number)
            assert told == wanted, (told, wanted)
        shown = exact(await self._get("/v1/debts?status=active&limit=100"))
        debts = sorted((one["orderId"], minor(one["balance"])) for one in shown)
        owing = sorted((n, one.debt) for n, one in self._book.orders.items() if one.debt)
        assert debts == owing, (debts, owing)

    async def _wallet(self) -> None:
        seen = exact(await self._get("/v1/wallet"))
        book = self._book
        told, wanted = (
            (minor(seen["balance"]), minor(seen["available"])),
            (book.wallet, book.available),
        )
        assert told == wanted, (told, wanted)
        frozen = exact(await self._get("/v1/wallet/payouts"))["frozen"]
        assert frozen == book.is_frozen, (frozen, book.failures)

    async def _summary(self) -> None:
        seen, book = exact(await self._get("/v1/finance/summary")), self._book
        sold = [one for one in book.orders.values() if not one.has_ended]
        pending = [one for one in sold if one.status == "pending"]
        debts = sum(one.debt for one in book.orders.values())
        waiting = [
            one for one in book.withdrawals.values()
            # The transaction of a refund is there once it is paid out.
            if one.status in ("requested", "processing") and not one.is_refund
        ]  # fmt: skip
        wanted = {
            "salesTotal": sum(one.total for one in sold),
            "refundsTotal": sum(one.refunded for one in sold),
            "netSalesTotal": sum(one.total - one.refunded for one in sold),
            "tipsTotal": sum(one.tips for one in book.orders.values()),
            "cashExpected": book.accounts().get("cash", 0),
            "expensesTotal": sum(amount for amount, _, stands in book.expenses.values() if stands),
            "walletBalance": book.available,
            "pendingOrdersTotal": sum(one.remaining for one in pending),
            "pendingDebtTotal": debts,
            "creditsTotal": sum(book.credit(n) for n in range(len(self._desk.customers))),
        }
        told = {name: minor(seen[name]) for name in wanted}
        assert told == wanted, (told, wanted)
        assert sum(minor(one["value"]) for one in seen["velocityData"]) == wanted["salesTotal"]
        counts = seen["pendingOrdersCount"], seen["pendingTransactionsCount"]
        assert counts == (len(pending), len(waiting)), (counts, pending, waiting)

    async def _accounts(self) -> None:
        rows = await self._desk.sql.fetch(_ACCOUNTS, self._desk.book)
        seen = {row["kind"]: minor(row["held"]) for row in rows}
        wanted = self._book.accounts()
        assert seen == wanted, {
            kind: (seen.get(kind), wanted.get(kind))
            for kind in {*seen, *wanted} if seen.get(kind) != wanted.get(kind)
        }  # fmt: skip

    async def _methods(self) -> None:
        sums: Counter[str] = Counter()
        page, has_more = 1, True
        while has_more:
            path = f"/v1/finance/transactions?type={OF_ORDERS}&limit=100&page={page}"
            answer = await self._get(path)
            for one in exact(answer):
                # A refund that did not last has no other transaction.
                sign = 1 if one["direction"] == "in" else -1
                sums[one["method"]] += sign * minor(one["amount"]) * (one["status"] != "reversed")
            has_more, page = answer.json["meta"]["hasMore"], page + 1
        told = {method: held for method, held in sums.items() if held}
        assert told == self._book.flows(), (told, self._book.flows())

    async def _by_method(self) -> None:
        told, held = await by_method(self._desk.sql, self._desk.book)
        assert told == held, (told, held)

    async def _events(self) -> None:
        rows = await self._desk.sql.fetch(_EVENTS, self._desk.book)
        seen: Counter[tuple[str, str]] = Counter()
        for row in rows:
            is_new = row["type"] == "wallet.deposit"
            seen[row["type"], "" if is_new else row["subject"]] += row["count"]
        wanted = +self._book.events
        assert seen == wanted, (seen - wanted, wanted - seen)


def exact(answer: Response) -> Any:
    """The answer's data with its numbers as they stand in the text."""
    return json.loads(answer.body, parse_float=Decimal, parse_int=Decimal)["data"]


_ACCOUNTS = """
    SELECT s.kind, sum(s.amount) AS held FROM (
        SELECT debit_kind AS kind, amount FROM ledger_transfers
        WHERE book_id = $1 AND currency = 'NGN'
        UNION ALL
        SELECT credit_kind, -amount FROM ledger_transfers WHERE book_id = $1 AND currency = 'NGN'
    ) s GROUP BY s.kind HAVING sum(s.amount) <> 0
"""
_EVENTS = """
    SELECT type, payload::jsonb -> 'data' ->> 'entityId' AS subject, count(*) FROM webhook_events
    WHERE book_id = $1 AND type !~ '^(customer|contact)[.]' GROUP BY 1, 2
"""
