"""Chance steps in a shop with a hotel: sales, stays, money in and out, of any day."""

import random
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.api import Response
from tests.finance.books import EXPENSES, Body, Books
from tests.folios.lodge import STAYS, Lodge
from tests.orders.deposits.depositing import Depositing
from tests.orders.shop import ORDERS, fee, line
from tests.payouts.treasury import Treasury
from tillhouse.access.process import Services
from tillhouse.jobs.chores import fold
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, new_id
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Account, Ledger, Movement, Postings, Source, Transfer
from tillhouse.ledger.store.sums import ACCOUNT_TALLIES, TRANSACTION_TALLIES
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES
from tillhouse.payins.sandbox.simulating import Simulated


async def fold_all(services: Services) -> None:
    """Let every change become part of the sums."""
    await fold(services.pool, ORDER_TALLIES)
    await fold(services.pool, TRANSACTION_TALLIES)
    await fold(services.pool, ACCOUNT_TALLIES)


async def charge_by_provider(
    services: Services, books: Books, at: datetime, amounts: tuple[int, int]
) -> None:
    """A provider's fee, and what a dispute takes (or, below zero, gives back)."""
    book = BookId(books.shop.book)
    ledger = Ledger(book, "NGN", now())
    fee_amount, taken = map(Decimal, amounts)
    clearing, fees = Account("provider_clearing"), Account("fees")
    async with services.pool.transaction() as db:
        source = Source(type="payin", id=new_id(), happened_at=at)
        posted = Transfer(fees, clearing, fee_amount, "provider_fee")
        await post(db, ledger, source, Postings(
            (posted,), (Movement("fee", "cloove_pay", fee_amount),)
        ))  # fmt: skip
        source = Source(type="dispute", id=new_id(), happened_at=at)
        lost = Account("disputes")
        ends = (lost, clearing) if taken > 0 else (clearing, lost)
        posted = Transfer(*ends, abs(taken), "dispute" if taken > 0 else "dispute_returned")
        await post(db, ledger, source, Postings(
            (posted,), (Movement("reversal", "cloove_pay", -taken),)
        ))  # fmt: skip


KINDS: tuple[Simulated, ...] = (
    "exact", "exact", "over", "under", "disputed", "dispute_won", "dispute_lost", "reversed",
)  # fmt: skip
"""Payments, and more, of an account that was opened at a provider."""


