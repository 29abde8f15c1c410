"""Sales as the ledger sees them: rows of orders, and the postings of each of their changes."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, LiteralString
from uuid import UUID

import asyncpg
import msgspec

from tests.api import Api
from tests.make import Business
from tillhouse.access.process import Services
from tillhouse.customers.rules import Contact
from tillhouse.customers.store import insert_customer
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id, short_code
from tillhouse.ledger.rules import Ledger, Source
from tillhouse.ledger.store.posting import record_postings, rows
from tillhouse.orders.payments.rules import held_by_method
from tillhouse.orders.posting.rules import (
    TENDERS,
    LedgerPosition,
    Method,
    MoneyMove,
    Status,
    divided,
    move_between,
    postings,
)


class Order(msgspec.Struct):
    """An order of a test, and where it stands."""

    id: UUID
    code: str
    position: LedgerPosition
    held: dict[Method, Decimal] = {}


def position(
    total: int | str,
    paid: int | str = 0,
    customer: UUID | None = None,
    *,
    method: Method = "cash",
    status: Status = "pending",
) -> LedgerPosition:
    """An order as the ledger sees it, in few words."""
    return LedgerPosition(
        total=Decimal(total),
        paid=Decimal(paid),
        method=method,
        customer_id=customer,
        status=status,
    )


class Shop:
    """A book of a business, and the rows that its orders need."""

    def __init__(
        self, business: Business, services: Services, sql: asyncpg.Connection | Db, book: UUID
    ) -> None:
        self.business = business
        self.services = services
        self.sql = sql
        self.book = book
        self.currency = "NGN"
        self.moment = now()

    @classmethod
    async def of(
        cls,
        business: Business,
        services: Services,
        sql: asyncpg.Connection | Db,
        environment: str = "test",
    ) -> "Shop":
        """One of the two books of a business."""
        book = await sql.fetchval(
            "SELECT id FROM books WHERE business_id = $1 AND environment = $2",
            UUID(business.id),
            environment,
        )
        assert book is not None
        return cls(business, services, sql, book)

    async def reader(self) -> Api:
        """A client that may read the transactions and debts."""
        return await self.business.client("finance:read")

    async def customer(self, name: str = "Bola") -> UUID:
        """A customer of the book."""
        customer_id = new_id()
        async with self.services.pool.transaction() as db:
            await insert_customer(db, self.book, customer_id, Contact(name=name), now())
        return customer_id

    async def sell(self, first: LedgerPosition, happened_at: datetime | None = None) -> Order:
        """A new order, posted in one transaction with its row."""
        order = Order(new_id(), short_code(), divided(None, first))
        async with self.services.pool.transaction() as db:
            await self._insert(db, order)
            await self._post(db, order, None, order.position, happened_at or now())
        return order

    async def change(self, order: Order, **what: Any) -> None:
        """The order as it is to be from now on."""
        after = divided(order.position, msgspec.structs.replace(order.position, **what))
        async with self.services.pool.transaction() as db:
            await self._update(db, order.id, after)
            await self._post(db, order, order.position, after, now())
        order.position = after

    async def _insert(self, db: Db, order: Order) -> None:
        first = order.position
        await db.execute(
            """
            INSERT INTO orders (book_id, id, short_code, status, summary, currency,
                subtotal_amount, discount_amount, service_charge_amount, tax_amount,
                exclusive_tax_amount, total_amount, amount_paid, payment_method, customer_id,
                channel, recorded_by_id, recorded_by_name, entry_source, occurred_at,
                created_at, updated_at, change_amount, credit_amount)
            VALUES ($1, $2, $3, $4, '1 × Rice', $5, $6, 0, 0, 0, 0, $6, $7, $8, $9, 'other',
                $10, 'Ada Owner', 'api', $11, $11, $11, $12, $13)
            """,
            self.book,
            order.id,
            order.code,
            first.status,
            self.currency,
            first.total,
            first.paid,
            first.method,
            first.customer_id,
            UUID(self.business.user_id),
            now(),
            first.change,
            first.credit,
        )

    async def _update(self, db: Db, order_id: UUID, after: LedgerPosition) -> None:
        is_deleted = after.status == "deleted"
        await db.execute(
            """
            UPDATE orders SET status = coalesce($3, status), total_amount = $4, amount_paid = $5,
                subtotal_amount = $4, payment_method = $6, customer_id = $7, deleted_at = $8,
                change_amount = $9, credit_amount = $10
            WHERE book_id = $1 AND id = $2
            """,
            self.book,
            order_id,
            None if is_deleted else after.status,
            after.total,
            after.paid,
            after.method,
            after.customer_id,
            now() if is_deleted else None,
            after.change,
            after.credit,
        )

    async def _post(
        self,
        db: Db,
        order: Order,
        before: LedgerPosition | None,
        after: LedgerPosition,
        happened_at: datetime,
    ) -> None:
        made = postings(before, after)
        first = await db.fetchval(
            """
            UPDATE orders SET postings = postings + $3
            WHERE book_id = $1 AND id = $2 RETURNING postings - $3
            """,
            self.book,
            order.id,
            made.used,
        )
        source = Source(
            type="order",
            id=order.id,
            customer_id=after.customer_id,
            store_id=None,
            happened_at=happened_at,
        )
        ledger = Ledger(self.book, self.currency, now())
        written = rows(order.id, made, first)
        await record_postings(db, ledger, [source], written)
        move = move_between(before, after)
        order.held = held_by_method(order.held, (before, after), move)
        held = [order.held.get(method) for method in TENDERS]
        await db.execute(_HELD, self.book, order.id, *held)
        paid = after.paid - (before.paid if before else 0)
        if paid:
            transaction_id = written.movement[0].id
            await self._record(db, order, paid, move, transaction_id)

    async def _record(
        self, db: Db, order: Order, paid: Decimal, move: MoneyMove, transaction_id: UUID
    ) -> None:
        """The payment or refund that a posting is of."""
        if move.is_refund:
            await db.execute(_REFUNDED, self.book, new_id(), order.id, move.method, -paid,
                transaction_id, UUID(self.business.user_id), now())  # fmt: skip
            return
        kind = "correction" if paid < 0 else "payment"
        await db.execute(_PAID, self.book, new_id(), order.id, kind, move.method, paid,
            transaction_id, UUID(self.business.user_id), now())  # fmt: skip

    async def accounts(self) -> dict[tuple[str, UUID], Decimal]:
        """Debits less credits of each account that isn't even, from the transfers alone."""
        found = await self.sql.fetch(
            """
            SELECT kind, owner, sum(amount) AS amount FROM (
                SELECT debit_kind AS kind, debit_owner AS owner, amount
                FROM ledger_transfers WHERE book_id = $1
                UNION ALL
                SELECT credit_kind, credit_owner, -amount
                FROM ledger_transfers WHERE book_id = $1
            ) AS sides GROUP BY 1, 2 HAVING sum(amount) <> 0
            """,
            self.book,
        )
        return {(row["kind"], row["owner"]): row["amount"] for row in found}

    async def balance(self, customer: UUID) -> tuple[Decimal, Decimal] | None:
        """The kept debits and credits of a customer's credit."""
        row = await self.sql.fetchrow(
            """
            SELECT debits, credits FROM ledger_balances
            WHERE book_id = $1 AND kind = 'customer_credit' AND owner_id = $2
            """,
            self.book,
            customer,
        )
        return (row["debits"], row["credits"]) if row else None

    async def rows_of(self, order: Order) -> dict[str, Sequence[asyncpg.Record]]:
        """The ledger rows of an order: transfers, transactions and debts."""
        found: dict[str, Sequence[asyncpg.Record]] = {}
        found["transfers"] = await self.sql.fetch(
            "SELECT * FROM ledger_transfers WHERE book_id = $1 AND source_id = $2 ORDER BY id",
            self.book,
            order.id,
        )
        for table, statement in _BY_ORDER.items():
            found[table] = await self.sql.fetch(statement, self.book, order.id)
        return found


_HELD: LiteralString = """
    UPDATE orders SET paid_by_cash = $3, paid_by_transfer = $4, paid_by_pos = $5,
        paid_by_cloove_pay = $6, paid_by_credit = $7, paid_by_other = $8
    WHERE book_id = $1 AND id = $2
"""
_PAID = """
    INSERT INTO payments (book_id, id, order_id, kind, method, amount, transaction_id,
        recorded_by_id, recorded_by_name, happened_at, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'Ada Owner', $9, $9)
"""
_REFUNDED = """
    INSERT INTO refunds (book_id, id, order_id, method, amount, transaction_id,
        recorded_by_id, recorded_by_name, happened_at, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'Ada Owner', $8, $8)
"""
_BY_ORDER: dict[str, LiteralString] = {
    "transactions": "SELECT * FROM transactions WHERE book_id = $1 AND source_id = $2 ORDER BY id",
    "debts": "SELECT * FROM debts WHERE book_id = $1 AND source_id = $2 ORDER BY id",
}
