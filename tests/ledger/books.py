"""A second source beside orders: top-ups and spendings that this test keeps no table of."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg

from tests.make import Business
from tillhouse.access.process import Services
from tillhouse.customers.rules import Contact
from tillhouse.customers.store import insert_customer
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import new_id
from tillhouse.ledger import posting
from tillhouse.ledger.posting import WantedHold
from tillhouse.ledger.proof import prove
from tillhouse.ledger.rules import Account, Ledger, Movement, Postings, Source, Transfer
from tillhouse.ledger.store.holds import Balance, show_balance
from tillhouse.room import SourceType

WALLET = Account("wallet")
CASH, EXPENSES = Account("cash"), Account("expenses")
TRANSIT = Account("withdrawals_in_transit")


class Books:
    """A book with a wallet, and the sources that were posted for."""

    def __init__(self, services: Services, sql: asyncpg.Connection, book: UUID) -> None:
        self.services = services
        self.sql = sql
        self.book = book
        self.moment = now()
        self.sources: set[UUID] = set()
        self.type = SourceType("top_up", self._find_there, self._prove)

    @classmethod
    async def of(cls, business: Business, services: Services, sql: asyncpg.Connection) -> "Books":
        """The test book of a business."""
        book = await sql.fetchval(
            "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'",
            UUID(business.id),
        )
        return cls(services, sql, book)

    @property
    def ledger(self) -> Ledger:
        """The ledger at the moment of this test."""
        return Ledger(self.book, "NGN", self.moment)

    def later(self, seconds: float) -> None:
        """Let time go by."""
        self.moment += timedelta(seconds=seconds)

    def source(self) -> Source:
        """A new source."""
        source = Source(type=self.type.name, id=new_id(), happened_at=self.moment)
        self.sources.add(source.id)
        return source

    async def customer(self) -> UUID:
        """A customer of the book."""
        customer_id = new_id()
        async with self.services.pool.transaction() as db:
            await insert_customer(db, self.book, customer_id, Contact(name="Bola"), now())
        return customer_id

    async def post(self, debit: Account, credit: Account, amount: int | Decimal) -> UUID:
        """One transfer for a new source, with its transaction."""
        postings = Postings(
            (Transfer(debit, credit, Decimal(amount), "expense"),),
            (Movement("expense", "wallet", Decimal(amount), "processing"),),
        )
        posted = await self.run(posting.post, self.source(), postings)
        return posted.transfers[0]

    async def top_up(self, amount: int | Decimal, account: Account = WALLET) -> UUID:
        """Put money into a bounded account."""
        return await self.post(CASH, account, amount)

    async def hold(
        self, amount: int | Decimal, *, lasts: float | None = None, account: Account = WALLET
    ) -> UUID:
        """Hold an amount for a new source, for so many seconds or for good."""
        expires_at = None if lasts is None else self.moment + timedelta(seconds=lasts)
        wanted = WantedHold(account, Decimal(amount), "withdrawal", expires_at)
        return await self.run(posting.hold, self.source(), wanted)

    async def settle(self, hold_id: UUID, amount: int | Decimal | None = None) -> UUID:
        """Post a hold, or a part of it."""
        part = None if amount is None else Decimal(amount)
        return await self.run(posting.settle, hold_id, TRANSIT, part, kind="withdrawal")

    async def release(self, hold_id: UUID) -> None:
        """Make a held amount available again."""
        await self.run(posting.release, hold_id)

    async def reverse(self, transfer_id: UUID) -> UUID:
        """Post the opposite of a transfer, for a new source."""
        return await self.run(posting.reverse, self.source(), transfer_id)

    async def run(self, do: Any, *args: Any, **named: Any) -> Any:
        """One function of the ledger, in a transaction of its own."""
        async with self.services.pool.transaction() as db:
            return await do(db, self.ledger, *args, **named)

    async def balance(self, account: Account = WALLET) -> Balance:
        """The present balance of a bounded account."""
        async with self.services.pool.reading() as db:
            return await show_balance(db, self.book, account, self.moment)

    async def held(self, account: Account) -> Decimal:
        """Credits less debits of an account, by its transfers alone."""
        return await self.sql.fetchval(
            """
            SELECT coalesce(sum(CASE WHEN credit_kind = $2 THEN amount ELSE -amount END), 0)
            FROM ledger_transfers
            WHERE book_id = $1 AND $2 IN (debit_kind, credit_kind)
            """,
            self.book,
            account.kind,
        )

    async def faults(self, batch: int = 500) -> list[Fault]:
        """The faults that the proof finds."""
        async with self.services.pool.reading() as db:
            return [fault async for fault in prove(db, self.book, [self.type], batch)]

    async def _find_there(self, db: Db, book_id: UUID, ids: Sequence[UUID]) -> set[UUID]:
        return self.sources & set(ids)

    async def _prove(self, db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
        """A source of this test has no row that could disagree."""
        for fault in ():
            yield fault