class Walker:
    """Takes chance steps in a shop; what is refused changes nothing."""

    def __init__(self, books: Books, services: Services, seed: int) -> None:
        self.books = books
        self.services = services
        self.chance = random.Random(seed)  # noqa: S311 - any walk will do, but always the same
        self.orders: list[Body] = []
        self.things: list[Body] = []
        self.stores: list[str | None] = [None]
        self.stays: list[Body] = []
        self.deposits: list[Body] = []

    async def prepare(self) -> None:
        """A shop with a store, a taxed product, a customer, a hotel, a provider and a wallet."""
        shop = self.books.shop
        self.lodge = await Lodge.begin(shop.business, shop.sql, rooms=4)
        self.till = Depositing(shop.business, shop.api, shop.sql, shop.book)
        self.till.services = self.services
        self.treasury = await Treasury.open(self.services, shop.business, shop.sql)
        self.stores.append((await shop.store(name="Yaba"))["id"])
        self.things = [await shop.product(10.35, tax_rate=7.5), await shop.product(4.2)]
        self.ada = await shop.customer("Ada")

    def moment(self) -> str:
        """Some time within the last four days."""
        ago = timedelta(minutes=self.chance.randrange(4 * 1440))
        return (now() - ago).isoformat(timespec="milliseconds")

    async def step(self) -> None:
        """One request."""
        steps = (self.sell, self.sell, self.pay, self.pay, self.refund, self.change, self.end,
                 self.spend, self.charge, self.arrive, self.use_stay, self.use_stay,
                 self.collect, self.collect, self.hand_back, self.confirm,
                 self.withdraw)  # fmt: skip
        await self.chance.choice(steps)()

    async def sell(self) -> None:
        """A sale of now or of another day, paid or not."""
        fields: Body = {
            "payment_method": self.chance.choice(["cash", "cash", "pos", "transfer"]),
            "amount_paid": self.chance.choice([0, 5, 20, 50]),
            "store_id": self.chance.choice(self.stores),
            "service_charge_amount": self.chance.choice([0, 1.5]),
            "discount_amount": self.chance.choice([0, 2]),
        }
        if self.chance.random() < 0.5:
            fields["occurred_at"] = self.moment()
        elif self.chance.random() < 0.2:
            fields["scheduled_for"] = "2100-01-01T00:00:00Z"
        if self.chance.random() < 0.5:
            fields["customer_id"] = self.ada["id"]
        basket = [line(one, self.chance.randint(1, 3)) for one in self.things]
        answer = await self.books.shop.ask(*basket, **fields)
        assert answer.status < 500, answer
        if answer.status == 201:
            self.orders.append(answer.data)

    async def _on_order(self, verb: str, body: Body) -> None:
        if self.orders:
            path = f"{ORDERS}/{self.chance.choice(self.orders)['id']}{verb}"
            send = self.books.shop.api.post if verb else self.books.shop.api.patch
            answer = await send(path, body)
            assert answer.status < 500, answer

    async def pay(self) -> None:
        """A payment, often too much, often of another day."""
        body: Body = {
            "amount": self.chance.choice([3, 12.5, 40]),
            "method": self.chance.choice(["cash", "pos", "other"]),
            "tip": self.chance.choice([None, 1.25]),
        }
        if self.chance.random() < 0.4:
            body["at"] = self.moment()
        await self._on_order("/payments", body)

    async def refund(self) -> None:
        """A refund by any method."""
        method = self.chance.choice(["cash", "pos"])
        await self._on_order(
            "/refunds", {"amount": self.chance.choice([1, 4.5, 20]), "method": method}
        )

    async def change(self) -> None:
        """Another total, another amount paid."""
        name = self.chance.choice(["total_amount", "amount_paid"])
        await self._on_order("", {name: self.chance.choice([4, 18, 33.33])})

    async def end(self) -> None:
        """Cancelled, put off, sold again, or deleted."""
        if self.orders and self.chance.random() < 0.3:
            path = f"{ORDERS}/{self.chance.choice(self.orders)['id']}"
            await self.books.shop.api.delete(path)
        state = self.chance.choice(["cancelled", "pending", "completed"])
        await self._on_order("", {"status": state})

    async def spend(self) -> None:
        """An expense of another day, sometimes taken back."""
        spent = await self.books.api.post(EXPENSES, {
            "amount": self.chance.choice([2, 7.75]), "occurred_at": self.moment(),
            "store_id": self.chance.choice(self.stores),
        })  # fmt: skip
        assert spent.status < 500, spent
        if spent.status == 201 and self.chance.random() < 0.4:
            await self.books.api.delete(f"{EXPENSES}/{spent.data['id']}", status=200)

    async def charge(self) -> None:
        """A provider's fee and dispute of another day; a dispute may be won back."""
        at = datetime.fromisoformat(self.moment())
        await charge_by_provider(self.services, self.books, at, (2, self.chance.choice([-9, 9])))

    async def arrive(self) -> None:
        """A guest, who came some days ago, as long as there is a room."""
        today = date.fromisoformat((await self.books.summary())["date"])
        ends = today + timedelta(days=self.chance.randint(1, 3))
        days = {"check_in_date": today.isoformat(), "check_out_date": ends.isoformat()}
        booking = {**self.lodge.stay(), **days, "check_in": True}
        answer = await self.lodge.api.post(STAYS, booking)
        assert answer.status < 500, answer
        if answer.status == 201:
            await self.lodge.shift(answer.data, self.chance.randint(0, 3))
            self.stays.append(answer.data)

    async def use_stay(self) -> None:
        """An order on a stay, its payment, money handed back, or the end of it."""
        if not self.stays:
            return
        stay = self.chance.choice(self.stays)
        amount = self.chance.choice([15, 60, 130])
        method = self.chance.choice(["cash", "pos", "transfer"])
        answer = await self.chance.choice((
            self._order_of_stay(stay, amount),
            self._of_stay(stay, "payments", amount=amount, method=method),
            self._of_stay(stay, "payments", amount=amount, method=method),
            self._of_stay(stay, "refunds", amount=amount, method=method),
            self._of_stay(stay, "check-out", leave_as_debt=True),
        ))()  # fmt: skip
        assert answer.status < 500, answer

    def _of_stay(self, stay: Body, verb: str, **body: Any) -> Callable[[], Awaitable[Response]]:
        return lambda: self.lodge.act(stay, verb, **body)

    def _order_of_stay(self, stay: Body, price: float) -> Callable[[], Awaitable[Response]]:
        body: Body = {"items": [fee(price)], "hotel_reservation_id": stay["id"]}
        if self.chance.random() < 0.3:
            body["occurred_at"] = self.moment()
        return lambda: self.lodge.api.post(ORDERS, body)

    async def collect(self) -> None:
        """Money by a provider: paid, too much, disputed or taken back, told of late or at once."""
        if not self.deposits or self.chance.random() < 0.5:
            self.deposits.append(await self.till.deposit(self.chance.choice([20, 45.5])))
        order = self.chance.choice(self.deposits)
        kind = self.chance.choice(KINDS)
        await self.till.arrive(order, kind)
        if self.chance.random() < 0.5:
            moved = "UPDATE sandbox_payments SET paid_at = $2::text::timestamptz WHERE book_id = $1"
            await self.books.shop.sql.execute(moved, self.books.shop.book, self.moment())
        await self.till.work()

    async def hand_back(self) -> None:
        """Money by a provider that is handed back in cash; the provider may take it, too."""
        if not self.deposits:
            return
        order = self.chance.choice(self.deposits)
        answer = await self.till.post_refund(
            order, {"amount": self.chance.choice([5, 20]), "method": "cash"}
        )
        assert answer.status < 500, answer
        if self.chance.random() < 0.7:
            await self.till.arrive(order, "reversed")
            await self.till.work()

    async def confirm(self) -> None:
        """An order that was put off is put off again, or becomes a sale."""
        if self.chance.random() < 0.5:
            await self._on_order(
                "", {"status": "scheduled", "scheduled_for": "2100-01-01T00:00:00Z"}
            )
        else:
            await self._on_order("/confirm", {})

    async def withdraw(self) -> None:
        """Money of the wallet to the bank."""
        await self.treasury.fill(10)
        answer = await self.treasury.ask(self.chance.choice([5, 12]), status=None)
        assert answer.status < 500, answer
        await self.treasury.work()
