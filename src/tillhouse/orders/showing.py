"""Orders as callers see them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import OrderId
from tillhouse.orders.receipts.addresses import RECEIPTS, until
from tillhouse.orders.store import find_order, order_of
from tillhouse.orders.types import Order


async def show(call: Call, order_id: OrderId) -> Order:
    """One order."""
    row = existing(await find_order(call.db, call.book.id, order_id))
    return orders_of(call, [row])[0]


def orders_of(call: Call, rows: Sequence[Record]) -> list[Order]:
    """Orders of their rows."""
    return [
        order_of(row, _receipt_url(call, row["receipt_id"], row["receipt_made_at"])) for row in rows
    ]


def _receipt_url(call: Call, receipt_id: UUID | None, made_at: datetime | None) -> str | None:
    """The receipt's address of the week in which it was made; the same as long as it is good."""
    if receipt_id is None or made_at is None or until(made_at) <= call.now.timestamp():
        return None
    return RECEIPTS.url(call.services, receipt_id, made_at)
