"""An order as the kitchen needs it: rows written by hand, so that no other room is tested here."""

import json
from typing import Any
from uuid import UUID

from tests.make import Business
from tillhouse.access.call import Call
from tillhouse.access.callers import Book, KeyCaller
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id, short_code
from tillhouse.kit.secrets import Environment
from tillhouse.kitchen import actions
from tillhouse.kitchen.types import SaleFacts, Ticket

PHONE = "+2348030000001"

_ORDER = """
    INSERT INTO orders (book_id, id, short_code, status, summary, currency, subtotal_amount,
        discount_amount, service_charge_amount, tax_amount, exclusive_tax_amount, total_amount,
        amount_paid, payment_method, channel, recorded_by_id, recorded_by_name, entry_source,
        table_label, service_mode, store_id, occurred_at, created_at, updated_at)
    VALUES ($1, $2, $3, 'pending', '2 × Jollof rice', 'USD', 10, 0, 0, 0, 0, 10, 0, 'cash',
        'in_person', $2, 'Ada', 'api', 'T4', 'dine_in', $5, $4, $4, $4)
"""
_ITEM = """
    INSERT INTO order_items (book_id, id, order_id, position, line_type, product_name, quantity,
        unit_price, original_unit_price, subtotal_amount, discount_amount, tax_amount,
        total_price, modifiers)
    VALUES ($1, $2, $3, 0, 'product', 'Jollof rice', 2, 5, 5, 10, 0, 0, 10,
        '[{"name": "Extra pepper", "priceDelta": 0}]')
"""


async def book_of(services: Services, business: Business, environment: Environment) -> Book:
    """A book of the business."""
    async with services.pool.reading() as db:
        book_id = await db.fetchval(
            "SELECT id FROM books WHERE business_id = $1 AND environment = $2",
            UUID(business.id),
            environment,
        )
    return Book(book_id, environment)


def call_of(services: Services, db: Db, business: Business, book: Book) -> Call:
    """A call by a key that exists nowhere but here."""
    business_id = UUID(business.id)
    caller = KeyCaller(
        key_id=new_id(),
        business_id=business_id,
        book=book,
        app_id=new_id(),
        name="test key",
        scopes=frozenset(),
        allowed_origins=(),
        allowed_networks=(),
        withdrawal_policy=None,
    )
    return Call(
        db=db,
        services=services,
        now=now(),
        request_id="test",
        ip="127.0.0.1",
        business_id=business_id,
        book=book,
        caller=caller,
    )


class Kitchen:
    """The kitchen of one book, used as the room of orders uses it."""

    def __init__(self, services: Services, business: Business, book: Book) -> None:
        self.services = services
        self.business = business
        self.book = book

    @classmethod
    async def of(
        cls, services: Services, business: Business, environment: Environment = "test"
    ) -> "Kitchen":
        """The kitchen of a book of the business."""
        return cls(services, business, await book_of(services, business, environment))

    async def sale(self, **fields: Any) -> SaleFacts:
        """An order that was recorded."""
        facts: dict[str, Any] = {
            "order_id": new_id(),
            "short_code": short_code(),
            "customer_name": "Bola",
            "customer_phone": PHONE,
            "table_label": "T4",
            **fields,
        }
        sale = SaleFacts(**facts)
        async with self.services.pool.transaction() as db:
            where = (self.book.id, sale.order_id)
            await db.execute(_ORDER, *where, sale.short_code, now(), sale.store_id)
            await db.execute(_ITEM, self.book.id, new_id(), sale.order_id)
        return sale

    async def act(self, verb: Any, *args: Any, **named: Any) -> Any:
        """One of the room's actions, in a transaction of its own as a request has it."""
        async with self.services.pool.transaction() as db:
            return await verb(call_of(self.services, db, self.business, self.book), *args, **named)

    async def ticket(self, **fields: Any) -> tuple[SaleFacts, Ticket]:
        """An order in the kitchen."""
        sale = await self.sale(**fields)
        return sale, await self.act(actions.open_ticket, sale)

    async def events(self, event_type: str) -> list[dict[str, Any]]:
        """The data of every event of a type in this book, in their order."""
        async with self.services.pool.reading() as db:
            rows = await db.fetch(
                """
                SELECT payload::jsonb -> 'data' AS data FROM webhook_events
                WHERE book_id = $1 AND type = $2 ORDER BY id
                """,
                self.book.id,
                event_type,
            )
        return [json.loads(row["data"]) for row in rows]
